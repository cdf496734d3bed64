"""Values to JSON and back, by their types: dataclasses, times, tuples, plain values."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from functools import cache, partial
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from holdfast.errors import Invalid

T = TypeVar("T")
PLAIN = frozenset((str, int, float, bool, type(None)))


def dump(value: Any) -> Any:
    """A value as plain JSON data; a field that is None is left out, unless it must be given."""
    kind: Any = type(value)
    if kind in PLAIN:
        return value
    if kind is dict:
        return {key: item if type(item) in PLAIN else dump(item) for key, item in value.items()}
    fields = _fields(kind)
    if fields is not None:
        told = _told(value, fields)
        return {name: it if type(it) in PLAIN else dump(it) for name, it in told.items()}
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return {key: dump(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [dump(item) for item in value]
    return value


def outer(value: Any) -> Any:
    """A value as plain JSON data, but what is inside a dataclass is left as it is."""
    kind: Any = type(value)
    fields = _fields(kind)
    return dump(value) if fields is None else _told(value, fields)


def _told(value: Any, fields: tuple[tuple[str, bool], ...]) -> dict[str, Any]:
    return {
        name: item for name, must in fields if (item := getattr(value, name)) is not None or must
    }


@cache
def _fields(kind: Any) -> tuple[tuple[str, bool], ...] | None:
    """The names of a dataclass, each with whether it must be given; None for another type."""
    if not dataclasses.is_dataclass(kind):
        return None
    return tuple((field.name, _must(field)) for field in dataclasses.fields(kind))


def _must(field: dataclasses.Field[Any]) -> bool:
    no = dataclasses.MISSING
    return field.default is no and field.default_factory is no


def dumps(value: Any) -> str:
    """A value as one line of JSON."""
    return _ENCODER.encode(dump(value))


def load(kind: type[T], data: Any, name: str | None = None) -> T:
    """A value of a type out of plain JSON data; `Invalid` says where it does not fit."""
    at = getattr(kind, "__name__", "value") if name is None else name
    return _load(kind, data, at)  # type: ignore[no-any-return]


def loads(kind: type[T], line: str) -> T:
    """A value of a type out of a line of JSON."""
    return load(kind, parse(line))


def parse(line: str) -> Any:
    """The plain data of a line of JSON."""
    try:
        return _DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise Invalid(f"This is not JSON: {error}.") from None
    except RecursionError:
        raise Invalid("This JSON is nested too deep.") from None
    except ValueError:  # Python's, which speaks of Python
        raise Invalid("A number in this JSON has too many digits.") from None


def _no_constant(name: str) -> Any:
    raise Invalid(f"This is not JSON: it has no word such as {name}.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Invalid(f"{twice[:200]} is given twice.", "Give it once: one of them would be lost.")
    return found


# Made once: that takes as long as to use them.
_DECODER = json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=_object)
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


Loader = Callable[[Any, str], Any]


def _load(kind: Any, data: Any, at: str) -> Any:
    return _loader(kind)(data, at)


@cache
def _loader(kind: Any) -> Loader:
    """What loads values of a type: looked up once, for it is asked for with every call."""
    if kind is Any:
        return lambda data, at: data
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _union(get_args(kind))
    if dataclasses.is_dataclass(kind):
        return partial(_load_dataclass, kind)
    if origin is tuple:
        return partial(_load_tuple, get_args(kind)[0])
    if origin is not None and issubclass(origin, Mapping):
        return _load_mapping
    return _LOADERS.get(kind) or partial(_load_exactly, kind)


def _load_tuple(kind: Any, data: Any, at: str) -> Any:
    _expect(isinstance(data, list), "a list", at)
    loader = _loader(kind)
    return tuple(loader(item, f"{at}[{i}]") for i, item in enumerate(data))


def _load_mapping(data: Any, at: str) -> Any:
    _expect(isinstance(data, dict), "an object", at)
    return data


def _load_exactly(kind: Any, data: Any, at: str) -> Any:
    if type(data) is not kind:
        what = {str: "text", int: "a whole number"}.get(kind, kind.__name__)
        raise Invalid(f"{at} must be {what}.")
    return data


def _is_number(data: Any) -> bool:
    return isinstance(data, int | float) and not isinstance(data, bool)


def _load_span(data: Any, at: str) -> timedelta:
    _expect(_is_number(data), "a number of seconds", at)
    return _fitting(lambda: timedelta(seconds=data), at)


def _load_float(data: Any, at: str) -> float:
    _expect(_is_number(data), "a number", at)
    return _fitting(lambda: float(data), at)


def _fitting(made: Callable[[], T], at: str) -> T:
    try:
        return made()
    except (OverflowError, ValueError):
        raise Invalid(f"{at} is too large.") from None


def moment(data: Any, at: str = "time") -> datetime:
    """A time out of ISO 8601 text."""
    _expect(isinstance(data, str), "a time such as 2026-05-03T09:30:00Z", at)
    text = data[:-1] + "+00:00" if data[-1:] in ("Z", "z") else data
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(f"{at}: {data!r} is not a time.", "Write 2026-05-03T09:30:00Z.") from None


_LOADERS: dict[Any, Loader] = {datetime: moment, timedelta: _load_span, float: _load_float}


def _union(kinds: tuple[Any, ...]) -> Loader:
    maybe = type(None) in kinds
    *first, last = (_loader(kind) for kind in kinds if kind is not type(None))

    def load(data: Any, at: str) -> Any:
        if data is None and maybe:
            return None
        for loader in first:
            try:
                return loader(data, at)
            except Invalid:
                continue
        return last(data, at)

    return load


@cache
def _parts(kind: Any) -> dict[str, Loader]:
    """The fields of a dataclass, each with what loads it."""
    hints = get_type_hints(kind)
    return {field.name: _loader(hints[field.name]) for field in dataclasses.fields(kind)}


def _load_dataclass(kind: Any, data: Any, at: str) -> Any:
    _expect(isinstance(data, dict), "an object", at)
    parts = _parts(kind)
    if not parts.keys() >= data.keys():
        unknown = ", ".join(sorted(data.keys() - parts.keys()))
        raise Invalid(f"{at} must be only known fields ({unknown} is not).")
    values = {name: parts[name](item, f"{at}.{name}") for name, item in data.items()}
    try:
        return kind(**values)
    except TypeError as error:
        lacks = [name for name, must in _fields(kind) or () if must and name not in data]
        said = f"{at} needs {' and '.join(lacks)}." if lacks else f"{at}: {error}."
        raise Invalid(said) from None


def _expect(holds: bool, what: str, at: str) -> None:
    if not holds:
        raise Invalid(f"{at} must be {what}.")
