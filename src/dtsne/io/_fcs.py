"""Flow cytometry files (.fcs), by flowio."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from dtsne.io._columns import MatrixColumns
from dtsne.io._errors import TableError, reading
from dtsne.io._files import check_room
from dtsne.io._names import unique
from dtsne.runtime._logging import warn
from dtsne.runtime._optional import optional

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne.io._options import ReadOptions

_KIND = "an FCS file"
# Of a value in the file, at its smallest: itself, as an object or as float64, and again in X.
_BYTES_PER_BYTE = 12


def read_fcs(path: Path, options: ReadOptions) -> MatrixColumns:  # noqa: ARG001
    """Read the events, in the linear scale that the file defines, not compensated.

    A channel is called by its marker ($PnS) where it has one, else by its detector ($PnN). Time is
    not taken as a measurement.
    """
    flowio = optional("flowio", extra="fcs", purpose="reading FCS files")
    check_room(path, _BYTES_PER_BYTE * path.stat().st_size)
    with reading(path, _KIND), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        file = _parsed(flowio, path)
        X = file.as_array(preprocess=True)
    for warning in caught:
        warn(f"{path}: {warning.message}")
    if len(X) != file.event_count:
        raise TableError(
            f"{path} is damaged: it announces {file.event_count:,} events and holds {len(X):,}; "
            "export it again."
        )
    names = unique(
        (marker or detector).strip() or f"channel_{i + 1}"
        for i, (detector, marker) in enumerate(zip(file.pnn_labels, file.pns_labels, strict=True))
    )
    times = frozenset() if file.time_index is None else frozenset({names[file.time_index]})
    return MatrixColumns(path, path.name, X, names, set_aside=times)


def _parsed(flowio: Any, path: Path) -> Any:
    errors = flowio.exceptions
    try:
        return _flow_data(flowio, path)
    except errors.DataOffsetDiscrepancyError:
        # Frequent, and harmless where the number of events comes out as announced.
        return _flow_data(flowio, path, ignore_offset_discrepancy=True)
    except errors.MultipleDataSetsError:
        raise TableError(
            f"{path} holds several data sets; write each to a file of its own "
            "(flowio.read_multiple_data_sets)."
        ) from None


def _flow_data(flowio: Any, path: Path, **options: bool) -> Any:
    # Opened here, as flowio does not close what it cannot read. An end that is off by one is so
    # frequent that flowio has an option for it; it warns.
    with path.open("rb") as file:
        return flowio.FlowData(file, ignore_offset_error=True, **options)
