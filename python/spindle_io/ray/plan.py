# SPDX-License-Identifier: MIT
"""What is to be done, computed from sizes before any task runs.

The inputs are cut into M pieces that one task can sort in its memory, and the result into R
ranges, by splitters.  Map gives M x R blocks.  Where these would be many and small, the maps of a
group of G, which run on one node, cut their pieces into G slices only; the slices of a group are
merged there, and then cut into ranges.  That makes M x G slices and M / G x R larger blocks.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

from spindle_io import Options, tally

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
LINE, CSV, FIXED = range(3)


@dataclass(frozen=True)
class Piece:
    """Bytes lo to hi of an input, moved to borders of records by who reads them."""

    path: str
    base: int  #: where the records begin, after the header
    lo: int
    hi: int
    size: int  #: of the file
    side: int = 0  #: of a join


@dataclass(frozen=True)
class Machine:
    """What the cluster has."""

    nodes: tuple[str, ...]
    cpus: int
    store_bytes: int  #: the object stores of all nodes
    store_of_node: int  #: the smallest where tasks run


@dataclass(frozen=True)
class Plan:
    pieces: tuple[Piece, ...]
    ranges: int
    group: int  #: maps whose blocks are merged on their node; 1: none
    memory_bytes: int  #: of one task
    range_bytes: int  #: a range with more is merged in files
    machine: Machine
    headers: tuple[bytes, ...] = ()  #: of each side
    whole: int | None = None  #: the side of a join that every task reads as a whole

    @property
    def input_bytes(self) -> int:
        return sum(p.hi - p.lo for p in self.pieces)

    @property
    def total_memory_bytes(self) -> int:
        """Tasks x -S and the object stores."""
        return self.machine.cpus * self.memory_bytes + self.machine.store_bytes

    @property
    def slices(self) -> list[tuple[int, int]]:
        """The ranges that a map's blocks cover: each its own, or, to be merged, several."""
        n = min(self.group, self.ranges) if self.group > 1 else self.ranges
        ends = [i * self.ranges // n for i in range(n + 1)]
        return list(zip(ends, ends[1:]))

    def __str__(self) -> str:
        m, bytes_, blocks = self.machine, self.input_bytes, len(self.pieces) * self.ranges
        lines = [
            f"nodes {len(m.nodes)}, tasks at once {m.cpus}, memory {m.cpus} x "
            f"{size(self.memory_bytes)} + object store {size(m.store_bytes)} = "
            f"{size(self.total_memory_bytes)}",
            f"input {size(bytes_)} in {len(self.pieces)} pieces, {self.ranges} ranges of about "
            f"{size(bytes_ / self.ranges)}",
        ]
        if self.whole is not None:
            lines.append(f"each task reads all of side {self.whole + 1}, and a share of the other")
        else:
            merged = math.ceil(len(self.pieces) / self.group) * self.ranges
            lines += [
                f"blocks {blocks} of about {size(bytes_ / max(1, blocks))}"
                + (f", merged on their nodes into {merged}" if self.group > 1 else ""),
                f"a range above {size(self.range_bytes)} is merged in files",
            ]
        return "\n".join(lines)


def size(n: float) -> str:
    """Bytes for people, in powers of 1024."""
    power = min(max(int(n).bit_length() - 1, 0) // 10, 3)
    return f"{n / 1024**power:.{1 if power else 0}f} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def header_of(path: str, options: Options) -> bytes:
    """The records of a file that are its header."""
    records, data = options.info.header_records, b""
    with open(path, "rb") as f:
        while records:
            more = f.read(1 << 16)
            data += more
            n = options.head(data, records)
            if n < len(data):
                return data[:n]
            if not more:  # it has no other records, and the last one may lack its terminator
                eol = bytes([options.info.eol])
                data += b"" if not data or data.endswith(eol) else eol
                tally(data, options)
                return data
    return data


def pieces_of(inputs: Sequence[str], options: Options, piece_bytes: int, side: int = 0):
    """The pieces of files, and the header that these begin with."""
    pieces, header, fixed = [], b"", options.info.fixed_bytes
    for i, path in enumerate(inputs):
        length, base = os.stat(path).st_size, 0
        if i == 0 or not options.info.header_first:
            own = header_of(path, options)
            if i and own != header:
                raise ValueError(f"{path}: its header differs from that of {inputs[0]}")
            header, base = own, len(own)
        if fixed and (length - base) % fixed:
            raise ValueError(f"{path}: length is not a multiple of the record size {fixed}")
        step = max(piece_bytes - piece_bytes % fixed, fixed) if fixed else piece_bytes
        # Where a record of CSV begins can only be told from the beginning of the file.
        step = max(length, 1) if options.info.kind == CSV else step
        pieces += [
            Piece(path, base, lo, min(lo + step, length), length, side)
            for lo in range(base, length, step)
        ]
    return pieces, header


def open_end(piece: Piece, options: Options) -> bool:
    """The last record of a piece lacks a terminator, and will get one."""
    if options.info.kind == FIXED or piece.hi < piece.size:
        return False
    with open(piece.path, "rb") as f:
        f.seek(piece.size - 1)
        return f.read(1) != bytes([options.info.eol])


def make(
    sides: Sequence[tuple[Sequence[str], Options]],
    ranges: int,
    memory: int,
    machine: Machine,
    group: int = 0,
    divides: Sequence[bool] = (),
) -> Plan:
    """The plan for the inputs of one sort, or of both sides of a join, which may be divided."""
    whole = whole_side([inputs for inputs, _ in sides], divides, memory, max(machine.cpus, ranges))
    piece_bytes = max(memory // PIECE_SHARE, 1)
    if whole is not None:
        piece_bytes = min(piece_bytes, WHOLE_PIECE)
    cut = [pieces_of(*inputs, piece_bytes, side) for side, inputs in enumerate(sides)]
    pieces = [p for of_side, _ in cut for p in of_side]
    tasks_of_node = max(1, machine.cpus // max(1, len(machine.nodes)))
    most = max(machine.store_of_node / STORE_SHARE / tasks_of_node, 1)
    least, share = (2, most) if whole is None else (1, WHOLE_ROUND * memory)
    rounds = math.ceil(sum(p.hi - p.lo for p in pieces) / share / machine.cpus)
    ranges = ranges or max(least, rounds) * machine.cpus
    return Plan(
        pieces=tuple(pieces),
        ranges=ranges,
        group=1 if len(sides) > 1 else group or group_of(len(pieces), ranges, piece_bytes),
        memory_bytes=memory,
        range_bytes=math.ceil(UNEVEN * most),
        machine=machine,
        headers=tuple(header for _, header in cut),
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
