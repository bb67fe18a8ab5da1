"""Flow cytometry files (.fcs), by flowio."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from dtsne.io._errors import TableError, reading
from dtsne.io._files import check_room
from dtsne.io._table import Source, unique
from dtsne.runtime._logging import warn
from dtsne.runtime._optional import optional

if TYPE_CHECKING:
    from pathlib import Path

    import flowio

    from dtsne.io._options import ReadOptions

# Of a value in the file, at its smallest: itself, as an object or as float64, and again in X.
_BYTES_PER_BYTE = 12


def read_fcs(path: Path, options: ReadOptions) -> Source:  # noqa: ARG001
    """Read the events, in the linear scale that the file defines, not compensated.

    A channel is called by its marker ($PnS) where it has one, else by its detector ($PnN). Time is
    not taken as a measurement.
    """
    optional("flowio", extra="fcs", purpose="reading FCS files")
    check_room(_BYTES_PER_BYTE * path.stat().st_size)
    with reading("an FCS file"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        file = _parsed(path)
        X = file.as_array(preprocess=True)
    for warning in caught:
        warn(f"{path}: {warning.message}")
    if len(X) != file.event_count:
        sizes = f"it declares {file.event_count:,} events and holds {len(X):,}"
        raise TableError(f"the file is corrupt: {sizes}", "export it again")
    names = unique(
        (marker or detector).strip() or f"channel_{i + 1}"
        for i, (detector, marker) in enumerate(zip(file.pnn_labels, file.pns_labels, strict=True))
    )
    times = frozenset(() if file.time_index is None else (names[file.time_index],))
    return Source(path, path.name, names, X, set_aside=times)


def _parsed(path: Path, **options: bool) -> flowio.FlowData:
    import flowio

    try:
        # Opened here, as flowio does not close what it cannot read. An end that is off by one is so
        # frequent that flowio has an option for it; it warns.
        with path.open("rb") as file:
            return flowio.FlowData(file, ignore_offset_error=True, **options)
    except flowio.exceptions.DataOffsetDiscrepancyError:
        # Frequent, and harmless where the number of events comes out as declared.
        return _parsed(path, ignore_offset_discrepancy=True)
    except flowio.exceptions.MultipleDataSetsError:
        reason, fix = "the file holds several data sets", "write each to its own file"
        raise TableError(reason, fix, in_python="flowio.read_multiple_data_sets") from None
