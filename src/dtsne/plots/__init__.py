"""Pictures of maps, and of what their sizes mean in the data (``pip install "dtsne[plot]"``).

All are functions of arrays. They draw on the matplotlib axes that are passed in, or on those of a
new figure, and return them; ``ax.figure.savefig("map.png")`` writes the picture. They change
nothing global: no style, no backend, no figure of pyplot.

The embedding ``Y`` has shape (n, 2); everything else has one entry for each of its rows. What is
missing (NaN, None) is drawn grey beneath the rest, and listed as "missing".
"""

from dtsne.plots._density import iso_radius_glyphs, radius_map, radius_plot, residual_map
from dtsne.plots._palette import categorical_colors
from dtsne.plots._panels import side_by_side
from dtsne.plots._scale_bar import density_scale_bar, radius_unit
from dtsne.plots._scatter import scatter_map

__all__ = [
    "categorical_colors",
    "density_scale_bar",
    "iso_radius_glyphs",
    "radius_map",
    "radius_plot",
    "radius_unit",
    "residual_map",
    "scatter_map",
    "side_by_side",
]
