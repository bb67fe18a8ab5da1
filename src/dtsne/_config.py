"""What a fit is asked to do: the table of parameters, and a frozen, validated `Config`.

Validation, the docstring of :class:`dtsne.DTSNE`, the options of the command line and the reference
page all come from `PARAMETERS`. Nothing heavy is imported here, as help should not wait for numpy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import TYPE_CHECKING, Literal, TypeAlias

from dtsne.runtime._errors import ParameterError, setting
from dtsne.runtime._parameters import Parameter

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import ArrayLike

    from dtsne.runtime._typing import Device, FloatArray, SparseMatrix

    NeighborGraph: TypeAlias = tuple[ArrayLike, ArrayLike] | SparseMatrix
    Callback: TypeAlias = Callable[[int, float, FloatArray], bool | None]
    RandomState: TypeAlias = int | np.random.RandomState | None

# Distances between rows brought to length 1 are Euclidean: these have principal components.
EUCLIDEAN_METRICS = ("euclidean", "cosine", "correlation")
# What scikit-learn and pynndescent both know by this name, mean the same by and need no parameter
# for. Left out are other names and powers of the Euclidean distance, haversine, which is for two
# columns only, and yule and russellrao, by which unequal rows can be at 0, or equal ones not.
OTHER_METRICS = (
    "manhattan", "chebyshev",  # of differences: they know no origin, and grow with the data
    "canberra", "braycurtis", "hamming",  # of values
    "jaccard", "dice", "sokalsneath", "rogerstanimoto",  # of sets
)  # fmt: skip
NEIGHBORS_PER_PERPLEXITY = 3  # fewer would inflate σ, and σ is what sizes mean here


@dataclass(frozen=True)
class Rule:
    """How a gradient becomes a step."""

    step_share: float  # the step, as a share of n
    early_momentum: float
    momentum: float
    n_early: int
    scaled: bool  # steps in units of each point's kernel scale, and none too long
    gains: bool
    settles: bool  # may end before max_iter; the paper's rests long on its first plateau
    exaggeration: float


PAPER = Rule(1 / 12, 0.5, 0.8, 20, scaled=False, gains=False, settles=False, exaggeration=1.0)
SCALED = Rule(1 / 2, 0.5, 0.9, 20, scaled=True, gains=True, settles=True, exaggeration=1.5)
RULES = {"scaled": SCALED, "paper": PAPER}


@dataclass(frozen=True)
class CalibrationPlan:
    """When and how strongly to calibrate; docs/optimiser.md compares the values."""

    n_rounds: int = 5
    # Calibration starts once KL falls by less than this share of itself an iteration: the map has
    # its shape by then, and still moves enough to follow.
    start_below: float = 4e-3
    strength: float = 0.5
    # A slope larger than 1 by less than this is left for the calibration to bring down to 1.
    slope_tolerance: float = 0.1
    # Scales stay within this factor of σ's own: unbounded, the update runs away for some points.
    bound: float = 2.0
    # The mismatch is averaged over a point and this many of its neighbours in the data.
    n_smoothing: int = 5
    # Radii are those of neighbourhoods of these shares of the perplexity. The smaller one raises
    # the correlation of neighbour distances (ρ_knn), the larger is what a reader sees as density.
    shares_of_perplexity: tuple[float, ...] = (0.3, 1.0)


def _is_array_like(value: object) -> bool:
    return not isinstance(value, str) and value is not None


def _is_device(value: object) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"cpu|auto|cuda(:\d+)?", value) is not None
    return type(value).__module__.partition(".")[0] == "torch"


def _is_random_state(value: object) -> bool:
    return type(value).__name__ == "RandomState"


_TABLE = (
    Parameter(
        "n_components", "{1, 2, 3}", 2,
        "Dimension of the map.",
        group="Method", flag="--n-components", kind=int, minimum=1, maximum=3,
    ),
    Parameter(
        "perplexity", "float", 100.0,
        "Effective number of neighbours of a point. A larger value gives smoother densities and "
        "takes longer; a cluster of fewer points than the perplexity is drawn too wide. Clipped, "
        "with a warning, where it is not below (n − 1) / 3.",
        group="Method", flag="--perplexity", kind=float, above=1,
    ),
    Parameter(
        "density_scale", "float", 1.0,
        "Exponent on σ in the kernel of the map: 1 keeps densities (dtSNE), 0 gives every "
        "neighbourhood the same size (the kernel of t-SNE), values between interpolate.",
        group="Method", flag="--density-scale", kind=float, minimum=0,
    ),
    Parameter(
        "calibration", '{"auto", False}', "auto",
        "Correct the kernel scales during the descent by the radii found in the map, five times. "
        "False is the plain objective of the paper. \"auto\" skips calibration where "
        "`density_scale` is 0 or `optimizer` is \"paper\".",
        group="Method", flag="--calibration", choices=("auto", False),
    ),
    Parameter(
        "metric", "str", "euclidean",
        "Distance in the data. \"cosine\" is the Euclidean distance between rows scaled to length "
        "1; \"correlation\" subtracts the mean of each row first. Others are \"manhattan\", "
        "\"chebyshev\", \"canberra\", \"braycurtis\" and \"hamming\", and between sets, which are "
        "the columns that are not 0, \"jaccard\", \"dice\", \"sokalsneath\" and "
        "\"rogerstanimoto\"; for these, more than 20,000 points need "
        "``pip install dtsne[metrics]``. \"precomputed\" takes X as a square distance matrix, or "
        "as a sparse neighbour graph like `neighbors`.",
        group="Input", flag="--metric",
        choices=(*EUCLIDEAN_METRICS, *OTHER_METRICS, "precomputed"),
    ),
    Parameter(
        "neighbors", "(indices, distances), sparse matrix of shape (n, n) or None", None,
        "Precomputed neighbours, in place of a search: two arrays of shape (n, k), or a graph "
        "whose stored entries are distances (explicit zeros too), such as that of scikit-learn's "
        "``kneighbors_graph(mode=\"distance\")`` or scanpy's ``obsp[\"distances\"]``. Each row "
        "must have at least 3 · perplexity neighbours other than the point itself, in any order; "
        "of more, the nearest are taken. P is then sparse for any number of points, and X serves "
        "only for the initialisation.",
        group="Input", optional=True,
    ),
    Parameter(
        "n_pcs", "int or None", 50,
        "Number of principal components to which the data is reduced first; "
        f"{setting('n_pcs', None)} uses the data as it is. Sparse data is reduced by a truncated "
        "SVD. Only for Euclidean distances, which those of \"cosine\" and \"correlation\" "
        "are too: other metrics use the data as it is.",
        group="Input", flag="--n-pcs", kind=int, minimum=1, optional=True,
    ),
    Parameter(
        "init", '{"pca", "random", "spectral"} or array-like of shape (n, n_components)', "pca",
        "Initialisation of the map. \"pca\" is at the scale of the data: for distances that are "
        "not Euclidean, the components are scaled to the distances between neighbours. Where X is "
        "a graph, which has no coordinates, \"pca\" is \"spectral\". An array is used as it is, in "
        "units of the map.",
        group="Optimisation", flag="--init", choices=("pca", "random", "spectral"),
        others="an array of shape (n, n_components)", accepts=_is_array_like,
    ),
    Parameter(
        "optimizer", '{"scaled", "paper"}', "scaled",
        "Rule of the descent: \"scaled\" moves each point in units of its own scale; \"paper\" is "
        "exactly the descent of the paper, which needs thousands of iterations where scales "
        "differ.",
        group="Optimisation", flag="--optimizer", choices=("scaled", "paper"),
    ),
    Parameter(
        "method", '{"auto", "exact", "fft"}', "auto",
        "Summation of the repulsion: \"exact\" over all pairs, O(n²), or \"fft\", O(n), to within "
        f"{setting('fft_tolerance')}. \"auto\" is exact up to 5,000 points, on a GPU up to 10,000.",
        group="Optimisation", flag="--method", choices=("auto", "exact", "fft"),
    ),
    Parameter(
        "fft_tolerance", "float", 0.01,
        "Largest relative error of the repulsive force (median over the points) of \"fft\".",
        group="Optimisation", flag="--fft-tolerance", kind=float, above=0, maximum=0.1,
    ),
    Parameter(
        "learning_rate", 'float or "auto"', "auto",
        "Step of the descent. \"auto\" is n/2 for \"scaled\" and n/12 for \"paper\".",
        group="Optimisation", flag="--learning-rate", kind=float, choices=("auto",), above=0,
    ),
    Parameter(
        "early_exaggeration", 'float or "auto"', "auto",
        "Factor on the attraction at the beginning, which falls to 1 within 40 iterations. "
        "\"auto\" is 1.5 for \"scaled\", 4 after a random initialisation, and 1 for \"paper\".",
        group="Optimisation", flag="--early-exaggeration", kind=float, choices=("auto",),
        minimum=1,
    ),
    Parameter(
        "max_iter", "int", 1000,
        "Largest number of iterations of the descent.",
        group="Optimisation", flag="--max-iter", kind=int, minimum=1,
    ),
    Parameter(
        "tol", 'float or "auto"', "auto",
        "Relative change of KL per iteration at which the descent ends. \"auto\" is 5e-4, or 1e-4 "
        "where `density_scale` is 0. With 0 the descent runs `max_iter` iterations, as \"paper\" "
        "always does.",
        group="Optimisation", flag="--tol", kind=float, choices=("auto",), minimum=0,
    ),
    Parameter(
        "device", '{"cpu", "cuda", "auto"} or torch.device', "cpu",
        "Where to compute. \"cuda\" is a GPU, by PyTorch (``pip install \"dtsne[gpu]\"``), "
        "\"cuda:1\" the second one; \"auto\" is a GPU where there is one, or where X is, if that "
        "is a tensor. Tensors of PyTorch, CuPy or another library come in, and maps of the same "
        "kind go out, without a copy on the host.",
        group="Running", flag="--device", choices=("cpu", "cuda", "auto"),
        others="'cuda:1' (the second GPU), or a torch.device", accepts=_is_device,
    ),
    Parameter(
        "random_state", "int, RandomState instance or None", None,
        "Seed of a \"random\" initialisation. Nothing else is random.",
        group="Running", flag="--random-state", kind=int, optional=True,
        others="a numpy.random.RandomState", accepts=_is_random_state,
    ),
    Parameter(
        "n_jobs", "int or None", None,
        "Number of threads, by default all; -1 is all, too. It never changes the result.",
        group="Running", flag="--n-jobs", kind=int, optional=True,
    ),
    Parameter(
        "verbose", "int", 0,
        "Amount of progress to show. 1 shows, on standard error, an estimate of time and memory, "
        "then the phase, KL and the time left: as a bar on a terminal or in a notebook, elsewhere "
        "as a line every few seconds. 2 adds a line through `logging` for every 10 iterations.",
        group="Running", kind=int, minimum=0,
    ),
    Parameter(
        "callback", "callable or None", None,
        "Function called every 10 iterations with the iteration, KL and the map (read-only); a "
        "true result ends the fit.",
        group="Running", optional=True,
        others="a function of (iteration, kl, embedding)", accepts=callable,
    ),
    Parameter(
        "checkpoint", "str, path or None", None,
        "File in which the descent is saved, every 30 seconds and at Ctrl-C. A fit of the same "
        "data with the same parameters resumes from it and ends in the map it would have ended "
        "in: the same bits if the repulsion is exact, and one as good with \"fft\", whose grid is "
        "rebuilt. Neighbours and affinities are computed again. The file is removed after a "
        "successful fit.",
        group="Running", flag="--checkpoint", optional=True,
        others="the path of a file", accepts=lambda value: isinstance(value, str | PathLike),
    ),
)  # fmt: skip
PARAMETERS = {parameter.name: parameter for parameter in _TABLE}


@dataclass(frozen=True, kw_only=True, eq=False)
class Config:
    """What a fit is asked to do, checked when it is made.

    The first fields are the parameters of :class:`dtsne.DTSNE`. The others are those that
    experiments vary: ``dataclasses.replace(config, max_dense=0)``.

    Attributes
    ----------
    rule : Rule or None
        How a gradient becomes a step; None for the rule that `optimizer` names.
    calibration_plan : CalibrationPlan
    checkpoint_every : float
        Seconds between two checkpoints: little to lose, and little to write even for a million
        points (70 MB).
    max_dense : int
        Up to this many points P is dense, as the paper defines it. Beyond, P is over the nearest
        neighbours, which changes σ by a few percent (docs/optimiser.md) and needs 20 times less
        memory.
    max_exact : int or None
        Up to this many points `method` "auto" is exact; None for what suits the device.
    max_exact_neighbors : int or None
        Up to this many points all distances are computed; beyond, the search is approximate. None
        for what suits the device.
    neighbor_recall : float
        Share of the neighbours that an approximate search must find.
    is_paper : bool
        Whether the descent is that of the paper.
    uses_calibration : bool
        Whether the kernel scales are corrected during the descent.
    resolved_rule : Rule
        `rule`, or the one that `optimizer` names.
    """

    n_components: int = 2
    perplexity: float = 100.0
    density_scale: float = 1.0
    calibration: Literal["auto", False] = "auto"
    metric: str = "euclidean"
    neighbors: NeighborGraph | None = None
    n_pcs: int | None = 50
    init: Literal["pca", "random", "spectral"] | ArrayLike = "pca"
    optimizer: Literal["scaled", "paper"] = "scaled"
    method: Literal["auto", "exact", "fft"] = "auto"
    fft_tolerance: float = 0.01
    learning_rate: float | Literal["auto"] = "auto"
    early_exaggeration: float | Literal["auto"] = "auto"
    max_iter: int = 1000
    tol: float | Literal["auto"] = "auto"
    device: Device = "cpu"
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: int = 0
    rule: Rule | None = None
    calibration_plan: CalibrationPlan = CalibrationPlan()
    checkpoint_every: float = 30.0
    max_dense: int = 10_000
    max_exact: int | None = None
    max_exact_neighbors: int | None = None
    neighbor_recall: float = 0.99
    is_paper: bool = field(init=False, repr=False)
    uses_calibration: bool = field(init=False, repr=False)
    resolved_rule: Rule = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for known in fields(self):
            if known.name in PARAMETERS:
                PARAMETERS[known.name].check(getattr(self, known.name))
        if self.n_jobs == 0:
            raise ParameterError("n_jobs", 0, "a positive number of threads, or -1 for all")
        if self.neighbors is not None and self.metric == "precomputed":
            raise ParameterError(
                "neighbors", self.neighbors,
                reason=f"{setting('neighbors')} cannot be combined with "
                f"{setting('metric', 'precomputed')}, where X is the distances already",
                fix="remove one of the two",
            )  # fmt: skip
        is_paper = self.optimizer == "paper"
        calibrates = self.calibration == "auto" and self.density_scale > 0 and not is_paper
        object.__setattr__(self, "is_paper", is_paper)
        object.__setattr__(self, "uses_calibration", calibrates)
        object.__setattr__(self, "resolved_rule", self.rule or RULES[self.optimizer])
