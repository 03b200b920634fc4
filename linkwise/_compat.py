"""The only file that touches scikit-learn's private names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import validate_data

__all__ = ["Interval", "InvalidParameterError", "StrOptions", "fit_context", "remember_features", "validate_data"]

if TYPE_CHECKING:
    F = TypeVar("F", bound=Callable[..., Any])

    def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[F], F]:
        """Validate parameters before `fit`, whose types stay as they are."""
else:
    fit_context = _fit_context


def remember_features(estimator: Any, X: Any) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_`` from data that was validated already."""
    validate_data(estimator, X, reset=True, skip_check_array=True)
