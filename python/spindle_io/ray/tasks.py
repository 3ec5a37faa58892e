# SPDX-License-Identifier: MIT
"""What runs on the machines.  Each function depends on its arguments alone, and what it writes has
a name of its own until it is complete: Ray may run it again, elsewhere, at any time."""

from __future__ import annotations

import contextlib
import fcntl
import locale
import mmap
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pickle import PickleBuffer
from typing import Any, NamedTuple

import ray

import spindle_io
from spindle_io import JoinOptions, Merge, Options, SpindleError, Tally
from spindle_io._lib import EBALANCE, EFORMAT

from . import files
from .plan import CSV, FIXED, Piece

#: Beyond the end of a piece its last record is looked for within so much at first.
REACH = 1 << 16
PIPE = 1 << 20


class Blocks(NamedTuple):
    """What map or merge has done: its input, what it gave, and the bytes of each block."""

    read: Tally
    given: Tally
    sizes: tuple[int, ...]


class Reduced(NamedTuple):
    read: Tally
    given: Tally
    bytes: int  #: of the part's file
    external: bool


@dataclass(frozen=True)
class Work:
    """What all tasks of a run share."""

    piece_words: tuple[str, ...]  #: options of map and merge, which keep all records of a group
    result_words: tuple[str, ...]  #: options of the result
    splitters: tuple[bytes, ...]
    memory_bytes: int
    folder: str
    header: bytes
    tmpdir: str | None
    locales: tuple[tuple[int, str], ...]  #: categories and names, those of the driver
    ordered: bool = True  #: map sorts; else it only partitions

    def options(self, words: Sequence[str], share: int = 1) -> Options:
        """With a share of the task's memory, one thread, and the driver's locale."""
        for category, name in self.locales:
            if locale.setlocale(category) != name:
                locale.setlocale(category, name)
        own = ["-S", f"{self.memory_bytes // share}b", "--parallel", "1"]
        return Options([*words, *own])

    def join_options(self) -> JoinOptions:
        self.options(())
        own = ["-S", f"{self.memory_bytes}b", "--parallel", "1"]
        return JoinOptions([*self.result_words, *own])


def sample(inputs: Sequence[str], parts: int, words: Sequence[str]) -> list[bytes]:
    return spindle_io.splitters(inputs, parts, words)


def read_piece(piece: Piece, options: Options) -> memoryview:
    """The records that begin in the piece."""
    whole = options.info.kind == FIXED or (piece.lo, piece.hi) == (piece.base, piece.size)
    lo = piece.lo - (not whole and piece.lo > piece.base)
    eol, reach = bytes([options.info.eol]), 0 if whole else REACH
    with open(piece.path, "rb", buffering=0) as f:
        if os.fstat(f.fileno()).st_size != piece.size:
            raise SpindleError(EFORMAT, "has changed since the run began", piece.path)
        while True:
            end = min(piece.hi + reach, piece.size)
            memory, first, last = files.read(f.fileno(), lo, end)
            if last - first < end - lo:
                raise SpindleError(EFORMAT, "became shorter while it was read", piece.path)
            at = first + piece.hi - 1 - lo  # the piece's last byte
            if lo < piece.lo:
                first = memory.find(eol, first, at) + 1
                if not first:
                    return memoryview(b"")
            found = memory.find(eol, at, last) + 1
            if whole or found or end == piece.size:
                return memoryview(memory)[first : last if whole else found or last]
            reach *= 16


def _spilled(piece: Piece, work: Work, options: Options) -> Iterator[memoryview]:
    """A piece that does not fit, such as a file of CSV, sorted in a file that is mapped."""
    with tempfile.TemporaryDirectory(prefix="spindle-ray-", dir=work.tmpdir) as folder:
        path, out = os.path.join(folder, "piece"), os.path.join(folder, "sorted")
        with open(piece.path, "rb") as f, open(path, "wb") as to:
            f.seek(piece.lo)
            while block := f.read(1 << 20):
                to.write(block)
        spindle_io.sort_file(path, out, options)
        os.unlink(path)
        with open(out, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:
            view = memoryview(m)
            yield view
            view.release()


def map_piece(piece: Piece, work: Work) -> Any:
    """Sorts a piece, or not, and cuts it: a block for each range, then Blocks."""
    options = work.options(work.piece_words, 2)
    if options.info.kind == CSV and piece.hi - piece.lo > work.memory_bytes // 3:
        with contextlib.contextmanager(_spilled)(piece, work, options) as data:
            t = spindle_io.tally(data, options)
            offsets = spindle_io.split(data, options, work.splitters)
            return _blocks(bytearray(data), offsets, t, t)
    data = read_piece(piece, options)
    try:
        if not work.ordered:
            return _partitioned(data, work, options)
        done = spindle_io.sort_buffer(data, options, into=files.kept("output"))
    except SpindleError as e:
        raise SpindleError(e.code, e.text, e.path or piece.path, e.offset) from None
    if done.read.bytes - len(data) not in (0, 1):
        raise SpindleError(EBALANCE, "records were lost or duplicated in map", piece.path, piece.lo)
    offsets = spindle_io.split(done.data, options, work.splitters)
    return _blocks(done.data, offsets, done.read, done.given)


def _partitioned(data: Any, work: Work, options: Options) -> Any:
    """The same without sorting."""
    if options.info.kind != FIXED and data and data[-1] != options.info.eol:
        data = bytes(data) + bytes([options.info.eol])
    done = spindle_io.partition(data, options, work.splitters, into=files.kept("output"))
    return _blocks(done.data, done.offsets, done.tally, done.tally)


def _blocks(data: Any, offsets: Sequence[int], read: Tally, given: Tally) -> Any:
    """The results of a task: data, cut at the offsets, and what was done."""
    view, cuts = memoryview(data), [0, *offsets, len(data)]
    blocks = [view[a:b] for a, b in zip(cuts, cuts[1:])]
    return (*map(PickleBuffer, blocks), Blocks(read, given, tuple(map(len, blocks))))


def merge_blocks(work: Work, first: int, last: int, *slices: Any) -> Any:
    """Merges slices with the ranges from first up to last: a block for each, then Blocks."""
    options = work.options(work.piece_words)
    with Merge(slices, options) as m:
        data = b"".join(m)
        offsets = spindle_io.split(data, options, work.splitters[first : last - 1])
        return _blocks(data, offsets, *m.tallies())


class Part:
    """The file of a range: written under another name, checked against the splitters."""

    def __init__(self, work: Work, number: int, options: Options | None):
        files.forget()  # of map: -S is for the part now
        self.path = os.path.join(work.folder, f"part-{number:05d}")
        self.temporary = f"{self.path}.{uuid.uuid4().hex}"
        self._options = options
        self._first = [work.splitters[number - 1]] if number else []
        self._last = [work.splitters[number]] if number < len(work.splitters) else []
        self._header = b"" if number or options is None else work.header

    def check(self, first: Any, last: Any) -> None:
        """All records of the first and last block lie between the range's splitters."""
        for block, splitter, want in ((first, self._first, 0), (last, self._last, len(last))):
            if splitter and spindle_io.split(block, self._options, splitter) != [want]:
                raise SpindleError(
                    EBALANCE, "records lie beyond the borders of the range", self.path
                )

    def write(self, blocks: Iterator[bytes], f: Any) -> None:
        first, last = None, b""
        for last in blocks:
            first = last if first is None else first
            f.write(last)
        self.check(first or b"", last)

    @contextlib.contextmanager
    def open(self) -> Iterator[Any]:
        try:
            with files.create(self.temporary) as f:
                f.write(self._header)
                yield f
            os.rename(self.temporary, self.path)
        except OSError as e:
            raise SpindleError(-(e.errno or 5), e.strerror or str(e), self.path) from None
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.temporary)


def reduce_range(number: int, work: Work, *blocks: Any) -> Reduced:
    """Merges the blocks of a range into its part of the result."""
    options = work.options(work.result_words)
    part = Part(work, number, options)
    with part.open() as f, Merge(blocks, options) as m:
        part.write(iter(m), f)
        read, given = m.tallies()
    return Reduced(read, given, os.stat(part.path).st_size, False)


def _runs(refs: Sequence[Any], sizes: Sequence[int], limit: int) -> Iterator[list[Any]]:
    """Neighbouring blocks that fit into the limit together, fetched."""
    some, bytes_ = [], 0
    for ref, n in zip(refs, sizes):
        if some and bytes_ + n > limit:
            yield ray.get(some)
            some, bytes_ = [], 0
        some.append(ref)
        bytes_ += n
    if some:
        yield ray.get(some)


def merge_in_files(
    refs: Sequence[Any], sizes: Sequence[int], work: Work, limit: int, folder: str
) -> tuple[list[str], Tally]:
    """Blocks, a few at a time, merged into files of the folder, in their order."""
    paths, total, options = [], Tally(), work.options(work.piece_words)
    for blocks in _runs(refs, sizes, limit):
        paths.append(os.path.join(folder, str(len(paths))))
        with open(paths[-1], "wb") as f, Merge(blocks, options) as m:
            for block in m:
                f.write(block)
            total += m.tallies()[0]
    return paths, total


def reduce_in_files(
    number: int, work: Work, refs: Sequence[Any], sizes: Sequence[int], limit: int
) -> Reduced:
    """The same of a range that is too large for the object store, or whose groups are counted."""
    options = work.options(work.result_words)
    part = Part(work, number, options)
    with (
        tempfile.TemporaryDirectory(prefix="spindle-ray-", dir=work.tmpdir) as folder,
        part.open() as f,
    ):
        paths, read = merge_in_files(refs, sizes, work, limit, folder)
        if not paths:
            return Reduced(read, read, 0, True)
        result = os.path.join(folder, "result")
        spindle_io.sort_file(paths, result, options, merge=True)
        for path in paths:
            os.unlink(path)
        given = read if options.info.count else _checked(result, part, options)
        with open(result, "rb") as made:
            shutil.copyfileobj(made, f, 1 << 20)
    return Reduced(read, given, os.stat(part.path).st_size, True)


def _checked(path: str, part: Part, options: Options) -> Tally:
    """The tally of a file that is the result of a range, whose borders are checked."""
    with (
        open(path, "rb") as f,
        mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m,
        memoryview(m) as view,
    ):
        part.check(view, view)
        return spindle_io.tally(view, options)


class Side(NamedTuple):
    """One side of a range of a join."""

    words: tuple[str, ...]  #: options of the format
    header: bytes
    blocks: int
    bytes: int  #: of the blocks


class Joined(NamedTuple):
    read: tuple[Tally, Tally]  #: of both sides
    records: int  #: of the result
    bytes: int

    @property
    def given(self) -> Tally:
        """As much as was read: what a stage's figures count."""
        return self.read[0] + self.read[1]


def join_range(number: int, work: Work, sides: Sequence[Side], *blocks: Any) -> Joined:
    """Joins the blocks of a range, first those of the left side.

    A block in a list is a reference, and is fetched when its turn comes.
    """
    part, options = Part(work, number, None), work.join_options()
    whole, left = not number or not work.header, sides[0].blocks
    with (
        tempfile.TemporaryDirectory(prefix="spindle-ray-", dir=work.tmpdir) as folder,
        ThreadPoolExecutor(2) as pool,
    ):
        result = part.temporary if whole else os.path.join(folder, "result")
        pipes = [os.pipe() for _ in sides]
        fed = [
            pool.submit(_feed, to, *side)
            for (_, to), *side in zip(pipes, sides, (blocks[:left], blocks[left:]))
        ]
        try:
            report = spindle_io.join_files(
                *(f"/proc/self/fd/{pipe}" for pipe, _ in pipes),
                result,
                options,
                sizes=[len(side.header) + side.bytes for side in sides],
            )["result"]
        finally:
            for pipe, _ in pipes:
                os.close(pipe)
        read = (fed[0].result(), fed[1].result())
        if whole:
            os.rename(result, part.path)
        else:
            with part.open() as f, open(result, "rb") as made:
                _skip_header(made, work)
                shutil.copyfileobj(made, f, 1 << 20)
    return Joined(read, report["output_records"], os.stat(part.path).st_size)


def _feed(to: int, side: Side, blocks: Sequence[Any]) -> Tally:
    """Writes the header and the blocks of a side to a pipe, and counts their records."""
    read, options = Tally(), Options(side.words)
    with open(to, "wb", buffering=0) as f:
        fcntl.fcntl(f, fcntl.F_SETPIPE_SZ, PIPE)
        wanted = _put(f, side.header)
        for block in blocks:
            data = ray.get(block[0]) if isinstance(block, list) else block
            read += spindle_io.tally(data, options)
            wanted = wanted and _put(f, data)
    return read


def _put(f: Any, data: Any) -> bool:
    """False: nobody reads any more."""
    left = memoryview(data)
    with contextlib.suppress(BrokenPipeError):
        while left:
            left = left[f.write(left) :]
    return not left


def _skip_header(made: Any, work: Work) -> None:
    """Only the first part keeps the header of the result."""
    options, data = Options([*work.piece_words]), b""
    while True:
        more = made.read(1 << 16)
        data += more
        n = options.head(data, 1)
        if n < len(data) or not more:
            made.seek(n)
            return
