# SPDX-License-Identifier: MIT
"""What runs on the machines.  Each function depends on its arguments alone, and what it writes has
a name of its own until it is complete: Ray may run it again, elsewhere, at any time."""

from __future__ import annotations

import collections
import contextlib
import locale
import mmap
import os
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pickle import PickleBuffer
from typing import Any, NamedTuple

import ray

import spindle_io
from spindle_io import JoinOptions, Merge, Options, SpindleError, Tally
from spindle_io._lib import EBALANCE, EFORMAT

from . import files, output
from .plan import CSV, FIXED, Piece

#: Beyond the end of a piece its last record is looked for within so much at first.
REACH = 1 << 16


#: Categories and names, those of the driver.
Locales = tuple[tuple[int, str], ...]


def adopt(locales: Locales) -> None:
    for category, name in locales:
        if locale.setlocale(category) != name:
            locale.setlocale(category, name)


class Done(NamedTuple):
    """What a task took in, of each side, and gave: blocks, or a part."""

    read: tuple[Tally, ...]
    given: Tally
    sizes: tuple[int, ...]  #: bytes of the blocks, or of the part's file
    external: bool = False


@dataclass(frozen=True)
class Work:
    """What all tasks of a run share."""

    joins: bool
    piece_words: tuple[tuple[str, ...], ...]  #: options of each side's pieces
    result_words: tuple[str, ...]
    ranges: int
    splitters: tuple[bytes, ...]  #: of a sort
    memory_bytes: int
    folder: str
    headers: tuple[bytes, ...]  #: of each side
    tmpdir: str | None
    locales: Locales

    def options(self, words: Sequence[str], kind: Any = Options, share: int = 1) -> Any:
        """With a share of the task's memory, one thread, and the driver's locale."""
        adopt(self.locales)
        tmpdir = ["-T", self.tmpdir] if self.tmpdir else []
        return kind([*words, *tmpdir, "-S", f"{self.memory_bytes // share}b", "--parallel", "1"])

    def pieces(self, side: int = 0, share: int = 1) -> Options:
        """Options of map and merge, which keep all records of a group."""
        return self.options(self.piece_words[side], share=share)


def sample(
    inputs: Sequence[str], parts: int, words: Sequence[str], locales: Locales
) -> list[bytes]:
    adopt(locales)
    return spindle_io.splitters(inputs, parts, words)


def read_piece(piece: Piece, options: Options, name: str = "input") -> memoryview:
    """The records that begin in the piece, all whole, in the memory of that name."""
    whole = options.info.kind == FIXED or (piece.lo, piece.hi) == (piece.base, piece.size)
    lo = piece.lo - (not whole and piece.lo > piece.base)
    eol, reach = bytes([options.info.eol]), 0 if whole else REACH
    with open(piece.path, "rb", buffering=0) as f:
        if os.fstat(f.fileno()).st_size != piece.size:
            raise SpindleError(EFORMAT, "has changed since the run began", piece.path)
        large = piece.hi - lo > options.info.memory_bytes  # a file of CSV
        if large and os.pread(f.fileno(), 1, piece.hi - 1) == eol:
            return memoryview(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ))[lo:]
        while True:
            end = min(piece.hi + reach, piece.size)
            memory, first, last = files.read(f.fileno(), lo, end, name)
            if last - first < end - lo:
                raise SpindleError(EFORMAT, "became shorter while it was read", piece.path)
            at = first + piece.hi - 1 - lo  # the piece's last byte
            if lo < piece.lo:
                first = memory.find(eol, first, at) + 1
                if not first:
                    return memoryview(b"")
            found = memory.find(eol, at, last) + 1
            if whole or found or end == piece.size:
                break
            reach *= 16
    last = last if whole else found or last
    if options.info.kind != FIXED and memory[last - 1 : last] != eol:
        memory[last : last + 1] = eol
        last += 1
    return memoryview(memory)[first:last]


def map_piece(piece: Piece, work: Work) -> Any:
    """Cuts a piece, of a sort once it is sorted: a block for each range, then Done."""
    options, into = work.pieces(piece.side, 2), files.kept("output")
    data = read_piece(piece, options)
    try:
        if work.joins:
            join = work.options(work.result_words, JoinOptions)
            parted = spindle_io.partition(data, join, piece.side, work.ranges, into=into)
            return _blocks(parted.data, parted.offsets, parted.tally, parted.tally)
        done = spindle_io.sort_buffer(data, options, into=into)
    except SpindleError as e:
        raise SpindleError(e.code, e.text, e.path or piece.path, e.offset) from None
    if done.read.bytes != len(data):
        raise SpindleError(EBALANCE, "records were lost or duplicated in map", piece.path, piece.lo)
    offsets = spindle_io.split(done.data, options, work.splitters)
    return _blocks(done.data, offsets, done.read, done.given)


def _blocks(data: Any, offsets: Sequence[int], read: Tally, given: Tally) -> Any:
    """The results of a task: data, cut at the offsets, and what was done."""
    view, cuts = memoryview(data), [0, *offsets, len(data)]
    blocks = [view[a:b] for a, b in zip(cuts, cuts[1:])]
    return (*map(PickleBuffer, blocks), Done((read,), given, tuple(map(len, blocks))))


def merge_blocks(work: Work, first: int, last: int, *slices: Any) -> Any:
    """Merges slices with the ranges from first up to last: a block for each, then Done."""
    options = work.pieces()
    with Merge(slices, options) as m:
        data = b"".join(m)
        offsets = spindle_io.split(data, options, work.splitters[first : last - 1])
        return _blocks(data, offsets, *m.tallies())


@contextlib.contextmanager
def _part(work: Work, number: int) -> Iterator[Any]:
    """The file of a range, under another name until it is complete."""
    files.forget()  # of map: -S is for the part now
    path = _path(work, number)
    temporary = f"{path}.{uuid.uuid4().hex}"
    try:
        with files.create(temporary) as f:
            yield f
        os.rename(temporary, path)
    except OSError as e:
        e.filename = e.filename or path
        raise
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _path(work: Work, number: int) -> str:
    return output.part(work.folder, number)


def check_borders(work: Work, number: int, options: Options, first: Any, last: Any) -> None:
    """All records of the first and last block of a range lie between its splitters."""
    for block, splitter, want in (
        (first, work.splitters[number - 1 : number] if number else (), 0),
        (last, work.splitters[number : number + 1], len(last)),
    ):
        if splitter and spindle_io.split(block, options, splitter) != [want]:
            path = _path(work, number)
            raise SpindleError(EBALANCE, "records lie beyond the borders of the range", path)


def reduce_range(number: int, work: Work, *blocks: Any) -> Done:
    """Merges the blocks of a range into its part of the result."""
    options, first, last = work.options(work.result_words), b"", b""
    with _part(work, number) as f, Merge(blocks, options) as m:
        f.write(b"" if number else work.headers[0])
        for last in m:
            first = first or last
            f.write(last)
        check_borders(work, number, options, first, last)
        read, given = m.tallies()
    return _done(work, number, (read,), given)


def _done(work: Work, number: int, read: tuple[Tally, ...], given: Tally, external=False) -> Done:
    return Done(read, given, (os.path.getsize(_path(work, number)),), external)


@contextlib.contextmanager
def _mapped(path: str) -> Iterator[memoryview]:
    with (
        open(path, "rb") as f,
        mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m,
        memoryview(m) as view,
    ):
        yield view


def reduce_in_files(number: int, work: Work, refs: Sequence[Any]) -> Done:
    """The same of a range that is too large for the object store, or whose groups are counted:
    each block becomes a file, and these are merged."""
    options, read, paths = work.options(work.result_words), Tally(), []
    with tempfile.TemporaryDirectory(prefix="spindle-ray-", dir=work.tmpdir) as folder:
        for ref in refs:
            block = ray.get(ref)
            read += spindle_io.tally(block, options)
            paths.append(os.path.join(folder, str(len(paths))))
            with open(paths[-1], "wb") as f:
                f.write(block)
        given, result = read, os.path.join(folder, "result")
        with _part(work, number) as f:
            f.write(b"" if number else work.headers[0])
            if read.records:
                spindle_io.sort_file(paths, result, options, merge=True)
                for path in paths:
                    os.unlink(path)
                with _mapped(result) as view:
                    if not options.info.count:
                        check_borders(work, number, options, view, view)
                        given = spindle_io.tally(view, options)
                    f.write(view)
    return _done(work, number, (read,), given, True)


def join_range(number: int, work: Work, sizes: Sequence[int], lefts: int, *blocks: Any) -> Done:
    """Joins the blocks of a range, the first of which are of the left side.

    One may be a list, of references or of pieces, each fetched or read when its turn comes.
    """
    files.forget()
    read, path = [Tally(), Tally()], _path(work, number)

    def records(side: int, blocks: Sequence[Any]) -> Iterator[Any]:
        options = work.pieces(side, 4)
        yield work.headers[side]
        for block in blocks:
            for data in block if isinstance(block, list) else [block]:
                if isinstance(data, Piece):
                    data = read_piece(data, options, f"side {side}")
                elif isinstance(data, ray.ObjectRef):
                    data = ray.get(data)
                read[side] += spindle_io.tally(data, options)
                yield data

    sides = records(0, blocks[:lefts]), records(1, blocks[lefts:])
    options = work.options(work.result_words, JoinOptions)
    with tempfile.TemporaryDirectory(prefix="spindle-ray-", dir=work.tmpdir) as folder:
        headed = number and any(work.headers)  # only the first part keeps it
        result = os.path.join(folder, "result") if headed else path
        report = spindle_io.join_blocks(*sides, result, options, sizes=sizes)["result"]
        for side in sides:
            collections.deque(side, maxlen=0)  # what the join had no need of counts too
        if headed:
            with _part(work, number) as f, _mapped(result) as view:
                f.write(view[work.pieces().head(view, 1) :])
    return _done(work, number, tuple(read), Tally(report["output_records"]))
