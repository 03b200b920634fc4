"""The only file that touches scikit-learn's private names."""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import validate_data

__all__ = ["Interval", "InvalidParameterError", "StrOptions", "remember_features", "validate_data"]


def remember_features(estimator: Any, X: Any) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_`` from data that was validated already."""
    validate_data(estimator, X, reset=True, skip_check_array=True)
