"""What a fitted model says of its map: the account, and the interactive page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from dtsne._arrays import to_host
from dtsne._backend import backend_for
from dtsne._metrics import METRICS
from dtsne._threads import limited_threads, resolve_n_jobs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dtsne._data import Data
    from dtsne.account import Account
    from dtsne.page import Page

_MAP_NAME = "dtSNE"


class AccountMixin:
    """`report` and `explore`, for an estimator that keeps the data of its fit in `_data`."""

    _data: Data | None = None

    def report(
        self,
        X: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        *,
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
        X : array-like or sparse matrix of shape (n, d), optional
            The data that the model was fitted on. Only needed by a model that was copied or loaded
            from a file, as these leave the data behind.
        labels : array-like of shape (n,), optional
            Groups whose spreads are compared.
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
        from dtsne.account._build import account_from
        from dtsne.account._sources import source_of

        model: Any = self
        data = self._data_of_fit(X)
        of_metric = model._prepared_with["metric"] not in METRICS
        map_ = to_host(model.embedding_).astype(float)
        with limited_threads(resolve_n_jobs(model.n_jobs)):
            return account_from(
                source_of(data, map_, of_metric=of_metric),
                labels=labels,
                k=round(model.perplexity_) if k is None else k,
                k_neighborhood=k_neighborhood,
                sigma=to_host(model.sigma_),
                perplexity=model.perplexity_,
                max_rows=max_rows,
                random_state=random_state,
                n_bootstrap=n_bootstrap,
            )

    def explore(
        self,
        X: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        *,
        columns: Mapping[str, ArrayLike] | None = None,
        ids: ArrayLike | None = None,
        others: Mapping[str, ArrayLike] | None = None,
        title: str = "Map",
        account: Account | Mapping[str, Account] | None = None,
    ) -> Page:
        """Make an interactive page of the map and its account.

        Parameters
        ----------
        X, labels
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
            names of the maps, this one being "dtSNE". The page shows that of the map it shows, or
            says which map it is of.

        Returns
        -------
        Page
            A notebook shows it; ``page.save("map.html")`` writes one file that opens offline.
        """
        check_is_fitted(self, "embedding_")
        from dtsne._explore import explorable

        model: Any = self
        if model.embedding_.shape[1] != 2:
            raise ValueError(
                f"The page shows maps of 2 dimensions, and this one has "
                f"{model.embedding_.shape[1]}; fit with n_components=2."
            )
        if account is None:
            account = self.report(X, labels)
        elif labels is not None or X is not None:
            raise ValueError(
                "An account has its data and labels already; give either account, or X and labels."
            )
        maps = {_MAP_NAME: to_host(model.embedding_), **(others or {})}
        accounts = account if isinstance(account, Mapping) else {_MAP_NAME: account}
        return explorable(maps, accounts, columns=columns, ids=ids, title=title)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the data of the fit behind: a file with the model need not hold all of it."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_data"}

    def _data_of_fit(self, X: ArrayLike | None) -> Data:
        model: Any = self
        if X is not None:
            # As it was when the model was fitted, whatever its parameters are set to by now.
            checked = model._check_data(X, reset=False)
            backend = backend_for(model.device, X)
            data: Data = backend.prepare(checked, **model._prepared_with)
            if len(data) != len(model.embedding_):
                raise ValueError(
                    f"X has {len(data)} rows and the map has {len(model.embedding_)}; give the "
                    "data that the model was fitted on."
                )
        elif self._data is not None:
            data = self._data
        else:
            raise ValueError(
                "This model was copied or loaded, and has no data with it; give that which it was "
                "fitted on: report(X)."
            )
        return data
