# SPDX-License-Identifier: MIT
"""A simulation of spindle-ray's plan: when is it worth while to merge blocks on their node?

    twostage.py          prints the tables of scaling.md

All nodes are alike, so one is simulated, and the driver at the share that one node uses of it.
A node has processors, a disk and a network card; each serves one request after the other, a
processor one task.  A map task reads its piece, sorts it and spills its blocks (one sequential
write), and the driver notes them.  A reduce task fetches its blocks, each from where it was spilled
(a positioning and a transfer, on the disks of all nodes alike: so as many on this one), merges and
writes them.  With groups of G maps, a map gives G slices, and merge tasks make larger blocks of
those of a group before they are spilled.  What the object store holds is not spilled.
"""

from __future__ import annotations

import heapq
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

MB, GB, TB = 10**6, 10**9, 10**12


@dataclass(frozen=True)
class Node:
    name: str = "NVMe"
    cpus: int = 16
    store: float = 40 * GB
    disk: float = 2 * GB  #: bytes per second, reading or writing
    position: float = 0.1e-3  #: seconds before each read of a block
    network: float = 1.5 * GB  #: in one direction
    sort: float = 400 * MB  #: of one processor
    merge: float = 600 * MB


#: Seconds of the driver, and its bytes, for each block that it keeps account of.
NOTE_S, NOTE_BYTES = 25e-6, 600


class Server:
    """Serves one request after the other."""

    def __init__(self) -> None:
        self.free = self.busy = 0.0

    def serve(self, at: float, seconds: float) -> float:
        self.free = max(self.free, at) + seconds
        self.busy += seconds
        return self.free


@dataclass(frozen=True)
class Case:
    bytes: float
    nodes: int
    node: Node
    piece: float = 2 * GB
    part: float = 2 * GB
    group: int = 1

    @property
    def maps(self) -> int:
        return max(self.nodes, math.ceil(self.bytes / self.piece))

    @property
    def ranges(self) -> int:
        return max(self.nodes, math.ceil(self.bytes / self.part))

    @property
    def blocks(self) -> int:
        """Those that reduce fetches."""
        return math.ceil(self.maps / self.group) * self.ranges

    @property
    def block(self) -> float:
        return self.bytes / self.blocks

    @property
    def noted(self) -> int:
        """Blocks and slices that the driver keeps account of."""
        return self.blocks + (self.maps * self.group if self.group > 1 else 0)


def stage(tasks: int, cpus: int, start: float, run) -> float:
    """Runs tasks on processors; run(at) is when a task that starts then ends."""
    free = [start] * cpus
    end = start
    for _ in range(tasks):
        at = run(heapq.heappop(free))
        end = max(end, at)
        heapq.heappush(free, at)
    return end


def simulate(case: Case) -> dict[str, float]:
    n, disk, card, driver = case.node, Server(), Server(), Server()
    own = case.bytes / case.nodes
    spilled = max(0.0, 1 - n.store / own)  # the share of blocks that the store does not hold
    piece, part = case.bytes / case.maps, case.bytes / case.ranges
    maps, ranges = math.ceil(case.maps / case.nodes), math.ceil(case.ranges / case.nodes)
    remote = 1 - 1 / case.nodes

    def map_task(at: float) -> float:
        at = disk.serve(at, piece / n.disk) + piece / n.sort
        # The driver notes what the maps of all nodes give.
        driver.serve(at, case.nodes * case.noted / case.maps * NOTE_S)
        if case.group > 1:  # merged in memory, then spilled
            at += piece / n.merge
        return disk.serve(at, spilled * piece / n.disk)

    def reduce_task(at: float) -> float:
        each = case.blocks / case.ranges
        fetched = disk.serve(at, spilled * (each * n.position + part / n.disk))
        fetched = max(fetched, card.serve(at, remote * part / n.network))
        return disk.serve(fetched + part / n.merge, part / n.disk)

    mapped = max(stage(maps, n.cpus, 0.0, map_task), driver.free)
    end = stage(ranges, n.cpus, mapped, reduce_task)
    return {"seconds": end, "map": mapped, "disk": disk.busy, "driver": driver.busy}


def best_group(case: Case) -> Case:
    """The group with which the simulation is fastest."""
    groups = [2**i for i in range(12) if 2**i <= max(1, case.maps // case.nodes)]
    return min(
        (replace(case, group=g) for g in groups), key=lambda c: simulate(c)["seconds"], default=case
    )


def table(node: Node, sizes, nodes) -> None:
    print(f"\n{node.name}: {node.disk / GB:g} GB/s, {node.position * 1e3:g} ms\n")
    print(
        "| data | nodes | M | R | blocks | block | per node | driver | two stages "
        "| merged, G, driver |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for size in sizes:
        for count in nodes:
            case = Case(size * TB, count, node)
            merged = best_group(case)
            one = simulate(case)["seconds"]
            two = simulate(merged)["seconds"]
            note = "-"
            if merged.group > 1:
                memory = merged.noted * NOTE_BYTES / GB
                note = f"{two:,.0f} s, {merged.group}, {memory:,.1f} GB"
            print(
                f"| {size} TB | {count} | {case.maps:,} | {case.ranges:,} | {case.blocks:,} "
                f"| {case.block / 1e3:,.0f} kB | {case.bytes / count / GB:,.0f} GB "
                f"| {case.noted * NOTE_BYTES / GB:,.1f} GB | {one:,.0f} s | {note} |"
            )


if __name__ == "__main__":
    table(Node(), (1, 16, 100), (10, 40, 100))
    table(Node("drive", 16, 40 * GB, 0.2 * GB, 8e-3), (1, 16, 100), (10, 40, 100))
