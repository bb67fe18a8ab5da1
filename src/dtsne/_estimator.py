"""The estimator: `embed` behind the interface of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dtsne._config import PARAMETERS, Config
from dtsne._embed import embed
from dtsne._embedding import Embedding, FitInterrupted, Result
from dtsne.runtime._errors import DataError, setting
from dtsne.runtime._parameters import documented

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike
    from typing import Unpack

    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    from dtsne._config import Callback, NeighborGraph, RandomState
    from dtsne.labels._groups import Groups, Labels
    from dtsne.page import Page
    from dtsne.page._columns import Column
    from dtsne.report import Report
    from dtsne.report._build import ReportSettings
    from dtsne.runtime._typing import Device, FloatArray, MatrixLike


class DTSNE(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    __doc__ = f"""Density-preserving t-SNE: a map in which the size of a cluster means its spread.

    Parameters
    ----------
    {documented(PARAMETERS)}

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        The map. One unit is `kernel_unit_` in the data.
    kernel_unit_ : float
        What one unit of the map, a kernel scale of 1, is in the data: the median of `sigma_`; for
        ``optimizer="paper"`` their minimum.
    kl_divergence_ : float
        KL(P‖Q) of the map, for its final kernel scales.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether KL had settled within `tol` at the end.
    n_calibrations_ : int
        Rounds of calibration made.
    history_ : ndarray of shape (n_checks, 2)
        Iteration and KL, every 10 iterations. Each round of calibration changes the objective.
    sigma_ : ndarray of shape (n,)
        The scale of each point in the data: large where it is sparse.
    kernel_scale_ : ndarray of shape (n,)
        The scale of each point in the kernel of the map, after calibration, relative to
        `kernel_unit_`.
    perplexity_ : float
        The perplexity used.
    neighbor_recall_ : float
        Share of the 3 · perplexity nearest neighbours that were found: 1 up to 20,000 points, on a
        GPU up to 200,000; beyond, measured on a sample, the search being widened until it is 0.99.
        NaN for precomputed neighbours, of which it is not known.
    timings_ : dict of str to float
        CPU seconds of the process by phase. "preparing", "neighbours", "affinities", "start" and
        "descent" add up to the whole; "attraction", "repulsion" and "calibration" are parts of
        "descent". On a device they are what the host takes to ask for the work.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names of columns, all strings.

    See Also
    --------
    dtsne.embed : The same as a function of data and a `Config`.

    Notes
    -----
    An interrupted `fit` (Ctrl-C) raises, but leaves the best map so far in the attributes. These
    are tensors where X is one, of the same library and on the same device.

    References
    ----------
    Fischer, Burkholz, Vreeken: Preserving local densities in low-dimensional embeddings (2023).

    Examples
    --------
    >>> from dtsne import DTSNE
    >>> from dtsne.datasets import load
    >>> X, labels, _ = load("G3-d")
    >>> DTSNE().fit_transform(X).shape
    (900, 2)
    """

    embedding_: FloatArray

    def __init__(
        self,
        *,
        n_components: int = 2,
        perplexity: float = 100.0,
        density_scale: float = 1.0,
        calibration: Literal["auto", False] = "auto",
        metric: str = "euclidean",
        neighbors: NeighborGraph | None = None,
        n_pcs: int | None = 50,
        init: Literal["pca", "random", "spectral"] | ArrayLike = "pca",
        optimizer: Literal["scaled", "paper"] = "scaled",
        method: Literal["auto", "exact", "fft"] = "auto",
        fft_tolerance: float = 0.01,
        learning_rate: float | Literal["auto"] = "auto",
        early_exaggeration: float | Literal["auto"] = "auto",
        max_iter: int = 1000,
        tol: float | Literal["auto"] = "auto",
        device: Device = "cpu",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.density_scale = density_scale
        self.calibration = calibration
        self.metric = metric
        self.neighbors = neighbors
        self.n_pcs = n_pcs
        self.init = init
        self.optimizer = optimizer
        self.method = method
        self.fft_tolerance = fft_tolerance
        self.learning_rate = learning_rate
        self.early_exaggeration = early_exaggeration
        self.max_iter = max_iter
        self.tol = tol
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.checkpoint = checkpoint

    def fit(self, X: MatrixLike, y: None = None) -> DTSNE:  # noqa: ARG002
        """Map the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The data: numpy, pandas, polars, scipy sparse or a tensor, of any kind of number. If
            ``metric="precomputed"``: a distance matrix of shape (n, n) or a sparse neighbour graph.
        y : None
            Ignored.

        Returns
        -------
        self : DTSNE
        """
        try:
            embedding = embed(X, self.config, callback=self.callback, checkpoint=self.checkpoint)
        except FitInterrupted as interrupt:
            self._keep(X, interrupt.embedding)
            raise
        self._keep(X, embedding)
        return self

    def fit_transform(self, X: MatrixLike, y: None = None) -> FloatArray:  # noqa: ARG002
        """Map the data and return the map.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            See :meth:`fit`.
        y : None
            Ignored.

        Returns
        -------
        embedding : ndarray of shape (n, n_components)
        """
        return self.fit(X).embedding_

    def report(
        self,
        labels: Labels | Groups | None = None,
        *,
        X: MatrixLike | None = None,
        k: int | None = None,
        **settings: Unpack[ReportSettings],
    ) -> Report:
        """Report how faithful the map is: for each point, for each labelled group, and as a whole.

        Parameters
        ----------
        labels : array-like of shape (n,), optional
            Groups to compare; points whose label is missing are in no group.
        X : array-like or sparse matrix of shape (n, d), optional
            The data of the fit. Only needed by a model that was copied or loaded from a file.
        k : int, optional
            Number of neighbours within the local radius of a point; the perplexity by default.
        **settings
            `k_neighborhood`, `max_rows`, `n_bootstrap` and `random_state`; see
            :func:`dtsne.report.report_of`.

        Returns
        -------
        Report
            Print it, or use its tables.
        """
        from dtsne.report import report_of_embedding

        check_is_fitted(self, "embedding_")
        if X is not None:
            validate_data(self, X, skip_check_array=True, reset=False)
        return report_of_embedding(
            self._embedding, labels, X=X, k=k, device=self.device, n_jobs=self.n_jobs, **settings
        )

    def explore(
        self,
        labels: Labels | None = None,
        *,
        X: MatrixLike | None = None,
        columns: Mapping[str, Column] | None = None,
        ids: ArrayLike | None = None,
        others: Mapping[str, ArrayLike] | None = None,
        title: str = "Map",
        report: Report | Mapping[str, Report] | None = None,
    ) -> Page:
        """Make an interactive page of the map and its report.

        Parameters
        ----------
        labels, X
            See :meth:`report`.
        columns, ids, others, title
            See :func:`dtsne.page.explore_embedding`.
        report : Report or mapping of str to Report, optional
            The result of :meth:`report`, if there is one already; or reports by map name, this map
            being "dtSNE" ("t-SNE" if ``density_scale`` is 0).

        Returns
        -------
        Page
            A notebook shows it; ``page.save("map.html")`` writes one file that opens offline.
        """
        from dtsne.page import explore_embedding

        check_is_fitted(self, "embedding_")
        if report is None:
            report = self.report(labels, X=X)
        elif labels is not None or X is not None:
            raise DataError(
                "a report has its data and labels already",
                f"pass either {setting('report')}, or {setting('X')} and {setting('labels')}",
                argument="report",
            )
        return explore_embedding(
            self._embedding, report, columns=columns, ids=ids, others=others, title=title
        )

    @property
    def config(self) -> Config:
        """The parameters as :func:`dtsne.embed` takes them, checked."""
        parameters = self.get_params(deep=False)
        return Config(**{k: v for k, v in parameters.items() if k not in _ARGUMENTS})

    def _keep(self, X: MatrixLike, embedding: Embedding) -> None:
        """Set the attributes."""
        validate_data(self, X, skip_check_array=True)  # n_features_in_, feature_names_in_
        self._embedding = embedding
        self.embedding_: FloatArray = embedding.coordinates
        self.kernel_scale_: FloatArray = embedding.kernel_scales.values
        self.kernel_unit_: float = embedding.kernel_scales.unit
        self.kl_divergence_: float = embedding.kl_divergence
        self.n_iter_: int = embedding.n_iter
        self.converged_: bool = embedding.result is Result.CONVERGED
        self.n_calibrations_: int = embedding.n_calibrations
        self.history_: FloatArray = embedding.history
        self.sigma_: FloatArray = embedding.sigma
        self.perplexity_: float = embedding.perplexity
        self.neighbor_recall_: float = embedding.neighbor_recall
        self.timings_: dict[str, float] = embedding.timings

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.positive_only = self.metric == "precomputed"
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


# Parameters that are arguments of `embed`, and not part of its Config.
_ARGUMENTS = ("callback", "checkpoint")
