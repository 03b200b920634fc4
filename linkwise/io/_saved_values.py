"""Conversion of values to JSON and plain arrays and back; only the types listed here are supported."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from linkwise.constraints import (
    Constraints,
    Groups,
    Labels,
    MaxCentroidDistance,
    MinSeparation,
    NeighborWithin,
    SizeBetween,
)
from linkwise.engines import ConstrainedEstimator, Kept, gather, require_sound
from linkwise.exceptions import LinkwiseError
from linkwise.io._prepare import Preparation, Table
from linkwise.io._saved_checks import check_constraints, check_labels, check_random_state, check_record
from linkwise.result import Certificate, Dendrogram

RECORDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Certificate,
        MaxCentroidDistance,
        MinSeparation,
        NeighborWithin,
        Preparation,
        SizeBetween,
        Table,
    )
}
_DEEPEST = 40
# fields that older files lack; their defaults say what was the case then
_LATER = {"Preparation": {"decimal", "missing"}, "Table": {"missing", "beside", "lines"}, "Certificate": {"remarks"}}


def engine(name: Any) -> type[ConstrainedEstimator] | None:
    """Return the estimator of that name, if there is one."""
    from linkwise import engines

    kind = getattr(engines, name) if name in dir(engines) else None
    is_one = isinstance(kind, type) and issubclass(kind, ConstrainedEstimator) and name != "ConstrainedClusterer"
    return kind if is_one else None


def is_model(value: Any) -> bool:
    """Whether a value can be saved as a model."""
    name = type(value).__name__
    return name == "Clustering" or engine(name) is not None


def _record_type(name: Any, own: dict[str, Any]) -> Any:
    """Return the dataclass or named tuple of that name if a model may hold it; ``own`` are those of the estimator."""
    if name == "Clustering":  # loads all methods
        from linkwise.selection import Clustering

        return Clustering
    return own.get(name) or RECORDS.get(name)


def _records_of(declared: dict[str, Kept]) -> dict[str, Any]:
    """Return the record types that fitted attributes hold, by name."""
    return {record.__name__: record for kept in declared.values() for record in kept.records}


def _fields(record: Any) -> list[str]:
    """Names of the fields of a dataclass or a named tuple."""
    return [f.name for f in dataclasses.fields(record)] if dataclasses.is_dataclass(record) else list(record._fields)


class Writer:
    """Turns values into JSON; ``store`` takes an array and returns its number."""

    def __init__(self, store: Callable[[Any], int]) -> None:
        self._store = store
        self._own: dict[str, Any] = {}

    def write(self, value: Any, where: str) -> Any:
        """Write one value; ``where`` names it in messages."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            listed = [self.write(one, f"{where}[{i}]") for i, one in enumerate(value)]
            return {"list" if isinstance(value, list) else "tuple": listed}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"dict": [[key, self.write(one, f"{where}[{key!r}]")] for key, one in value.items()]}
        if scipy.sparse.issparse(value):
            return self._sparse(value.tocsr(), where)
        return self._record(value, where)

    def _array(self, value: Any, where: str) -> Any:
        if value.dtype.kind in "biufU":
            axes = sorted(range(value.ndim), key=lambda axis: -value.strides[axis])
            if axes != list(range(value.ndim)) and value.transpose(axes).flags.c_contiguous:
                # where values lie decides in which order they are summed: the last digit of an answer hangs on it
                return {"turned": [self._store(value.transpose(axes)), axes]}
            return {"array": self._store(value)}
        if value.dtype.kind == "O" and value.ndim == 1:
            return {"objects": [self.write(one, f"{where}[{i}]") for i, one in enumerate(value.tolist())]}
        msg = (
            f"save: {where} holds {value.dtype} values, which cannot be saved.\nHint: convert them to text or numbers."
        )
        raise LinkwiseError(msg)

    def _sparse(self, value: Any, where: str) -> Any:
        parts = {part: self._array(getattr(value, part), where) for part in ("data", "indices", "indptr")}
        return {"csr": {"shape": list(value.shape), "matrix": isinstance(value, scipy.sparse.spmatrix), **parts}}

    def _record(self, value: Any, where: str) -> Any:
        name = type(value).__name__
        if isinstance(value, Constraints):
            fields = {
                key: getattr(value, key) for key in ("n_samples", "kind", "items", "weight", "row", "rules", "ids")
            }
            fields |= value.groups._asdict()
            if len(value.labels.sample):
                fields |= {f"labels_{key}": part for key, part in value.labels._asdict().items()}
            return self._named("Constraints", fields, where)
        if isinstance(value, Dendrogram):
            keys = ("n_samples", "parent", "raw_height", "marked", "ids", *(("joins",) if len(value.joins) else ()))
            return self._named("Dendrogram", {key: getattr(value, key) for key in keys}, where)
        if _record_type(name, self._own) is type(value):
            return self._named(name, {field: getattr(value, field) for field in _fields(value)}, where)
        if engine(name) is type(value):
            return self._estimator(name, value)
        if isinstance(value, np.random.RandomState):
            return self._named("RandomState", {"state": value.get_state(legacy=True)}, where)
        what = "a function" if callable(value) else f"a {type(value).__name__}"
        hint = "use a name or a number instead, such as metric='cosine' or random_state=0."
        attribute = where.rpartition(".")[2].partition("[")[0]
        if attribute.startswith("_") or attribute.endswith("_"):
            hint = "this is a bug in linkwise, please report it; until then joblib.dump(model, path) saves it."
        msg = f"save: {where} is {what}, which cannot be saved without running code when it is loaded.\nHint: {hint}"
        raise LinkwiseError(msg)

    def _named(self, name: str, fields: dict[str, Any], where: str) -> Any:
        return {"is": name, "fields": {key: self.write(one, f"{where}.{key}") for key, one in fields.items()}}

    def _estimator(self, name: str, value: Any) -> Any:
        if not hasattr(value, "constraints_"):
            msg = f"save: this {name} is not fitted yet.\nHint: call fit(X, constraints=...) first."
            raise LinkwiseError(msg)
        given = value.get_params(deep=False)
        declared = gather(type(value), "_saved")
        if unknown := sorted(set(vars(value)) - set(given) - set(declared)):
            msg = (
                f"save: {name}.{unknown[0]} is not a parameter and is not declared in `_saved` of {name}.\n"
                f"Hint: remove it with `del model.{unknown[0]}`, or declare it in the class."
            )
            raise LinkwiseError(msg)
        fitted = {key: vars(value)[key] for key in sorted(declared) if declared[key].saved and key in vars(value)}
        self._own = _records_of(declared)
        return {
            "is": name,
            "params": {key: self.write(given[key], f"{name}.{key}") for key in sorted(given)},
            "fitted": {key: self.write(one, f"{name}.{key}") for key, one in fitted.items()},
        }


class Reader:
    """Turns JSON back into values; ``fetch`` returns the array of a number."""

    def __init__(self, fetch: Callable[[int], Any]) -> None:
        self._fetch = fetch
        self._own: dict[str, Any] = {}

    def read(self, node: Any, depth: int = 0) -> Any:
        """Read one value; anything but what `Writer` writes is a `ValueError`."""
        if depth > _DEEPEST:
            msg = "it is nested too deeply"
            raise ValueError(msg)
        if not isinstance(node, dict):
            if isinstance(node, list) or (isinstance(node, float) and not math.isfinite(node)):
                msg = f"a value is {type(node).__name__}"
                raise ValueError(msg)
            return node
        if "is" in node:
            return self._record(node, depth)
        ((tag, inside),) = node.items()
        return self._tagged(tag, inside, depth)

    def _tagged(self, tag: str, inside: Any, depth: int) -> Any:
        if tag == "float" and inside in ("nan", "inf", "-inf"):
            return float(inside)
        if tag == "array" and type(inside) is int:
            return self._fetch(inside)
        if tag == "turned":
            number, axes = inside
            return self._fetch(number).transpose(np.argsort(axes))
        if tag in ("list", "tuple", "objects") and isinstance(inside, list):
            listed = [self.read(one, depth + 1) for one in inside]
            if tag == "objects":
                made = np.empty(len(listed), dtype=object)
                made[:] = listed
                return made
            return listed if tag == "list" else tuple(listed)
        if tag == "dict" and isinstance(inside, list):
            return {str(key): self.read(one, depth + 1) for key, one in inside}
        if tag == "csr" and isinstance(inside, dict):
            parts = tuple(self.read(inside[part], depth + 1) for part in ("data", "indices", "indptr"))
            kind = scipy.sparse.csr_matrix if inside["matrix"] else scipy.sparse.csr_array
            made = kind(parts, shape=tuple(inside["shape"]))
            made.check_format(full_check=True)
            return made
        msg = f"the kind of value {str(tag)[:40]!r} is unknown"
        raise ValueError(msg)

    def _record(self, node: dict[str, Any], depth: int) -> Any:
        name = node["is"]
        if (kind := engine(name)) is not None:
            return self._estimator(kind, node, depth)
        fields = {str(key): self.read(one, depth + 1) for key, one in node["fields"].items()}
        if name == "Constraints":
            return self._constraints(fields)
        if name == "Dendrogram":
            return Dendrogram(
                fields["n_samples"],
                fields["parent"],
                fields["raw_height"],
                marked=fields["marked"],
                ids=fields["ids"],
                joins=fields.get("joins"),
            )
        if name == "RandomState":
            check_random_state(fields["state"])
            state = np.random.RandomState()
            state.set_state(fields["state"])
            return state
        record = _record_type(name, self._own)
        if record is None:
            msg = f"{str(name)[:40]!r} is not a method or value that a model may hold"
            raise ValueError(msg)
        known = set(_fields(record))
        if not known - _LATER.get(str(name), set()) <= set(fields) <= known:
            msg = f"{name} lacks a field or has an extra one"
            raise ValueError(msg)
        made = record(**fields)
        check_record(made)
        return made

    def _constraints(self, fields: dict[str, Any]) -> Constraints:
        groups = Groups(*(fields.pop(key) for key in Groups._fields))
        if "labels_sample" in fields:  # tables that follow from no labels have none
            fields["labels"] = Labels(*(fields.pop(f"labels_{key}") for key in Labels._fields))
            check_labels(fields["labels"], fields["n_samples"], len(fields["kind"]))
        made = Constraints(**fields, groups=groups)
        check_constraints(made)
        return made

    def _estimator(self, kind: type[ConstrainedEstimator], node: dict[str, Any], depth: int) -> Any:
        name = kind.__name__
        params = {str(key): self.read(one, depth + 1) for key, one in node["params"].items()}
        params = gather(kind, "_added_parameters") | params
        if set(params) != set(kind._get_param_names()):
            odd = min(set(params) ^ set(kind._get_param_names()))
            msg = f"{name} has no parameter {odd[:40]!r}, or it is missing"
            raise ValueError(msg)
        made: Any = kind(**params)
        made._validate_params()
        declared = gather(kind, "_saved")
        self._own = _records_of(declared)
        for key, one in node["fitted"].items():
            if key not in declared or not declared[key].saved:
                msg = f"{name} does not declare an attribute {key[:40]!r}"
                raise ValueError(msg)
            setattr(made, key, self.read(one, depth + 1))
        require_sound(made)
        return made
