"""How a file is read: the options of the readers, from which the command line makes its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypedDict

from dtsne.io._files import MAPS, READ
from dtsne.runtime._errors import ParameterError, ParameterTypeError
from dtsne.runtime._parameters import Parameter, documented

if TYPE_CHECKING:
    from collections.abc import Sequence

_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}
# What divides no cells, and what is part of a number.
_NOT_DELIMITERS, _NOT_DECIMALS = '"\r\n', '"\r\n \t0123456789+-eE'


class ReadKeywords(TypedDict, total=False):
    """The fields of :class:`ReadOptions` as keyword arguments."""

    label_column: str | None
    id_column: str | None
    columns: Sequence[str] | None
    exclude: Sequence[str]
    format: str | None
    layer: str | None
    use_rep: str | None
    key: str | None
    transpose: bool | None
    header: bool | None
    delimiter: str | None
    decimal: str | None


@dataclass(frozen=True)
class ReadOptions:
    """How :func:`read_table` and :func:`read_embedding` read a file."""

    label_column: str | None = None
    id_column: str | None = None
    columns: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    format: str | None = None
    layer: str | None = None
    use_rep: str | None = None
    key: str | None = None
    transpose: bool | None = None
    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        """Validate what can be validated without the file."""
        exclude = () if self.exclude is None else self.exclude
        object.__setattr__(self, "exclude", _names("exclude", exclude))
        if self.columns is not None:
            object.__setattr__(self, "columns", _names("columns", self.columns))
        if self.delimiter is not None:
            delimiter = _DELIMITERS.get(self.delimiter, self.delimiter)
            object.__setattr__(self, "delimiter", delimiter)
        _check_character("delimiter", self.delimiter, _NOT_DELIMITERS, "';'")
        _check_character("decimal", self.decimal, _NOT_DECIMALS, "','")
        if self.format is not None and self.format not in READ:
            raise ParameterError("format", self.format, f"one of {', '.join(READ)}")

    @property
    def named(self) -> set[str]:
        """The columns of IDs and labels."""
        return {name for name in (self.id_column, self.label_column) if name is not None}


def _names(option: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return names as a tuple; a single text is one name."""
    found = (names,) if isinstance(names, str) else tuple(names)
    if not all(isinstance(name, str) for name in found):
        raise ParameterTypeError(option, names, "names of columns, as text")
    return found


def _check_character(name: str, value: str | None, rejected: str, example: str) -> None:
    if value is not None and not (len(value) == 1 and value.isascii() and value not in rejected):
        raise ParameterError(name, value, f"one ASCII character, such as {example}")


def _option(
    name: str, flag: str, metavar: str, doc: str, kind: type = str, default: object = None
) -> Parameter:
    types = {str: "str", bool: "bool", tuple: "str or sequence of str"}
    return Parameter(
        name, types[kind], default, doc, "Input", flag, kind=kind, optional=True, metavar=metavar
    )


def _format(known: tuple[str, ...], more: str = "") -> Parameter:
    doc = f"File format, if the suffix does not tell it: {', '.join(known)}.{more}"
    return replace(_option("format", "--format", "FORMAT", doc), choices=known)


# fmt: off
_OPTIONS = (
    _option("label_column", "--label", "COLUMN",
            "Column of groups, to colour and to compare by; of an h5ad, a column of ``obs``."),
    _option("id_column", "--id", "COLUMN",
            "Column of the row IDs; by default those that the format has a place for. These are "
            "the index of a pandas frame, ``obs_names``, barcodes, the first column of a csv if it "
            "has no name, and the array ``id`` or ``ids`` of an npz."),
    _option("columns", "--columns", "NAME,…",
            "Columns to map, names or patterns such as 'PC_*'; by default all that hold numbers.",
            tuple),
    _option("exclude", "--exclude", "NAME,…",
            "Columns not to map, names or patterns; they are carried along.", tuple, ()),
    _format(READ, " Files of csv, tsv and mtx may be compressed (``.gz``)."),
    _option("layer", "--layer", "NAME", "h5ad: a layer to read instead of X."),
    _option("use_rep", "--use-rep", "NAME",
            "h5ad: an entry of ``obsm``, such as X_pca, to read instead of X."),
    _option("key", "--key", "NAME",
            "npz: the array to read; by default X, or the only one of two dimensions."),
    _option("transpose", "--transpose", "",
            "mtx: whether the points are the columns of the file. By default the lengths of "
            "``barcodes.tsv`` and ``features.tsv`` next to it decide; without these files, points "
            "are rows.", bool),
    _option("header", "--header", "",
            "csv, tsv: whether the first line holds names; by default detected.", bool),
    _option("delimiter", "--delimiter", "CHARACTER",
            "csv, tsv: the character between cells, such as ';' or tab."),
    _option("decimal", "--decimal", "CHARACTER", "csv, tsv: the decimal point, such as ','."),
)
_MAP_OPTIONS = (
    _option("columns", "--columns", "NAME,…",
            "Columns of the coordinates, such as umap_1,umap_2; by default detected.", tuple),
    _option("id_column", "--id", "COLUMN",
            "Column of the point IDs; by default one called id, cell, barcode or index."),
    _option("key", "--key", "NAME",
            "npz: the array; h5ad: the entry of ``obsm``, such as X_umap."),
    _format(MAPS),
    *_OPTIONS[-3:],  # of text
)
# fmt: on
READ_OPTIONS: dict[str, Parameter] = {option.name: option for option in _OPTIONS}
MAP_OPTIONS: dict[str, Parameter] = {option.name: option for option in _MAP_OPTIONS}

ReadOptions.__doc__ = f"""{ReadOptions.__doc__}

    Parameters
    ----------
    {documented(READ_OPTIONS)}
    """
