"""What a fitted model says of its map: the account, and the interactive page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted, validate_data

from dtsne._cost import needed_neighbors
from dtsne._embed import check_data
from dtsne.data._prepare import prepare
from dtsne.runtime._arrays import to_host
from dtsne.runtime._devices import device_for, working_on
from dtsne.runtime._digest import fingerprint, same_data
from dtsne.runtime._threads import open_threads

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dtsne._embedding import FitArtifacts
    from dtsne.data._base import Data
    from dtsne.labels._groups import Groups
    from dtsne.page import Page
    from dtsne.report import Account
    from dtsne.runtime._typing import MatrixLike


def is_tsne(model: Any) -> bool:
    """Whether the map of a fitted model is t-SNE's, with one kernel for all points."""
    return bool(model._embedding.is_tsne)


def map_name(model: Any) -> str:
    """Return what the map of a fitted model is called."""
    return "t-SNE" if is_tsne(model) else "dtSNE"


class AccountMixin:
    """`report` and `explore`, for an estimator that keeps what they need in `_kept`."""

    def report(
        self,
        labels: ArrayLike | Groups | None = None,
        *,
        X: MatrixLike | None = None,
        k: int | None = None,
        k_neighborhood: int = 15,
        max_rows: int = 5_000,
        n_bootstrap: int = 1000,
        random_state: int = 0,
    ) -> Account:
        """Say how faithful the map is: each point, each labelled group, and the whole.

        The map is compared with the data as the method saw it, after the reduction to `n_pcs`
        principal components.

        Parameters
        ----------
        labels : array-like of shape (n,), optional
            Groups whose spreads are compared; points whose label is missing are in none.
        X : array-like or sparse matrix of shape (n, d), optional
            The data that the model was fitted on. Only needed by a model that was copied or loaded
            from a file, as these leave the data behind.
        k : int, optional
            The radius of a point is the distance to its k-th nearest neighbour; by default the
            perplexity, which is what the map was made to keep.
        k_neighborhood, max_rows, n_bootstrap, random_state
            As for :func:`dtsne.account.account_of`.

        Returns
        -------
        Account
            Print it; or take its tables, by `to_pandas`, `to_polars`, `to_json`, `to_markdown`.
        """
        check_is_fitted(self, "embedding_")
        from dtsne.report._build import Asked, account_from
        from dtsne.report._points import Known
        from dtsne.report._sources import source_of

        model: Any = self
        kept: FitArtifacts = model._embedding.artifacts
        reach = round(model.perplexity_) if k is None else k
        asked = Asked(labels, reach, k_neighborhood, max_rows, random_state, n_bootstrap)
        known = Known(
            # t-SNE's map does not keep radii, and so has no unit of the data.
            sigma=None if is_tsne(model) else to_host(model.sigma_),
            unit=None if is_tsne(model) else model.kernel_unit_,
            at_bound=kept.at_floor,
            perplexity=model.perplexity_,
        )
        with open_threads(model.n_jobs) as threads:
            data = self._data_of_fit(X)
            source = source_of(
                data,
                to_host(model.embedding_).astype(float),
                lists=kept.lists if data is kept.data else None,
                n_searched=needed_neighbors(model.perplexity_, len(data)),
            )
            return account_from(source, asked, known, threads)

    def explore(
        self,
        labels: ArrayLike | None = None,
        *,
        X: MatrixLike | None = None,
        columns: Mapping[str, ArrayLike] | None = None,
        ids: ArrayLike | None = None,
        others: Mapping[str, ArrayLike] | None = None,
        title: str = "Map",
        account: Account | Mapping[str, Account] | None = None,
    ) -> Page:
        """Make an interactive page of the map and its account.

        Parameters
        ----------
        labels, X
            As for :meth:`report`.
        columns : mapping of str to array-like of shape (n,), optional
            What else is known of the points, to show, colour, filter and search by.
        ids : array-like of shape (n,), optional
            What tells the points apart; the number of the row by default.
        others : mapping of str to array-like of shape (n, 2), optional
            Other maps of the same points, by name, such as t-SNE's (``density_scale=0``): the page
            has a slider from one to the other.
        title : str
        account : Account or mapping of str to Account, optional
            What :meth:`report` gave, if it was called already; with accounts of others, by the
            names of the maps, this one being "dtSNE" ("t-SNE" where ``density_scale`` is 0). The
            page shows that of the map it shows, or says which map it is of.

        Returns
        -------
        Page
            A notebook shows it; ``page.save("map.html")`` writes one file that opens offline.
        """
        check_is_fitted(self, "embedding_")
        from dtsne.page._from_report import explorable

        model: Any = self
        if model.embedding_.shape[1] != 2:
            raise ValueError(
                f"The page shows maps of 2 dimensions, and this one has "
                f"{model.embedding_.shape[1]}; fit with n_components=2."
            )
        if account is None:
            account = self.report(labels, X=X)
        elif labels is not None or X is not None:
            raise ValueError(
                "An account has its data and labels already; give either account, or X and labels."
            )
        name = map_name(model)
        if name in (others or {}):
            raise ValueError(f"others has a map called {name!r}, as this one is; rename it.")
        maps = {name: model.embedding_, **(others or {})}
        accounts = account if isinstance(account, Mapping) else {name: account}
        return explorable(maps, accounts, columns=columns, ids=ids, title=title)

    def _data_of_fit(self, X: MatrixLike | None) -> Data:
        model: Any = self
        kept: FitArtifacts = model._embedding.artifacts
        if X is not None:
            return self._prepared_again(X)
        if kept.data is not None:
            return kept.data
        raise ValueError(
            "This model was copied or loaded, and has no data with it; give that which it was "
            "fitted on: report(X=…)."
        )

    def _prepared_again(self, X: MatrixLike) -> Data:
        """Prepare the data as for the fit, whatever the parameters are set to by now."""
        model: Any = self
        kept: FitArtifacts = model._embedding.artifacts
        checked = check_data(X, kept.preparation.metric)
        validate_data(model, X, skip_check_array=True, reset=False)
        if checked.shape[0] != len(model.embedding_):
            raise ValueError(
                f"X has {checked.shape[0]} rows and the map has {len(model.embedding_)}; give the "
                "data that the model was fitted on."
            )
        if not same_data(fingerprint(checked), kept.fingerprint):
            raise ValueError(
                "X is not the data that the model was fitted on: its values, or the order of its "
                "rows or columns, are others."
            )
        device = device_for(model.device, X=X)
        with working_on(device):
            return prepare(checked, **kept.preparation._asdict(), device=device)
