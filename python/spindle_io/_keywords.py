# SPDX-License-Identifier: MIT
"""Options of xsort(1), xjoin(1), xgroup(1) and mmap-cube(1) as keyword arguments."""

from __future__ import annotations

import difflib
import operator
import os
from collections.abc import Sequence
from typing import Any, TypedDict, Union

from ._lib import options

Strings = Union[str, Sequence[str]]
Columns = Union[str, int, Sequence[Union[str, int]]]


class FileKeywords(TypedDict, total=False):
    """Keyword arguments that sorts, joins and groups share; None and False: not given."""

    csv: bool | None
    separator: str | None  #: -t
    zero_terminated: bool | None
    memory: str | int | None  #: a size as -S takes it, or bytes
    temporary_directory: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
    parallel: int | None
    decompress: bool | str | None
    compress_output: str | None


class CommonKeywords(FileKeywords, total=False):
    """Keyword arguments that sorts and joins share."""

    ignore_case: bool | None
    record_size: str | int | None
    bkey: Strings | None
    seed: int | None


class SortKeywords(CommonKeywords, total=False):
    """Keyword arguments of a sort."""

    keys: Columns | None  #: as -k takes them: "price:nr", "2,2n"; a number: this field alone
    header: bool | int | str | None
    unique: bool | None
    keep_order: bool | None
    stable: bool | None
    reverse: bool | None
    numeric: bool | None
    general_numeric: bool | None
    human_numeric: bool | None
    month: bool | None
    version: bool | None
    random: bool | None
    dictionary_order: bool | None
    ignore_leading_blanks: bool | None
    ignore_nonprinting: bool | None
    count: bool | str | None
    where: str | None  #: a condition: only records for which it is true
    limit: int | None  #: only the first records of the result
    resume: str | os.PathLike[str] | None  #: a folder for checkpoints, from which a sort continues
    json: bool | str | None  #: lines of JSON, or "array"; keys are paths such as ".user.id:n"
    strict: bool | None  #: with json: check all characters
    skip_invalid: bool | None  #: with json: leave out lines that are not JSON
    spill_compression: str | None


class JoinKeywords(CommonKeywords, total=False):
    """Keyword arguments of a join."""

    keys: Columns | None  #: of both files, as -j takes them
    left_keys: Columns | None
    right_keys: Columns | None
    type: str | None  #: inner, left, right, full, semi, anti
    columns: Strings | None  #: of the result, as -o takes them
    missing: str | None  #: text for missing fields, -e
    header: bool | None
    suffixes: bool | tuple[str, str] | None
    json: bool | None  #: lines of JSON; keys are paths such as ".user.id"
    strict: bool | None  #: with json: check all characters
    nested: bool | tuple[str, str] | None  #: with json: names of two members instead of one object
    format: str | None  #: of the result: csv of json with columns, or json of lines with a header


class GroupKeywords(FileKeywords, total=False):
    """Keyword arguments of groups."""

    keys: Columns | None  #: as -k takes them: "city:f", "substr(day, 1, 7) as month"; or numbers
    agg: Strings | None  #: as -a takes it: "sum(price) as total, count()"; or a list of these
    where: str | None  #: a condition of records
    having: str | None  #: a condition of rows
    order: str | None  #: key, first, or a column of the result: "total:r"
    largest: int | None  #: instead of agg: the first records of each group, in the order of by
    by: Columns | None
    format: str | None  #: text, csv or json
    json: bool | str | None  #: lines of JSON, or "array"; columns are paths such as ".user.id"
    strict: bool | None  #: with json: check all characters
    record_size: str | int | None  #: binary records; columns are OFFSET:LENGTH[:TYPE]
    pivot: str | int | None  #: a key: a column of the result for each of its values
    percent: bool | Strings | None  #: columns: shares of the total; True: of the first count or sum
    cumulative: bool | Strings | None  #: columns: running totals
    limit: int | None
    header: bool | None
    null: str | None  #: text of a field without a value
    skip_invalid: bool | None


class CubeKeywords(TypedDict, total=False):
    """Keyword arguments of a new cube."""

    mapping: str | None
    order: Sequence[int] | None
    tile: Sequence[int] | None
    queries: Sequence[str] | None  #: as --query takes them; the fastest mapping is chosen
    volumes: int | None
    volume: str | None
    geometry: str | os.PathLike[str] | None
    seed: int | None
    overwrite: bool | None


_SORT_NAMES = {
    "separator": "field_separator",
    "memory": "buffer_size",
    **{k: f"{k}_sort" for k in ("numeric", "general_numeric", "human_numeric")},
    **{k: f"{k}_sort" for k in ("month", "version", "random")},
}
_GROUP_NAMES = {"separator": "field_separator", "memory": "buffer_size"}
_JOIN_LETTERS = {"separator": "-t", "missing": "-e", "columns": "-o"}
_JOIN_KEYS = {"keys": "-j", "left_keys": "-1", "right_keys": "-2"}


def _known(keywords: dict[str, Any], kind: Any) -> dict[str, Any]:
    """Returns the keywords that are given; raises TypeError for an unknown one."""
    names = kind.__optional_keys__
    for key in keywords:
        if key not in names:
            near = difflib.get_close_matches(key, names, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(names))}"
            raise TypeError(f"unexpected keyword argument {key!r}: {hint}")
    return {k: v for k, v in keywords.items() if v is not None and v is not False}


def _list(value: Any) -> list[Any]:
    return [value] if isinstance(value, (str, bytes, int, os.PathLike)) else list(value)


def _shared(given: dict[str, Any]) -> list[str]:
    """Takes out the options that can be repeated, and returns them."""
    words = [f"--bkey={key}" for key in _list(given.pop("bkey", ()))]
    folders = _list(given.pop("temporary_directory", ()))
    return words + [f"--temporary-directory={os.fsdecode(f)}" for f in folders]


def sort_words(keywords: dict[str, Any]) -> list[str]:
    """Returns the options of xsort(1) that keyword arguments mean."""
    given = _known(keywords, SortKeywords)
    keys = _list(given.pop("keys", ()))
    words = [f"--key={key},{key}" if isinstance(key, int) else f"--key={key}" for key in keys]
    words += _shared(given)
    if "resume" in given:
        given["resume"] = os.fsdecode(given["resume"])
    return words + options(**{_SORT_NAMES.get(k, k): v for k, v in given.items()})


def join_words(keywords: dict[str, Any]) -> list[str]:
    """Returns the options of xjoin(1) that keyword arguments mean."""
    given = _known(keywords, JoinKeywords)
    # Before -o, whose columns are paths then.
    words = options(json=given.pop("json", None)) + _shared(given)
    for key, letter in {**_JOIN_KEYS, **_JOIN_LETTERS}.items():
        if key in given:
            words += [letter, ",".join(map(str, _list(given.pop(key))))]
    for key in ("suffixes", "nested"):
        if isinstance(given.get(key), (tuple, list)):
            given[key] = ",".join(given[key])
    if "memory" in given:
        given["buffer_size"] = given.pop("memory")
    return words + options(**given)


def group_words(keywords: dict[str, Any]) -> list[str]:
    """Returns the options of xgroup(1) that keyword arguments mean."""
    given = _known(keywords, GroupKeywords)
    words = [f"--key={key}" for key in _list(given.pop("keys", ()))] + _shared(given)
    by = _list(given.pop("by", ()))
    if "largest" in given:
        words += [f"--largest={given.pop('largest')}", *(f"--key={key}" for key in by)]
    elif by:
        raise ValueError("by is the order of records within groups: it needs largest")
    for name in "percent", "cumulative":
        columns = given.pop(name, ())
        words += [f"--{name}"] if columns is True else [f"--{name}={c}" for c in _list(columns)]
    if "agg" in given:
        given["agg"] = ", ".join(_list(given["agg"]))
    return words + options(**{_GROUP_NAMES.get(k, k): v for k, v in given.items()})


def join_sizes(sizes: Sequence[int], separator: str) -> str:
    """Returns numbers as options of mmap-cube(1) take them."""
    return separator.join(str(operator.index(n)) for n in sizes)


def cube_words(keywords: dict[str, Any]) -> list[str]:
    """Returns the options of mmap-cube(1) create that keyword arguments mean."""
    given = _known(keywords, CubeKeywords)
    words = [f"--query={query}" for query in _list(given.pop("queries", ()))]
    for key, separator in ("order", ","), ("tile", "x"):
        if key in given:
            given[key] = join_sizes(given[key], separator)
    if "geometry" in given:
        given["geometry"] = os.fsdecode(given["geometry"])
    return words + options(**given)
