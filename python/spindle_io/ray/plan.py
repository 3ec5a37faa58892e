# SPDX-License-Identifier: MIT
"""What is to be done, computed from sizes before any task runs.

The inputs are cut into M pieces that one task can sort in its memory, and the result into R
ranges, by splitters.  Map gives M x R blocks.  Where these would be many and small, the maps of a
group of G, which run on one node, cut their pieces into G slices only; the slices of a group are
merged there, and then cut into ranges.  That makes M x G slices and M / G x R larger blocks.
"""

from __future__ import annotations

import csv
import io
import itertools
import locale
import math
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from spindle_io import Options, tally
from spindle_io._lib import CSV, FIXED, MARK

from . import seen
from .seen import Seen

#: Of the memory of a task: its piece; the same for the sorted piece, the rest is the sort's.
PIECE_SHARE = 4
#: A smaller block costs more to keep account of than to move.
BLOCK_BYTES = 1 << 20
#: So many blocks for one range are merged at once without any loss, ...
FAN_IN = 256
#: ... and so many in all are kept account of.
BLOCKS = 1_000_000
#: Of a node's object store: what the blocks of the reduces that run at once should take.  Fewer
#: and larger blocks are spilled and restored faster than many small ones.
STORE_SHARE = 1.5
#: A range with so much more is merged in files.
UNEVEN = 1.25
#: Of the memory of a task: a side of a join that every task can read as a whole, ...
WHOLE_SHARE = 0.75
#: ... what it reads at once of a file, ...
WHOLE_PIECE = 8 << 20
#: ... and its share of the other side, in the same unit: reading the whole one is then little.
WHOLE_ROUND = 16

def _locales() -> tuple[tuple[int, str], ...]:
    """Of letters, their order, decimal points and names of months."""
    categories = (locale.LC_CTYPE, locale.LC_COLLATE, locale.LC_NUMERIC, locale.LC_TIME)
    return tuple((c, locale.setlocale(c)) for c in categories)


@dataclass(frozen=True)
class Work:
    """A command, understood, and what the driver has found: all tasks of a run share it."""

    inputs: Sequence[Sequence[str]]  #: of a sort, or of both sides of a join
    output: str
    piece_args: Sequence[Sequence[str]]  #: options of each side's pieces, which keep all records
    result_args: Sequence[str]
    header_args: Sequence[str]
    memory_bytes: int
    seen: dict[str, Seen] = field(default_factory=dict)  #: the inputs, by their names
    copies: bool = False  #: each machine may have its own, equal ones
    tmpdir: str | None = None
    overwrite: bool = False
    progress: bool = False
    group: int = 0
    divides: Sequence[bool] = ()  #: may a side of a join be joined in parts?
    external: bool = False  #: all ranges are merged in files
    locales: tuple[tuple[int, str], ...] = field(default_factory=_locales)
    keys: int | None = None  #: of a grouping: their number; None: this is no grouping
    separator: bytes = b""  #: of a grouping: the byte between fields of lines
    ranges: int = 0
    headers: tuple[bytes, ...] = (b"", b"")  #: of each side
    folder: str = ""  #: of the parts, until all are complete
    splitters: tuple[bytes, ...] = ()  #: of a sort

    @property
    def joins(self) -> bool:
        return len(self.inputs) > 1

    @property
    def groups(self) -> bool:
        return self.keys is not None

    def options(self, args: Sequence[str], kind: Any = Options, share: int = 1) -> Any:
        """With a share of the task's memory, one thread, and the driver's locale."""
        for category, name in self.locales:
            if locale.setlocale(category) != name:
                locale.setlocale(category, name)
        tmpdir = ["-T", self.tmpdir] if self.tmpdir else []
        return kind([*args, *tmpdir, "-S", f"{self.memory_bytes // share}b", "--parallel", "1"])

    def pieces(self, side: int = 0, share: int = 1) -> Options:
        return self.options(self.piece_args[side], share=share)

    def files(self, side: int = 0) -> Options:
        """Of the inputs, with their headers."""
        return self.options([*self.piece_args[side], *self.header_args])


@dataclass(frozen=True)
class Piece:
    """Bytes lo to hi of an input, moved to borders of records by who reads them."""

    path: str
    base: int  #: where the records begin, after the header
    lo: int
    hi: int
    seen: Seen  #: the file
    side: int = 0  #: of a join
    position: int = 0  #: of lo among all bytes of its side


@dataclass(frozen=True)
class Machine:
    """What the cluster has."""

    nodes: tuple[str, ...]
    cpus: int
    store_bytes: int  #: the object stores of all nodes
    store_of_node: int  #: the smallest where tasks run


@dataclass(frozen=True)
class Plan:
    work: Work
    machine: Machine
    pieces: tuple[Piece, ...]
    bytes: tuple[int, ...]  #: the records of each side
    group: int  #: maps whose blocks are merged on their node; 1: none
    range_bytes: int  #: a range with more is merged in files
    whole: int | None = None  #: the side of a join that every task reads as a whole

    @property
    def total_memory_bytes(self) -> int:
        """Tasks x -S and the object stores."""
        return self.machine.cpus * self.work.memory_bytes + self.machine.store_bytes

    @property
    def slices(self) -> list[tuple[int, int]]:
        """The ranges that a map's blocks cover: each its own, or, to be merged, several."""
        ranges = self.work.ranges
        n = min(self.group, ranges) if self.group > 1 else ranges
        ends = [i * ranges // n for i in range(n + 1)]
        return list(zip(ends, ends[1:]))

    def shares(self) -> list[list[Piece]]:
        """Pieces of the other side for each task that reads one side as a whole."""
        found: list[list[Piece]] = [[] for _ in range(self.work.ranges)]
        at = 0
        for piece in (p for p in self.pieces if p.side != self.whole):
            found[at * len(found) // self.bytes[piece.side]].append(piece)
            at += piece.hi - piece.lo
        return found

    def __str__(self) -> str:
        m, pieces, ranges = self.machine, len(self.pieces), self.work.ranges
        lines = [
            f"nodes {len(m.nodes)}, tasks at once {m.cpus}, memory {m.cpus} x "
            f"{size(self.work.memory_bytes)} + object store {size(m.store_bytes)} = "
            f"{size(self.total_memory_bytes)}",
            f"input {size(sum(self.bytes))} in {pieces} pieces, {ranges} ranges of about "
            f"{size(sum(self.bytes) / ranges)}",
        ]
        blocks, merged = pieces * ranges, math.ceil(pieces / self.group) * ranges
        if self.work.groups:
            lines.append(f"at most {blocks} blocks of partial totals")
        elif self.whole is not None:
            lines.append(f"each task reads all of side {self.whole + 1}, and a share of the other")
        else:
            lines += [
                f"blocks {blocks} of about {size(sum(self.bytes) / max(1, blocks))}"
                + (f", merged on their nodes into {merged}" if self.group > 1 else ""),
                f"a range above {size(self.range_bytes)} is merged in files",
            ]
        return "\n".join(lines)


def size(n: float) -> str:
    """Bytes for people, in powers of 1024."""
    power = min(max(int(n).bit_length() - 1, 0) // 10, 3)
    return f"{n / 1024**power:.{1 if power else 0}f} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def _ended(data: bytes, options: Options) -> bytes:
    """With a terminator for the last record."""
    eol = bytes([options.info.eol])
    return data if options.info.kind == FIXED or not data or data.endswith(eol) else data + eol


def header_of(f: BinaryIO, options: Options) -> bytes:
    """The records of a file, not empty, that are its header, each whole."""
    if not options.info.header_records:
        return b""
    with mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m, memoryview(m) as view:
        header = _ended(bytes(view[: options.head(view, options.info.header_records)]), options)
    tally(header, options)
    return header.removeprefix(MARK) if options.info.kind == CSV else header


def ends_of(path: str, file: Seen, options: Options, headed: bool) -> tuple[bytes, bytes, int]:
    """The byte order mark of a file, its header, if it is to have one, and the bytes that its last
    record lacks."""
    if not file.size:
        return b"", b"", 0
    with seen.opened(path, file) as fd, open(fd, "rb", closefd=False) as f:
        mark = MARK if options.info.kind == CSV and f.read(len(MARK)) == MARK else b""
        header = header_of(f, options) if headed else b""
        f.seek(-1, os.SEEK_END)
        return mark, header, len(_ended(f.read(1), options)) - 1


def names_of(header: bytes, options: Options) -> list[list[str]]:
    """The names of columns in the records of a header, without quotes and carriage returns."""
    info, text = options.info, header.decode("latin-1")
    if info.kind != CSV:
        return [[line.removesuffix("\r")] for line in text.split(chr(info.eol))]
    csv.field_size_limit(max(len(text), csv.field_size_limit()))
    separator = info.format.separator.decode("latin-1")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


def shown(name: str | None) -> str:
    return "none" if name is None else f"'{name.encode('latin-1').decode(errors='replace')}'"


def same_names(first: str, header: bytes, path: str, own: bytes, options: Options) -> None:
    if own == header:
        return
    pairs = itertools.zip_longest(*(names_of(h, options) for h in (own, header)), fillvalue=[])
    for mine, its in pairs:
        for number, (a, b) in enumerate(itertools.zip_longest(mine, its), 1):
            if a != b:
                where = f": column {number} is {shown(a)}, not {shown(b)}"
                where = where if options.info.kind == CSV else ""
                raise ValueError(f"{path}: its header differs from that of {first}{where}")



def pieces_of(work: Work, side: int, piece_bytes: int):
    """The pieces of files, the bytes of their records, and what these begin with: the byte order
    mark of the first, and a header."""
    inputs, options = work.inputs[side], work.files(side)
    pieces, total, before, fixed = [], 0, 0, options.info.fixed_bytes
    first, header = b"", b""
    for i, path in enumerate(inputs):
        file = work.seen[path]
        length, headed = file.size, i == 0 or not options.info.header_first
        mark, own, lacking = ends_of(path, file, options, headed)
        if i == 0:
            first, header = mark, own
        elif headed:
            same_names(inputs[0], header, path, own, options)
        base = len(mark) + len(own)
        if fixed and (length - base) % fixed:
            raise ValueError(f"{path}: length is not a multiple of the record size {fixed}")
        step = max(piece_bytes - piece_bytes % fixed, fixed) if fixed else piece_bytes
        # Where a record of CSV begins is only known from the beginning of the file.
        step = max(length, 1) if options.info.kind == CSV else step
        pieces += [
            Piece(path, base, lo, min(lo + step, length), file, side, before + lo)
            for lo in range(base, length, step)
        ]
        total += length - base + lacking if base < length else 0
        before += length
    return pieces, total, first + header


def make(work: Work, machine: Machine) -> Plan:
    whole = whole_side(work.inputs, work.divides, work.memory_bytes, max(machine.cpus, work.ranges))
    piece_bytes = max(work.memory_bytes // PIECE_SHARE, 1)
    if whole is not None:
        piece_bytes = min(piece_bytes, WHOLE_PIECE)
    cut = [pieces_of(work, side, piece_bytes) for side in range(len(work.inputs))]
    pieces, bytes_, headers = ([side[i] for side in cut] for i in range(3))
    tasks_of_node = max(1, machine.cpus // len(machine.nodes))
    most = max(machine.store_of_node / STORE_SHARE / tasks_of_node, 1)
    least, share = (2, most) if whole is None else (1, WHOLE_ROUND * work.memory_bytes)
    rounds = math.ceil(sum(bytes_) / share / machine.cpus)
    ranges = work.ranges or max(least, rounds) * machine.cpus
    ranges = 1 if work.keys == 0 else ranges
    group = work.group or group_of(len(sum(pieces, [])), ranges, piece_bytes)
    return Plan(
        work=replace(work, ranges=ranges, headers=tuple(headers)),
        machine=machine,
        pieces=tuple(sum(pieces, [])),
        bytes=tuple(bytes_),
        group=1 if work.joins or work.groups else group,
        range_bytes=math.ceil(UNEVEN * most),
        whole=whole,
    )


def whole_side(
    sides: Sequence[Sequence[str]], divides: Sequence[bool], memory: int, tasks: int
) -> int | None:
    """The smaller side of a join if reading it in every task is less than moving both."""
    if not any(divides):
        return None
    bytes_ = [sum(map(os.path.getsize, paths)) for paths in sides]
    small = bytes_.index(min(bytes_))
    fits = bytes_[small] <= min(WHOLE_SHARE * memory, bytes_[1 - small] / tasks)
    return small if fits and divides[1 - small] else None


def group_of(pieces: int, ranges: int, piece_bytes: int) -> int:
    """Maps to merge on a node, so that blocks are large enough; 1 where that does not pay."""
    few = pieces <= FAN_IN or (piece_bytes // ranges >= BLOCK_BYTES and pieces * ranges <= BLOCKS)
    if few:
        return 1
    large = math.ceil(BLOCK_BYTES * ranges / piece_bytes)
    return max(2, min(max(large, math.isqrt(ranges)), ranges, pieces // 2))
