"""How EMBEDDING is read."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from dtsne.cli._options import Options, completing, separated
from dtsne.cli._text_options import TEXT_HELP, check_format, check_text
from dtsne.io._files import MAPS
from dtsne.io._options import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dtsne.cli._maps import MapFile

# name, type, what follows the name on the command line, and help.
_OPTIONS: tuple[tuple[str, Any, str, str], ...] = (
    (
        "columns",
        list[str] | None,
        "NAMES",
        "Columns of the coordinates, such as umap_1,umap_2; found by default.",
    ),
    (
        "id",
        str | None,
        "COLUMN",
        "Column that names the points; by default one called id, cell, barcode or index.",
    ),
    ("key", str | None, "NAME", "npz: the array; h5ad: the entry of obsm, such as X_umap."),
    (
        "format",
        str | None,
        "FORMAT",
        f"What the file is, if its suffix does not say: {', '.join(MAPS)}.",
    ),
    ("header", bool | None, "", TEXT_HELP["header"]),
    ("delimiter", str | None, "CHARACTER", TEXT_HELP["delimiter"]),
    ("decimal", str | None, "CHARACTER", TEXT_HELP["decimal"]),
)


@dataclass(frozen=True)
class MapOptions(Options):
    """The parameters of `read_embedding`."""

    prefix: ClassVar[str] = ""
    panel: ClassVar[str | None] = None

    columns: tuple[str, ...] | None = None
    id: str | None = None
    key: str | None = None
    format: str | None = None
    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """See :class:`Options`."""
        return [cls._parameter(*option) for option in _OPTIONS]

    @classmethod
    def _parameter(cls, name: str, kind: Any, metavar: str, text: str) -> Parameter:
        flag = f"--{cls.prefix}{name}"
        more: dict[str, Any] = {"help": text, "rich_help_panel": cls.panel}
        if kind == bool | None:
            flag = f"{flag}/--no-{cls.prefix}{name}"
        else:
            more["metavar"] = metavar
        if name == "format":
            more["autocompletion"] = completing(MAPS)
        annotation = Annotated[kind, typer.Option(flag, **more)]
        # Beside the options of INPUT, some of which have the same names.
        return Parameter(f"map_{name}", Parameter.KEYWORD_ONLY, default=None, annotation=annotation)

    @classmethod
    def of(cls, **values: Any) -> MapOptions:
        """See :class:`Options`."""
        given = {name.removeprefix("map_"): value for name, value in values.items()}
        return cls(**{**given, "columns": separated(given["columns"])})

    @classmethod
    def flags(cls) -> Mapping[str, str]:
        """Return what the parameters of `read_embedding` are called on the command line."""
        names = (name for name, *_ in _OPTIONS)
        return {"id_column" if n == "id" else n: f"--{cls.prefix}{n}" for n in names}

    def check(self) -> None:
        """Refuse what cannot be meant."""
        check_format(self.format, MAPS, f"--{self.prefix}format")
        check_text(self.delimiter, self.decimal, self.flags())

    def read(self, path: Path, likely_id: str | None = None) -> MapFile:
        """Read the map; errors name these options."""
        from dtsne.cli._errors import user_errors
        from dtsne.cli._maps import read_map

        with user_errors(path, flags=self.flags()):
            options = ReadOptions(
                format=self.format,
                columns=self.columns,
                id_column=self.id,
                key=self.key,
                header=self.header,
                delimiter=self.delimiter,
                decimal=self.decimal,
            )
            return read_map(path, options, likely_id)
