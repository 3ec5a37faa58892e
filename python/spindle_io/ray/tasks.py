# SPDX-License-Identifier: MIT
"""What runs on the machines.  Each function depends on its arguments alone, and what it writes has
a name of its own until it is complete: Ray may run it again, elsewhere, at any time."""

from __future__ import annotations

import collections
import contextlib
import mmap
import os
import resource
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pickle import PickleBuffer
from typing import Any, NamedTuple

import ray

import spindle_io
from spindle_io import JoinOptions, Merge, Options, SpindleError, Tally
from spindle_io._lib import CSV, EBALANCE, EFORMAT, FIXED, MARK

from . import files, groups, seen
from .plan import Piece, Work
from .seen import Seen

#: Beyond the end of a piece its last record is looked for within so much at first.
REACH = 1 << 16


class Done(NamedTuple):
    """What a task took in, of each side, and gave: blocks, or a part."""

    read: tuple[Tally, ...]
    given: Tally
    sizes: tuple[int, ...]  #: bytes of the blocks, or of the part's file
    external: bool = False
    part: Seen | None = None
    grouped: int = 0  #: of a grouping: records in its partial totals, or in the rows


def _here() -> str:
    return f"on node {ray.get_runtime_context().get_node_id()[:12]}, "


def sample(work: Work, pieces: Sequence[Piece] = ()) -> list[bytes]:
    """The splitters; of a grouping, of its pieces."""
    if work.groups:
        return groups.sample(work, pieces, lambda piece: read_piece(piece, work.pieces()))
    for path in work.inputs[0]:
        with seen.opened(path, work.seen[path], _here()):
            pass
    return spindle_io.splitters(work.inputs[0], work.ranges, work.files())


def read_piece(piece: Piece, options: Options, name: str = "input") -> memoryview:
    """The records that begin in the piece, all whole, in the memory of that name."""
    fixed, eol = options.info.kind == FIXED, bytes([options.info.eol])
    lo, reach = piece.lo - (piece.lo > piece.base and not fixed), 0 if fixed else REACH
    with seen.opened(piece.path, piece.seen, _here()) as fd:
        large = piece.hi - lo > options.info.memory_bytes  # a file of CSV
        if large and os.pread(fd, 1, piece.hi - 1) == eol:
            return memoryview(mmap.mmap(fd, 0, access=mmap.ACCESS_READ))[lo:]
        while True:
            end = min(piece.hi + reach, piece.seen.size)
            memory, first, last = files.read(fd, lo, end, name)
            if last - first < end - lo:
                raise SpindleError(EFORMAT, "became shorter while it was read", piece.path)
            at = first + piece.hi - 1 - lo  # the piece's last byte
            if lo < piece.lo:
                first = memory.find(eol, first, at) + 1
                if not first:
                    return memoryview(b"")
            found = memory.find(eol, at, last) + 1
            if fixed or found or end == piece.seen.size:
                break
            reach *= 16
    last = found or last
    if not fixed and memory[last - 1 : last] != eol:
        memory[last : last + 1] = eol
        last += 1
    return memoryview(memory)[first:last]


def map_piece(piece: Piece, work: Work) -> Any:
    """Cuts a piece, of a sort once it is sorted: a block for each range, then Done."""
    options, into = work.pieces(piece.side, 2), files.kept("output")
    data = read_piece(piece, options)
    if work.groups:
        totals, offsets, tallies, kept = groups.map_piece(piece, data, work)
        *blocks, done = _blocks(totals, offsets, *tallies)
        return (*blocks, done._replace(grouped=kept))
    try:
        if work.joins:
            join = work.options(work.result_args, JoinOptions)
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


def check_borders(work: Work, number: int, options: Options, block: Any) -> None:
    """All records of a block, which are in order, lie between the splitters of its range."""
    cuts = work.splitters[max(number - 1, 0) : number + 1]
    want = [0] * (number > 0) + [len(block)] * (number < len(work.splitters))
    if len(block) and spindle_io.split(block, options, cuts) != want:
        raise SpindleError(
            EBALANCE, "records lie beyond its borders", files.part(work.folder, number)
        )


def reduce_range(number: int, work: Work, sizes: Sequence[int], lefts: int, *blocks: Any) -> Done:
    """Merges the blocks of a range into its part of the result, or joins them: the first are of
    the left side.  One may be a list, of references or of pieces, each fetched or read when its
    turn comes."""
    files.forget()  # of map: -S is for the part now
    if work.joins:
        return _joined(number, work, sizes, blocks[:lefts], blocks[lefts:])
    if work.groups:
        path, read, rows, grouped = groups.reduce_range(number, work, map(ray.get, blocks[0]))
        return _written(path, (read,), Tally(rows))._replace(grouped=grouped)
    if blocks and isinstance(blocks[0], list):
        return _in_files(number, work, blocks[0])
    path, options = files.part(work.folder, number), work.options(work.result_args)
    for block in blocks:
        check_borders(work, number, options, block)
    with Merge(blocks, options) as m:
        m.write(path, b"" if number else work.headers[0])
        read, given = m.tallies()
    return _written(path, (read,), given)


def _written(path: str, read: tuple[Tally, ...], given: Tally, external: bool = False) -> Done:
    part = seen.look(path, os.O_NOFOLLOW)
    return Done(read, given, (part.size,), external, part)


def _in_files(number: int, work: Work, refs: Sequence[Any]) -> Done:
    """A range that is too large for the object store, or whose groups are counted: each block
    becomes a file, and these are merged.  Without names, but open, they go with the process."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    path, read = files.part(work.folder, number), Tally()
    header = b"" if number else work.headers[0]
    lines = work.files().info.header_records
    headed = [f"--header={lines},first"] if header and lines else []
    options = work.options([*work.result_args, *headed])
    with contextlib.ExitStack() as stack:

        def stored(data: Any) -> str:
            f = stack.enter_context(tempfile.TemporaryFile(dir=work.tmpdir))
            f.write(data)
            f.flush()
            return f"/proc/self/fd/{f.fileno()}"

        paths = [stored(header)]
        for ref in refs:
            block = ray.get(ref)
            check_borders(work, number, options, block)
            read += spindle_io.tally(block, options)
            paths.append(stored(block))
        spindle_io.sort_file(paths, path, options, merge=True)
    given = read
    if read.records and not options.info.count:
        with files.mapped(path) as view, view[len(header) :] as records:
            given = spindle_io.tally(records, options)
    return _written(path, (read,), given, True)


def _joined(number: int, work: Work, sizes: Sequence[int], *sides: Sequence[Any]) -> Done:
    read, path = [Tally(), Tally()], files.part(work.folder, number)
    mark = MARK if work.pieces().info.kind == CSV else b""

    def records(side: int) -> Iterator[Any]:
        options = work.pieces(side, 4)
        yield work.headers[side].removeprefix(mark)
        for block in sides[side]:
            for data in block if isinstance(block, list) else [block]:
                if isinstance(data, Piece):
                    data = read_piece(data, options, f"side {side}")
                elif isinstance(data, ray.ObjectRef):
                    data = ray.get(data)
                read[side] += spindle_io.tally(data, options)
                yield data

    both = records(0), records(1)
    options = work.options(work.result_args, JoinOptions)
    first = mark if number == 0 and work.headers[0].startswith(mark) else b""
    headed = number and any(h.removeprefix(mark) for h in work.headers)  # only the first keeps it
    result = f"{path}.{uuid.uuid4().hex}" if first or headed else path
    report = spindle_io.join_blocks(*both, result, options, sizes=sizes)["result"]
    for side in both:
        collections.deque(side, maxlen=0)  # what the join had no need of counts too
    if headed:
        with files.mapped(result) as view, open(f"{result}.rest", "xb") as f:
            f.write(view[work.pieces().head(view, 1) :])
        os.rename(f.name, path)
    elif first:
        with open(result, "rb") as whole, open(f"{result}.rest", "xb") as f:
            f.write(first)
            shutil.copyfileobj(whole, f, files.CHUNK)
        os.rename(f.name, path)
    if result != path:
        os.unlink(result)
    return _written(path, tuple(read), Tally(report["output_records"]))
