"""INPUT and EMBEDDING: the options with which files are read, and transforms of the data."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import click

from dtsne.cli._errors import face_of, usage_errors, user_errors
from dtsne.cli._options import Options, option, options_from
from dtsne.io._options import MAP_OPTIONS, READ_OPTIONS, ReadOptions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dtsne.cli._maps import MapFile
    from dtsne.cli._options import Option
    from dtsne.labels._groups import Groups
    from dtsne.runtime._errors import Face
    from dtsne.runtime._parameters import Parameter
    from dtsne.tables import Table

_LOGGER = logging.getLogger(__name__)

_PCA = "X_pca"


@dataclass(frozen=True)
class FileOptions(Options):
    """The options of a file, from a table; flags begin with a prefix."""

    panel = "Input"
    table: ClassVar[Mapping[str, Parameter]]
    prefix: ClassVar[str] = ""

    file: ReadOptions

    @classmethod
    def face(cls) -> Face:
        """Return how these options are written."""
        return face_of(cls.table, prefix=cls.prefix)

    @classmethod
    def options(cls) -> list[Option]:
        """See :class:`Options`."""
        table = options_from(cls.table.values(), cls.panel, prefix=cls.prefix)
        return [*table, *super().options()]

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """See :class:`Options`."""
        names = {f"{cls.prefix.replace('-', '_')}{name}": name for name in cls.table}
        others = {name: value for name, value in values.items() if name not in names}
        with usage_errors(cls.face()):
            file = ReadOptions(**{name: values[typed] for typed, name in names.items()})
        return cls(file, **others)


@dataclass(frozen=True)
class InputOptions(FileOptions):
    """The options of `read_table`, and transforms."""

    table = READ_OPTIONS

    log1p: bool = option("--log1p", "Map log(1 + x), for counts.", default=False)
    arcsinh: float | None = option(
        "--arcsinh",
        "Map arcsinh(x / COFACTOR): 5 for mass cytometry, 150 for fluorescence.",
        type=float,
        metavar="COFACTOR",
    )

    def __post_init__(self) -> None:
        if self.log1p and self.arcsinh is not None:
            raise click.UsageError("--log1p and --arcsinh cannot be combined; remove one of them")
        if self.arcsinh is not None and not 0 < self.arcsinh < math.inf:
            raise click.UsageError(f"--arcsinh {self.arcsinh:g} must be a number above 0")
        if self.label is not None and self.file.id_column == self.label:
            raise click.UsageError(
                f"--id and --label both name {self.label!r}; an ID names one row, a label a group "
                "of rows: remove one of them"
            )

    @property
    def label(self) -> str | None:
        """The column of groups."""
        return self.file.label_column

    def read(self, path: Path) -> Table:
        """Read the file and transform its numbers."""
        from dtsne import tables
        from dtsne.cli._numbers import check_rows

        with user_errors():
            table = tables.read_table(path, self.file)
            _LOGGER.info(table.source)
            self._mention_principal_components(path)
            if self.log1p:
                table = replace(table, X=tables.log1p(table.X))
            if self.arcsinh is not None:
                table = replace(table, X=tables.arcsinh(table.X, self.arcsinh))
            check_rows(table, path)
            return table

    def groups(self, table: Table, path: Path) -> Groups | None:
        """Return the labels of a table as groups."""
        from dtsne.cli._labels import as_groups

        categories = None if self.label is None else table.categories.get(self.label)
        return as_groups(table.labels, self.label, path, categories=categories)

    def is_anndata(self, path: Path) -> bool:
        """Return whether the input is an AnnData file."""
        return (self.file.format or path.suffix.lower().removeprefix(".")) == "h5ad"

    @property
    def transform_parameters(self) -> dict[str, object]:
        """The options that change the numbers, for the record."""
        chosen = {
            "layer": self.file.layer,
            "use_rep": self.file.use_rep,
            "log1p": self.log1p or None,
            "arcsinh": self.arcsinh,
        }
        return {name: value for name, value in chosen.items() if value is not None}

    def _mention_principal_components(self, path: Path) -> None:
        """Log that X was read where the file has principal components, too."""
        if self.file.layer or self.file.use_rep or not self.is_anndata(path):
            return
        from dtsne.io._anndata import opened

        with opened(path) as file:
            if _PCA in file.get("obsm", ()):
                _LOGGER.info("read X; the file also has %s: --use-rep %s --n-pcs none", _PCA, _PCA)


@dataclass(frozen=True)
class MapOptions(FileOptions):
    """The options of `read_embedding`."""

    table = MAP_OPTIONS

    def read(self, path: Path, likely_id: str | None = None) -> MapFile:
        """Read the map; errors name these options."""
        from dtsne.cli._maps import read_map

        with user_errors(self.face()):
            return read_map(path, self.file, likely_id)


@dataclass(frozen=True)
class SecondMapOptions(MapOptions):
    """The options of EMBEDDING next to those of INPUT, and how the two are matched."""

    panel = "Embedding"
    prefix = "map-"

    by_order: bool = option("--by-order", "Match rows by their order, not by IDs.", default=False)
