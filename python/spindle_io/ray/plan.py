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

from spindle_io import Options

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

    @property
    def tasks_of_node(self) -> int:
        return max(1, self.cpus // max(1, len(self.nodes)))


@dataclass(frozen=True)
class Plan:
    pieces: tuple[Piece, ...]
    ranges: int
    group: int  #: maps whose blocks are merged on their node; 1: none
    memory_bytes: int  #: of one task
    range_bytes: int  #: a range with more is merged in files
    machine: Machine
    headers: tuple[bytes, ...] = ()  #: of each side
    input_bytes: int = 0

    @property
    def groups(self) -> list[tuple[Piece, ...]]:
        g = self.group
        return [self.pieces[i : i + g] for i in range(0, len(self.pieces), g)]

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

    def lines(self) -> list[str]:
        m = self.machine
        blocks = len(self.pieces) * self.ranges
        block = self.input_bytes // max(1, blocks)
        merged = len(self.groups) * self.ranges
        return [
            f"nodes {len(m.nodes)}, tasks at once {m.cpus}, memory {m.cpus} x "
            f"{size(self.memory_bytes)} + object store {size(m.store_bytes)} = "
            f"{size(self.total_memory_bytes)}",
            f"input {size(self.input_bytes)} in {len(self.pieces)} pieces, {self.ranges} ranges of"
            f" about {size(self.input_bytes // self.ranges)}",
            f"blocks {blocks} of about {size(block)}"
            + (f", merged on their nodes into {merged}" if self.group > 1 else ""),
            f"a range above {size(self.range_bytes)} is merged in files",
        ]


def size(n: float) -> str:
    """Bytes for people, in powers of 1024."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024 or unit == "GiB":
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1024
    return ""


def header_bytes(path: str, options: Options) -> bytes:
    """The records of a file that are its header."""
    records, data, wanted = options.info.header_records, b"", 1 << 16
    with open(path, "rb") as f:
        while records:
            more = f.read(wanted)
            data += more
            n = options.head(data, records)
            if n < len(data) or not more:
                return data[:n]
            wanted *= 2
    return b""


def pieces_of(inputs: Sequence[str], options: Options, piece_bytes: int, side: int = 0):
    """The pieces of files, and the header that these begin with."""
    pieces, header = [], b""
    for i, path in enumerate(inputs):
        length, base = os.stat(path).st_size, 0
        if i == 0 or not options.info.header_first:
            own = header_bytes(path, options)
            if i and own != header:
                raise ValueError(f"{path}: its header differs from that of {inputs[0]}")
            header, base = own, len(own)
        pieces += _cut(path, base, length, options, piece_bytes, side)
    return pieces, header


def _cut(path: str, base: int, length: int, options: Options, piece_bytes: int, side: int):
    fixed = options.info.fixed_bytes
    if fixed and (length - base) % fixed:
        raise ValueError(f"{path}: length is not a multiple of the record size {fixed}")
    step = piece_bytes - piece_bytes % fixed if fixed else piece_bytes
    # Where a record of CSV begins can only be told from the beginning of the file.
    step = length if options.info.kind == CSV else max(step, fixed, 1)
    return [
        Piece(path, base, lo, min(lo + step, length), length, side)
        for lo in range(base, length, max(step, 1))
    ]


def make(
    sides: Sequence[tuple[Sequence[str], Options]],
    ranges: int,
    memory: int,
    machine: Machine,
    group: int | None = None,
) -> Plan:
    """The plan for the inputs of one sort, or of both sides of a join."""
    piece_bytes, pieces, headers = max(memory // PIECE_SHARE, 1), [], []
    for side, (inputs, options) in enumerate(sides):
        more, header = pieces_of(inputs, options, piece_bytes, side)
        pieces += more
        headers.append(header)
    total = sum(p.hi - p.lo for p in pieces)
    most = max(machine.store_of_node / STORE_SHARE / machine.tasks_of_node, 1)
    if not ranges:
        rounds = max(2, math.ceil(total / most / machine.cpus))
        ranges = rounds * machine.cpus
    return Plan(
        pieces=tuple(pieces),
        ranges=ranges,
        group=group if group else group_of(len(pieces), ranges, piece_bytes, len(sides)),
        memory_bytes=memory,
        range_bytes=math.ceil(UNEVEN * most),
        machine=machine,
        headers=tuple(headers),
        input_bytes=total,
    )


def group_of(pieces: int, ranges: int, piece_bytes: int, sides: int = 1) -> int:
    """Maps to merge on a node, so that blocks are large enough; 1 where that does not pay."""
    few = pieces <= FAN_IN or (piece_bytes // ranges >= BLOCK_BYTES and pieces * ranges <= BLOCKS)
    if sides > 1 or few:
        return 1
    large = math.ceil(BLOCK_BYTES * ranges / piece_bytes)
    return max(2, min(max(large, math.isqrt(ranges)), ranges, pieces // 2))
