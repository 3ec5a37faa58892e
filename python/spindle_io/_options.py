# SPDX-License-Identifier: MIT
"""Options of xsort(1), xjoin(1) and xgroup(1), parsed once; and what functions on files share."""

from __future__ import annotations

import ctypes
import json
import os
import shlex
from collections.abc import Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Union

from ._keywords import (
    GroupKeywords,
    JoinKeywords,
    SortKeywords,
    group_words,
    join_words,
    sort_words,
)
from ._lib import CallInfo, Views, accepted, c_strings, lib, name, no_error, texts

if TYPE_CHECKING:
    from typing_extensions import Unpack

Args = Union[str, Sequence[str]]
PathLike = Union[str, bytes, "os.PathLike[str]"]
Paths = Union[PathLike, Sequence[PathLike]]


def _split(options: Args) -> Sequence[str]:
    return shlex.split(options) if isinstance(options, str) else options


class _Words:
    """Arguments of a command, parsed once."""

    _make: Any
    _free: Any

    def __init__(self, options: Args = ()):
        self.args = tuple(_split(options))
        self._call, err = c_void_p(), no_error()
        accepted(self._make(byref(self._call), *c_strings(self.args), byref(err)), err)

    def __del__(self) -> None:
        self._free(getattr(self, "_call", None))

    def __reduce__(self) -> Any:  # a copy parses the arguments again
        return type(self), (self.args,)

    def _found(self, opts: int | None) -> int:
        if opts is None:
            raise ValueError(
                "buffers have columns without names (see numbered()), no order to keep, no "
                "condition, no limit and no checkpoints"
            )
        return opts

    def _renewed(self, make: Any, args_of: Any, *paths: PathLike) -> list[str]:
        """Returns the arguments that the library makes from the headers of files."""
        made, err = c_void_p(), no_error()
        accepted(make(byref(made), self._call, *map(name, paths), byref(err)), err)
        try:
            return texts(args_of(made))
        finally:
            self._free(made)


class JoinOptions(_Words):
    """Parsed options of xjoin, as arguments, as keyword arguments, or both."""

    _make, _free = lib.sp_call_join, lib.sp_call_join_free

    def __init__(self, options: Args = (), **keywords: Unpack[JoinKeywords]):
        super().__init__([*_split(options), *join_words({**keywords})])

    @property
    def _opts(self) -> int:
        return self._found(lib.sp_call_join_opts(self._call))

    @property
    def named(self) -> bool:
        """True if a key or a column of the result is named."""
        return bool(lib.sp_call_join_named(self._call))

    def divides(self, side: int) -> bool:
        """True if joins of parts of file 0 or 1 with all of the other file make the whole join."""
        return bool(lib.sp_call_join_divides(self._call, side))

    def numbered(self, left: PathLike, right: PathLike) -> JoinOptions:
        """The same with the numbers of columns for their names, from the headers of both files.

        Each is an option with its argument; an empty one of a letter is the next argument.
        """
        make, args_of = lib.sp_call_join_numbered, lib.sp_call_join_args
        return JoinOptions(self._renewed(make, args_of, left, right))


class GroupOptions(_Words):
    """Parsed options of xgroup, as arguments, as keyword arguments, or both.

    Names of columns, aggregates and conditions are checked when files are grouped.
    """

    _make, _free = lib.sp_call_group, lib.sp_call_group_free

    def __init__(self, options: Args = (), **keywords: Unpack[GroupKeywords]):
        super().__init__([*_split(options), *group_words({**keywords})])


class Options(_Words):
    """Parsed options of xsort, as arguments, as keyword arguments, or both.

    Pass them to several calls to parse the arguments only once.
    """

    _make, _free = lib.sp_call_sort, lib.sp_call_free

    def __init__(self, options: Args = (), **keywords: Unpack[SortKeywords]):
        super().__init__([*_split(options), *sort_words({**keywords})])
        self.info = CallInfo()
        lib.sp_call_info(self._call, byref(self.info))

    @property
    def _opts(self) -> int:
        return self._found(lib.sp_call_sort_opts(self._call))

    def numbered(self, path: PathLike) -> Options:
        """The same with the numbers of columns for their names, from the header of a file.

        Each is an option with its argument; an empty one of a letter is the next argument.
        """
        return Options(self._renewed(lib.sp_call_numbered, lib.sp_call_args, path))

    def head(self, data: Any, records: int) -> int:
        """Returns the length of the first records of data, or of all if there are fewer."""
        with Views([data]) as v:
            mark = v.skip_mark(self.info)
            head = lib.sp_head_buffer(byref(self.info.format), v.batches, records)
            return len(mark) + int(head)


def options_of(options: Options | Args) -> Options:
    return options if isinstance(options, Options) else Options(options)


def paths_of(paths: Paths) -> list[PathLike]:
    return [paths] if isinstance(paths, (str, bytes, os.PathLike)) else list(paths)


def document_of(report: c_void_p) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(ctypes.string_at(report.value or 0))
        return document
    finally:
        lib.sp_call_report_free(report)
