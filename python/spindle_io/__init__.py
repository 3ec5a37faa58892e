# SPDX-License-Identifier: MIT
"""Sorts, joins and groups records larger than memory, and stores tables and cubes, by the library
of the tools.

Options of a sort are those of xsort(1), as a list of arguments or as one string in the syntax of
a shell: ``"-t'|' -k2,2n -S 256M"``.  Supported are the options of order and format, and -S, -T,
--parallel, --seed, --count, --where, --limit, --resume, --decompress, --compress-output and
--spill-compression.
With --header, keys and --where can name columns as in xsort(1); the first input must then be a
regular file.

Data is any object with contiguous bytes: bytes, bytearray, memoryview, mmap, numpy and Arrow
buffers.  It is not copied and must not change during a call; other threads can run meanwhile.
Sizes are bytes.  Every function raises SpindleError, or ValueError for wrong options.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import byref, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any, NamedTuple

from ._lib import (
    END,
    NEXT,
    READY,
    Batch,
    CTally,
    Owner,
    SpindleError,
    Views,
    __version__,
    accepted,
    check,
    completed,
    lib,
    name,
    no_error,
    c_strings,
)
from ._cube import Cube
from ._keywords import GroupKeywords, JoinKeywords, SortKeywords
from ._options import (
    Args,
    GroupOptions,
    JoinOptions,
    Options,
    PathLike,
    Paths,
    document_of,
    options_of,
    paths_of,
)
from ._table import Scan, Table

__all__ = [
    "Cube",
    "GroupKeywords",
    "GroupOptions",
    "JoinKeywords",
    "JoinOptions",
    "Merge",
    "Options",
    "Partitioned",
    "Scan",
    "SortKeywords",
    "SortedBuffer",
    "SpindleError",
    "Table",
    "Tally",
    "__version__",
    "group",
    "group_file",
    "group_first",
    "group_second",
    "join",
    "join_blocks",
    "join_files",
    "merge",
    "partition",
    "sort",
    "sort_buffer",
    "sort_file",
    "split",
    "splitters",
    "tally",
]

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Tally(NamedTuple):
    """A count of records: their number, their bytes with terminators, and the sum of their hashes
    modulo 2**64, which does not depend on their order."""

    records: int = 0
    bytes: int = 0
    sum: int = 0

    def __add__(self, other: Tally) -> Tally:  # type: ignore[override]
        return Tally(
            self.records + other.records, self.bytes + other.bytes, (self.sum + other.sum) % 2**64
        )


def _tally(t: CTally) -> Tally:
    return Tally(t.records, t.bytes, t.sum)


def sort_file(
    inputs: Paths, output: PathLike, options: Options | Args = (), *, merge: bool = False
) -> dict[str, Any]:
    """Sorts one or several files into output, which appears when it is complete.

    merge: the inputs are already sorted.
    Returns the report, a document of schema spindle.sort/1 (spindle-report(5)).
    """
    o, err, report = options_of(options), no_error(), c_void_p()
    rc = lib.sp_call_sort_files(
        o._call, *c_strings(paths_of(inputs)), merge, name(output), byref(report), byref(err)
    )
    completed(rc, err)
    return document_of(report)


def sort(
    inputs: Paths, output: PathLike, *, merge: bool = False, **keywords: Unpack[SortKeywords]
) -> dict[str, Any]:
    """Sorts files as sort_file() does, by keyword arguments, which SortKeywords lists::

        sort("a.csv", "b.csv", csv=True, header=True, keys=["price:nr", "name"], unique=True)

    A list is an option that is repeated, and an unknown keyword a TypeError.
    """
    return sort_file(inputs, output, Options(**keywords), merge=merge)


def join(
    left: PathLike,
    right: PathLike,
    output: PathLike,
    *,
    sizes: tuple[int, int] = (0, 0),
    **keywords: Unpack[JoinKeywords],
) -> dict[str, Any]:
    """Joins files as join_files() does, by keyword arguments, which JoinKeywords lists::

    join("a.csv", "b.csv", "c.csv", csv=True, header=True, keys="id", type="left",
         suffixes=("_a", "_b"))
    """
    return join_files(left, right, output, JoinOptions(**keywords), sizes=sizes)


def join_files(
    left: PathLike,
    right: PathLike,
    output: PathLike,
    options: JoinOptions | Args = (),
    *,
    sizes: tuple[int, int] = (0, 0),
) -> dict[str, Any]:
    """Joins two files into output, which appears when it is complete.

    Options are those of xjoin(1): -1, -2, -j, -t, -i, -z, -a, -v, -e, -o, --type, --csv, --header,
    --suffixes, --json, --strict, --nested, --format, --record-size, --bkey, and those of memory,
    temporary space and threads of a sort.
    sizes: expected length of each file, for pipes; 0: unknown.
    Returns the report, a document of schema spindle.join/1 (spindle-report(5)).
    """
    o = options if isinstance(options, JoinOptions) else JoinOptions(options)
    err, report = no_error(), c_void_p()
    inputs, expected = map(name, (left, right)), (ctypes.c_uint64 * 2)(*sizes)
    rc = lib.sp_call_join_files(o._call, *inputs, expected, name(output), byref(report), byref(err))
    check(rc, err)
    return document_of(report)


def group(
    inputs: Paths, output: PathLike, **keywords: Unpack[GroupKeywords]
) -> dict[str, Any]:
    """Groups files as group_file() does, by keyword arguments, which GroupKeywords lists::

        group("sales.csv", "totals.csv", csv=True, header=True, keys="region",
              agg=["sum(price) as total", "p99(ms)"], where="price > 0", order="total:r")
    """
    return group_file(inputs, output, GroupOptions(**keywords))


def group_file(
    inputs: Paths, output: PathLike, options: GroupOptions | Args = ()
) -> dict[str, Any]:
    """Writes a row for each group of the records of files, or of a table, into output, which
    appears when it is complete.

    Options are those of xgroup(1): -k, -a, -t, -z, --largest, --pivot, --percent, --cumulative,
    --having, --order, --format, --limit, --where, --csv, --json, --strict, --record-size, --header,
    --null, --skip-invalid, and -S, -T, --parallel, --decompress and --compress-output.
    Returns the report, a document of schema spindle.group/1 (spindle-report(5)).
    """
    o = options if isinstance(options, GroupOptions) else GroupOptions(options)
    err, report = no_error(), c_void_p()
    rc = lib.sp_call_group_files(
        o._call, *c_strings(paths_of(inputs)), name(output), byref(report), byref(err)
    )
    completed(rc, err)
    return document_of(report)


def group_first(
    inputs: Paths, output: PathLike, options: GroupOptions | Args, position: int = 0
) -> dict[str, Any]:
    """Writes partial totals of the records of files, for group_second().

    position: of the first input among all inputs, in bytes; first and last depend on it.
    Returns a report as group_file() does.
    """
    o = options if isinstance(options, GroupOptions) else GroupOptions(options)
    err, report = no_error(), c_void_p()
    files, out = c_strings(paths_of(inputs)), name(output)
    rc = lib.sp_call_group_first(o._call, *files, position, out, byref(report), byref(err))
    completed(rc, err)
    return document_of(report)


def group_second(
    inputs: Paths,
    output: PathLike,
    options: GroupOptions | Args,
    *,
    header: Any = b"",
    rows_only: bool = False,
) -> dict[str, Any]:
    """Writes the rows of all groups whose partial totals are in files.

    Options, locale and version of the package must be those of group_first().
    header: of the inputs of group_first(); rows_only: do not write a header.
    Returns a report as group_file() does; its records are those of all groups.
    """
    o = options if isinstance(options, GroupOptions) else GroupOptions(options)
    err, report = no_error(), c_void_p()
    files, out = c_strings(paths_of(inputs)), name(output)
    with Views([header]) as v:
        rc = lib.sp_call_group_second(
            o._call, v.batches, rows_only, *files, out, byref(report), byref(err)
        )
    completed(rc, err)
    return document_of(report)


class _Feed(Owner):
    """Passes blocks of both files of a join to the library when it requests them."""

    def __init__(self, *sides: Iterable[Any]):
        self._sides, self._views = [iter(side) for side in sides], [Views([]), Views([])]
        self.error: BaseException | None = None

    def next(self, _: Any, side: int, batch: Any) -> int:
        try:
            self._views[side].release()
            for block in self._sides[side]:
                self._views[side] = view = Views([block])
                if view.bytes:
                    batch[0] = view.batches[0]
                    return READY
                view.release()
        except BaseException as e:
            self.error = e
            return -errno.EIO
        return END

    def release(self) -> None:
        for view in self._views:
            view.release()


def join_blocks(
    left: Iterable[Any],
    right: Iterable[Any],
    output: PathLike,
    options: JoinOptions | Args = (),
    *,
    sizes: tuple[int, int] = (0, 0),
) -> dict[str, Any]:
    """Joins data into output, which appears when it is complete.

    left, right: blocks of whole records, with a header if the options say so, and without a byte
    order mark.  Each block is used until the next one is requested.
    options, sizes: as for join_files().
    Returns the report, a document of schema spindle.join/1 (spindle-report(5)).
    """
    o = options if isinstance(options, JoinOptions) else JoinOptions(options)
    err, report, feed = no_error(), c_void_p(), _Feed(left, right)
    try:
        rc = lib.sp_call_join_blocks(
            o._call,
            NEXT(feed.next),
            None,
            (ctypes.c_uint64 * 2)(*sizes),
            name(output),
            byref(report),
            byref(err),
        )
    finally:
        feed.release()
    if feed.error:
        raise feed.error
    accepted(rc, err)
    return document_of(report)


class SortedBuffer(NamedTuple):
    """The result of sort_buffer()."""

    data: memoryview  #: sorted records, each with its terminator
    read: Tally  #: of the records read
    given: Tally  #: of data; with -u fewer than read


def allocate(size: int) -> Any:
    """Returns memory for size bytes: an mmap of huge pages, resident only where it is touched."""
    memory = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError, AttributeError):  # a kernel without them
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def sort_buffer(
    data: Any, options: Options | Args = (), *, into: Callable[[int], Any] = allocate
) -> SortedBuffer:
    """Sorts the records of data, or of a list of buffers, one after the other.

    The last record of a buffer gets a terminator if it has none.  A byte order mark at the start
    of CSV stays there and is not part of a record.  Records that do not fit into -S are spilled
    to -T.
    into: returns writable memory of at least this many bytes for the result; less is a ValueError.
    Returns a SortedBuffer.
    """
    buffers = data if isinstance(data, (list, tuple)) else [data]
    o, err, read, given = options_of(options), no_error(), CTally(), CTally()
    with Views(buffers) as v:
        bytes_ = v.bytes + len(buffers)
        mark = v.skip_mark(o.info)
        out = into(bytes_)
        with Views([out], bytes_) as to:
            ctypes.memmove(to.batches[0].data, mark, len(mark))
            rc = lib.sp_sort_buffer(
                o._opts,
                v.batches,
                len(buffers),
                to.batches[0].data + len(mark),
                bytes_ - len(mark),
                byref(read),
                byref(given),
                byref(err),
            )
    check(rc, err)
    end = len(mark) + given.bytes
    return SortedBuffer(memoryview(out)[:end], _tally(read), _tally(given))


def tally(data: Any, options: Options | Args = ()) -> Tally:
    """Returns the tally of data, which has whole records; a byte order mark is not counted."""
    o, err, t = options_of(options), no_error(), CTally()
    with Views([data]) as v:
        v.skip_mark(o.info)
        check(lib.sp_tally_buffer(byref(t), byref(o.info.format), v.batches, byref(err)), err)
    return _tally(t)


def _records(handle: c_void_p) -> list[bytes]:
    batches = (lib.sp_splitters_get(handle, i) for i in range(lib.sp_splitters_count(handle)))
    return [ctypes.string_at(b.data, b.bytes) for b in batches]


def splitters(files: Paths, parts: int, options: Options | Args = ()) -> list[bytes]:
    """Returns parts - 1 records in order, with terminators, which cut the records of files into
    parts of about equal length.  Reads 1000 samples per part; the files must be regular."""
    o, err, handle = options_of(options), no_error(), c_void_p()
    rc = lib.sp_call_sample(byref(handle), o._call, *c_strings(paths_of(files)), parts, byref(err))
    check(rc, err)
    try:
        return _records(handle)
    finally:
        lib.sp_splitters_free(handle)


def split(sorted_buffer: Any, options: Options | Args, splitters: Sequence[bytes]) -> list[int]:
    """Returns the offsets in bytes at which splitters cut sorted, whole records.

    There are len(splitters) + 1 parts.  Part i starts at offset i - 1 (part 0 at 0) and ends where
    the next one starts; it has the records with splitter i - 1 <= key < splitter i.
    """
    o, err, handle = options_of(options), no_error(), c_void_p()
    offsets = (c_size_t * (len(splitters) + 1))()
    with Views([b"".join(splitters), sorted_buffer]) as v:
        rc = lib.sp_splitters_read(byref(handle), o._opts, v.batches, byref(err))
        if rc >= 0:
            rc = lib.sp_split_buffer(handle, byref(v.batches[1]), offsets, byref(err))
        lib.sp_splitters_free(handle)
    check(rc, err)
    return list(offsets[: len(splitters)])


class Partitioned(NamedTuple):
    """The result of partition()."""

    data: memoryview  #: the records of part 0, then those of part 1, ...
    offsets: list[int]  #: where the parts after the first start, in bytes
    tally: Tally  #: of all


def partition(
    data: Any,
    options: JoinOptions | Args,
    side: int,
    parts: int,
    *,
    into: Callable[[int], Any] = allocate,
) -> Partitioned:
    """Partitions the whole records of file 0 or 1 of a join by a hash of their keys.

    Records that pair are in the same part, and records of a part keep their order.
    into: as for sort_buffer().
    Returns a Partitioned.
    """
    o = options if isinstance(options, JoinOptions) else JoinOptions(options)
    err, t, offsets = no_error(), CTally(), (c_size_t * parts)()
    with Views([data]) as v:
        out = into(v.bytes)
        with Views([out], v.bytes) as to:
            rc = lib.sp_join_partition(
                o._opts,
                side,
                v.batches,
                parts,
                to.batches[0].data,
                offsets,
                byref(t),
                byref(err),
            )
    check(rc, err)
    return Partitioned(memoryview(out)[: t.bytes], list(offsets[: parts - 1]), _tally(t))


class Merge(Owner):
    """A merge of sorted buffers: an iterator of blocks of whole records, about 1 MiB each.

    Equal records are in the order of their buffers.  The buffers are used until close().
    """

    def __init__(self, buffers: Sequence[Any], options: Options | Args = ()):
        self._merge, self._options, self._err = c_void_p(), options_of(options), no_error()
        self._views = Views(buffers)
        rc = lib.sp_merge_open(
            byref(self._merge),
            self._options._opts,
            self._views.batches,
            len(buffers),
            byref(self._err),
        )
        if rc < 0:
            self.close()
        check(rc, self._err)

    def _next(self) -> Batch | None:
        block = Batch()
        if not self._merge:
            raise ValueError("the merge is closed")
        rc = check(lib.sp_merge_next(self._merge, byref(block)), self._err)
        return block if rc == READY else None

    def __iter__(self) -> Iterator[bytes]:
        while (block := self._next()) is not None:
            yield ctypes.string_at(block.data, block.bytes)

    def write(self, path: PathLike, header: Any = b"") -> None:
        """Writes the header and the remaining blocks to a file, which appears when it is
        complete."""
        if not self._merge:
            raise ValueError("the merge is closed")
        with Views([header]) as v:
            check(lib.sp_merge_write(self._merge, name(path), v.batches), self._err)

    def tallies(self) -> tuple[Tally, Tally]:
        """Returns the tallies of the records read, and of those returned, with -u fewer."""
        read, given = CTally(), CTally()
        if self._merge:
            lib.sp_merge_tally(self._merge, byref(read), byref(given))
        return _tally(read), _tally(given)

    def close(self) -> None:
        lib.sp_merge_close(self._merge)
        self._merge = c_void_p()
        self._views.release()

    def __enter__(self) -> Merge:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_views"):
            self.close()


def merge(buffers: Iterable[Any], options: Options | Args = ()) -> Iterator[bytes]:
    """Iterates over the blocks of a Merge, which is closed at the end."""
    with Merge(list(buffers), options) as m:
        yield from m
