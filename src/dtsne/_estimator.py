"""The estimator: everything put together behind scikit-learn's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from dtsne._accounting import AccountMixin
from dtsne._backend import backend_for
from dtsne._config import PAPER, SCALED, CalibrationPlan, Rule, check_parameters
from dtsne._embed import Given, fit
from dtsne.optimize._init import check_initialisation
from dtsne.runtime._digest import fingerprint
from dtsne.runtime._kinds import is_tensor, kind_of
from dtsne.runtime._logging import shown_messages
from dtsne.runtime._progress import shown_progress
from dtsne.runtime._threads import limited_threads, resolve_n_jobs

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from numpy.typing import ArrayLike

    from dtsne.runtime._typing import FloatArray

_MIN_POINTS = 4


class DTSNE(
    AccountMixin,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Density-preserving t-SNE: a map in which the size of a cluster means its spread.

    Parameters
    ----------
    n_components : {1, 2, 3}, default=2
        Dimension of the map.
    perplexity : float, default=100.0
        Effective number of neighbours of a point. The scale σ of a point is that of its nearest
        `perplexity` neighbours, so a cluster of fewer points than that is drawn too wide. Lowered,
        with a warning, where it is not below (n − 1) / 3.
    density_scale : float, default=1.0
        Exponent on σ in the kernel of the map: 1 keeps densities (dtSNE), 0 gives every
        neighbourhood the same size (t-SNE's kernel), values between do a part.
    calibration : {"auto", False}, default="auto"
        Correct the kernel's scales during the descent by the radii found in the map, five times.
        False for the plain objective of the paper. "auto" leaves it out where `density_scale` is
        0, and where `optimizer` is "paper".
    metric : str, default="euclidean"
        Distance in the data. "cosine" scales the rows to length 1 and takes Euclidean distances
        between them; "correlation" does so after taking from each row its mean. Others are
        "manhattan", "chebyshev", "canberra", "braycurtis" and "hamming", and between sets, which
        are the columns that are not 0, "jaccard", "dice", "sokalsneath" and "rogerstanimoto"; for
        these more than 20,000 points need ``pip install dtsne[metrics]``. "precomputed" takes X as
        a square matrix of distances; of a sparse one, the stored entries are the distances to
        neighbours, as for `neighbors`.
    neighbors : (indices, distances), sparse matrix of shape (n, n) or None, default=None
        Neighbours found beforehand, which are then not searched for: two arrays of shape (n, k), or
        a graph whose stored entries are distances (explicit zeros too), such as that of
        scikit-learn's ``kneighbors_graph(mode="distance")`` or scanpy's ``obsp["distances"]``. In
        any order, with the point itself or without, at least 3·perplexity others in each row; of
        more the nearest are taken. P is then one over neighbours for any number of points, and X
        serves only for the start, its components scaled to the given distances.
    n_pcs : int or None, default=50
        Number of principal components to reduce the data to beforehand; None for the data as it
        is. Sparse data is reduced by a truncated SVD. Only for Euclidean distances, which those of
        "cosine" and "correlation" are too: other metrics always take the data as it is.
    init : {"pca", "random", "spectral"} or array-like of shape (n, n_components), default="pca"
        Where the descent starts. "pca" is at the scale of the data: for distances that are not
        Euclidean, the components are scaled until those of neighbours are right. Where X is a
        graph, which has no coordinates, "pca" is "spectral". An array is taken as it is, in
        units of the map, of which one is the median of `sigma_`.
    optimizer : {"scaled", "paper"}, default="scaled"
        "scaled" moves each point in units of its own scale; "paper" is exactly the descent of the
        paper, which needs thousands of iterations where scales differ.
    method : {"auto", "exact", "fft"}, default="auto"
        How the repulsion is summed: "exact" over all pairs, O(n²), or "fft", O(n), to within
        `fft_tolerance`. "auto" is exact up to 5,000 points, on a GPU up to 10,000.
    fft_tolerance : float, default=0.01
        Relative error of the repulsive force (median over the points) that "fft" may make.
    learning_rate : float or "auto", default="auto"
        Step of the descent; n/2 for "scaled" and n/12 for "paper".
    early_exaggeration : float or "auto", default="auto"
        Factor on the attraction at the start, falling to 1 within 40 iterations; 1.5 for "scaled",
        or 4 from a random start, and 1 for "paper".
    max_iter : int, default=1000
        Most iterations of the descent.
    tol : float or "auto", default="auto"
        The descent ends once KL changes by less than this share of itself an iteration; "auto" is
        5e-4, or 1e-4 where `density_scale` is 0. 0 goes on to `max_iter`, as "paper" always does.
    device : {"cpu", "cuda", "auto"} or torch.device, default="cpu"
        Where to compute. "cuda" is a GPU, by PyTorch (``pip install "dtsne[gpu]"``), "cuda:1" the
        second one; "auto" is a GPU where there is one, or where X is, if that is a tensor. Tensors
        of PyTorch, CuPy or another library come in, and maps of the same kind go out, without a
        trip through the host.
    random_state : int, RandomState instance or None, default=None
        Seeds a "random" start. Nothing else is random.
    n_jobs : int or None, default=None
        Number of threads; None or -1 for all. It never changes the result.
    verbose : int, default=0
        1 shows, on standard error, an estimate of time and memory, and then what is done, KL as it
        falls, and about how much time is left: as a bar on a terminal or in a notebook, and
        elsewhere as a line every few seconds. 2 adds a line through `logging` for every 10
        iterations.
    callback : callable or None, default=None
        Called every 10 iterations with the iteration, KL and the map (not to be written to); a true
        result ends the fit.
    checkpoint : str, path or None, default=None
        File in which to keep the descent, every 30 seconds and at Ctrl-C. A fit of the same data
        with the same parameters goes on from it and comes to the map it would have come to: the
        same bits if the repulsion is exact, and one as good with "fft", whose grid is chosen anew.
        Neighbours and affinities are computed again. The file is removed after a successful fit.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        The map. One unit is `map_unit_` in the data.
    map_unit_ : float
        What one unit of the map is in the data: the median of `sigma_`.
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
        The scale of each point in the kernel of the map, after calibration, relative to the median.
    perplexity_ : float
        The perplexity used.
    neighbor_recall_ : float
        Share of the 3·perplexity nearest neighbours that were found: 1 up to 20,000 points, on a
        GPU up to 200,000; beyond, measured on a sample, the search being widened until it is .99.
        NaN, as it is not known, for neighbours that were given.
    timings_ : dict of str to float
        CPU seconds of the process by phase. "preparing", "neighbours", "affinities", "start" and
        "descent" add up to the whole; "attraction", "repulsion" and "calibration" are parts of
        "descent". On a device they are what the host takes to ask for the work.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names of columns, all strings.

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

    embedding_: Any

    # What the experiments in benchmarks/optimizer.py vary.
    _rules: ClassVar[dict[str, Rule]] = {"paper": PAPER, "scaled": SCALED}
    _calibration_plan: ClassVar[CalibrationPlan] = CalibrationPlan()
    # Seconds: little to lose, and little to write even for a million points (70 MB).
    _checkpoint_every: ClassVar[float] = 30.0

    def __init__(
        self,
        *,
        n_components: int = 2,
        perplexity: float = 100.0,
        density_scale: float = 1.0,
        calibration: Literal["auto", False] = "auto",
        metric: str = "euclidean",
        neighbors: Any = None,
        n_pcs: int | None = 50,
        init: Literal["pca", "random", "spectral"] | FloatArray = "pca",
        optimizer: Literal["scaled", "paper"] = "scaled",
        method: Literal["auto", "exact", "fft"] = "auto",
        fft_tolerance: float = 0.01,
        learning_rate: float | Literal["auto"] = "auto",
        early_exaggeration: float | Literal["auto"] = "auto",
        max_iter: int = 1000,
        tol: float | Literal["auto"] = "auto",
        device: Literal["cpu", "cuda", "auto"] | Any = "cpu",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[int, float, FloatArray], bool | None] | None = None,
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

    def fit(self, X: ArrayLike, y: None = None) -> DTSNE:  # noqa: ARG002
        """Map the data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The data: numpy, pandas, polars or scipy sparse, of any kind of number. Distances of
            shape (n, n), or a sparse graph of them, for ``metric="precomputed"``.
        y : None
            Ignored.

        Returns
        -------
        self : DTSNE
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: ArrayLike, y: None = None) -> FloatArray:  # noqa: ARG002
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
        check_parameters(self)
        n_threads = resolve_n_jobs(self.n_jobs)
        backend = backend_for(self.device, X)
        with (
            limited_threads(n_threads),
            shown_messages(self.verbose),
            shown_progress(self.verbose) as progress,
            backend.session(),
        ):
            with progress.phase("preparing"):
                # Everything that can be refused is refused before the long work.
                checked = self._check_data(X)
                kind = kind_of(X, checked)
                own_start = (
                    None
                    if isinstance(self.init, str)
                    else check_initialisation(self.init, checked.shape[0], self.n_components)
                )
                data = backend.prepare(checked, **self._preparation())
                given = Given(data, own_start, kind, fingerprint(checked))
            fit(self, given, backend, n_threads, progress)
        embedding: FloatArray = self.embedding_
        return embedding

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.positive_only = self.metric == "precomputed"
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_data(self, X: Any, *, reset: bool = True) -> Any:
        if is_tensor(X):
            from dtsne.data._points_torch import check_tensor

            tensor = check_tensor(X, _MIN_POINTS)
            return validate_data(self, tensor, skip_check_array=True, reset=reset)
        sparse = "csr" if self.metric == "precomputed" else ("csr", "csc")
        try:
            return validate_data(
                self,
                X,
                accept_sparse=sparse,
                dtype=[np.float64, np.float32],
                ensure_min_samples=_MIN_POINTS,
                reset=reset,
            )
        except ValueError as error:
            if "could not convert string" in str(error):
                raise ValueError(
                    f"X holds text ({error}); leave such columns out or encode them as numbers, "
                    "e.g. with sklearn.preprocessing.OneHotEncoder."
                ) from error
            raise

    def _preparation(self) -> dict[str, Any]:
        return {"metric": self.metric, "n_pcs": self.n_pcs, "neighbors": self.neighbors}
