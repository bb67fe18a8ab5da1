"""Fits with settings of `Config` that the estimator does not have."""

from __future__ import annotations

from typing import Any

from dtsne import DTSNE, Config, embed

ARGUMENTS = ("callback", "checkpoint")


def fitted(X: Any, **settings: Any) -> DTSNE:
    """Return a fitted estimator, from settings of `Config` and arguments of `embed`."""
    arguments = {name: settings.pop(name) for name in ARGUMENTS if name in settings}
    model = DTSNE()
    known = {name: value for name, value in settings.items() if name in model.get_params()}
    model.set_params(**known, **arguments)
    model._keep(X, embed(X, Config(**settings), **arguments))
    return model
