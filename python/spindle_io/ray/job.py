# SPDX-License-Identifier: MIT
"""The driver: starts the tasks of each stage, proves the result, and reports."""

from __future__ import annotations

import locale
import os
import stat
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Callable

import ray
import ray.exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import spindle_io
from spindle_io import JoinOptions, Options, SpindleError, Tally
from spindle_io._lib import EBALANCE

from . import output, tasks
from . import plan as planning
from .plan import Machine, Piece
from .tasks import Done, Work

#: What a machine may have failed at; what the data or the options are to blame for, it did not.
TRANSIENT = [RuntimeError, MemoryError, ConnectionError]
ATTEMPTS = 3


@dataclass
class Settings:
    """A command, understood."""

    command: str  #: "sort" or "join"
    inputs: Sequence[Sequence[str]]  #: of a sort, or of both sides
    output: str
    piece_words: Sequence[Sequence[str]]  #: for each side
    result_words: Sequence[str]
    memory_bytes: int
    header_words: Sequence[str] = ()
    ranges: int = 0
    group: int = 0
    tmpdir: str | None = None
    overwrite: bool = False
    divides: Sequence[bool] = ()  #: may a side of a join be joined in parts?
    external: bool = False  #: all ranges are merged in files
    progress: Callable[[str, int, int], None] | None = None

    def options(self) -> list[Options]:
        """Of each side."""
        return [Options([*words, *self.header_words]) for words in self.piece_words]

    def check(self) -> None:
        """What can be refused before there is a cluster."""
        self.options()
        (JoinOptions if self.command == "join" else Options)(self.result_words)
        for path in (path for side in self.inputs for path in side):
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise ValueError(f"{path}: not a regular file")
            open(path, "rb").close()
        output.check(self.output, self.overwrite)


def machine() -> Machine:
    """What the cluster has now."""
    alive = [n for n in ray.nodes() if n["Alive"]]
    working = [n for n in alive if n["Resources"].get("CPU")]
    if not working:
        raise ValueError("the cluster has no node with a processor")
    stores = {n["NodeID"]: int(n["Resources"].get("object_store_memory", 0)) for n in alive}
    return Machine(
        nodes=tuple(n["NodeID"] for n in working),
        cpus=max(1, int(sum(n["Resources"]["CPU"] for n in working))),
        store_bytes=sum(stores.values()),
        store_of_node=min(stores[n["NodeID"]] for n in working),
    )


def _locales() -> tasks.Locales:
    """Of letters, their order, decimal points and names of months."""
    categories = (locale.LC_CTYPE, locale.LC_COLLATE, locale.LC_NUMERIC, locale.LC_TIME)
    return tuple((c, locale.setlocale(c)) for c in categories)


def _on(node: str, soft: bool) -> NodeAffinitySchedulingStrategy:
    return NodeAffinitySchedulingStrategy(node, soft=soft)


def look_at_nodes(nodes: Iterable[str], inputs: Sequence[str], folders: dict[str, str]) -> None:
    """Every machine has this version of the package, can read the inputs, and write to the folders:
    what a message calls them, and where they are."""

    # A function within a function travels as code: the machine need not have this package.
    def look(version: str, inputs: Sequence[str], folders: dict[str, str]) -> str | None:
        import tempfile

        try:
            import spindle_io as own
        except ImportError as e:
            return f"no spindle-io there: {e}"
        if own.__version__ != version:
            return f"spindle-io there is {own.__version__}, not {version}"
        try:
            for name in inputs:
                open(name, "rb").close()
            for name, folder in folders.items():
                tempfile.TemporaryFile(dir=folder).close()
        except OSError as e:
            return f"{name}: {e.strerror} there"
        return None

    task = ray.remote(num_cpus=0)(look)
    refs = {
        n: task.options(scheduling_strategy=_on(n, False)).remote(
            spindle_io.__version__, list(inputs), folders
        )
        for n in nodes
    }
    for node, ref in refs.items():
        try:
            reason = ray.get(ref)
        except ray.exceptions.TaskUnschedulableError:
            continue  # the node has gone meanwhile
        if reason:
            raise ValueError(f"node {node[:12]}: {reason}")


class Job:
    """One run on a cluster that ray.init() has connected to.

    stages: has the functions of tasks.py that run there; tests put faulty ones in their place.
    """

    def __init__(self, settings: Settings, stages: Any = tasks):
        self.settings, self.stages = settings, stages
        self.options = settings.options()
        self.plan = planning.make(
            list(zip(settings.inputs, self.options)),
            settings.ranges,
            settings.memory_bytes,
            machine(),
            settings.group,
            settings.divides,
        )
        self._stages: list[dict[str, Any]] = []
        self._began = time.monotonic()

    def _task(self, function: Callable[..., Any], node: str | None = None, returns: int = 1) -> Any:
        return ray.remote(function).options(
            num_cpus=1,
            num_returns=returns,
            max_retries=ATTEMPTS,
            retry_exceptions=TRANSIENT,
            scheduling_strategy=_on(node, True) if node else "SPREAD",
        )

    def _await(self, name: str, refs: Sequence[Any]) -> list[Any]:
        """The results of a stage, as they come; its figures go to the report."""
        began, left, done = time.monotonic(), list(refs), {}
        while left:
            ready, left = ray.wait(left, num_returns=1, timeout=1)
            done.update(zip(ready, ray.get(ready)))
            if self.settings.progress:
                self.settings.progress(name, len(done), len(refs))
        results = [done[ref] for ref in refs]
        sizes = [sum(r.sizes) if isinstance(r, Done) else sum(map(len, r)) for r in results]
        mean = sum(sizes) / max(1, len(sizes))
        self._stages.append(
            {
                "stage": name,
                "tasks": len(refs),
                "elapsed_s": time.monotonic() - began,
                "bytes": sum(sizes),
                "skew": max(sizes) / mean if mean else 1.0,
            }
        )
        return results

    def run(self) -> dict[str, Any]:
        """Does all of it and returns the report, of schema spindle.ray/1."""
        s = self.settings
        output.check(s.output, s.overwrite)
        with output.folder(s.output) as folder:
            folders = {s.output: folder, **({s.tmpdir: s.tmpdir} if s.tmpdir else {})}
            look_at_nodes(self.plan.machine.nodes, [p for i in s.inputs for p in i], folders)
            result = self._join(folder) if s.command == "join" else self._sort(folder)
        return self._report(result)

    def _work(self, folder: str, splitters: Sequence[bytes] = ()) -> Work:
        s = self.settings
        return Work(
            joins=s.command == "join",
            piece_words=tuple(map(tuple, s.piece_words)),
            result_words=tuple(s.result_words),
            ranges=self.plan.ranges,
            splitters=tuple(splitters),
            memory_bytes=s.memory_bytes,
            folder=folder,
            headers=self.plan.headers,
            tmpdir=s.tmpdir,
            locales=_locales(),
        )

    def _sample(self) -> list[bytes]:
        s, parts = self.settings, self.plan.ranges
        if parts < 2 or not self.plan.pieces:
            return []
        words = [*s.piece_words[0], *s.header_words]
        ref = self._task(self.stages.sample).remote(list(s.inputs[0]), parts, words, _locales())
        return self._await("sample", [ref])[0]

    def _map(self, work: Work) -> tuple[list[list[Any]], list[Done]]:
        """Blocks of each piece, and what map did."""
        parts, nodes = len(self.plan.slices), self.plan.machine.nodes
        blocks, told, shared = [], [], ray.put(work)
        for number, piece in enumerate(self.plan.pieces):
            group = self.plan.group
            node = nodes[number // group % len(nodes)] if group > 1 else None
            task = self._task(self.stages.map_piece, node, parts + 1)
            *made, done = task.remote(piece, shared)
            blocks.append(made)
            told.append(done)
        return blocks, self._await("map", told)

    def _merge(self, blocks: list[list[Any]], work: Any) -> tuple[list[list[Any]], list[Done]]:
        """Merges the slices of each group on its node: blocks for each range."""
        groups, told, size = [], [], self.plan.group
        nodes = self.plan.machine.nodes
        for number in range(0, len(blocks), size):
            made, node = [], nodes[number // size % len(nodes)]
            for i, (first, last) in enumerate(self.plan.slices):
                task = self._task(self.stages.merge_blocks, node, last - first + 1)
                own = [b[i] for b in blocks[number : number + size]]
                *out, done = task.remote(work, first, last, *own)
                made += out
                told.append(done)
            groups.append(made)
        blocks.clear()
        return groups, self._await("merge", told)

    def _reduce(
        self, blocks: list[list[Any]], sizes: Sequence[Sequence[int]], work: Any
    ) -> list[Done]:
        """sizes: of each block; a range with too many bytes is merged in files."""
        small, large = self._task(self.stages.reduce_range), self._task(self.stages.reduce_in_files)
        refs = []
        for r in range(self.plan.ranges):
            own = [b[r] for b in blocks]
            if self.settings.external or sum(s[r] for s in sizes) > self.plan.range_bytes:
                refs.append(large.remote(r, work, own))
            else:
                refs.append(small.remote(r, work, *own))
        blocks.clear()
        return self._await("reduce", refs)

    def _sort(self, folder: str) -> dict[str, Any]:
        splitters = self._sample()
        self.plan = replace(self.plan, ranges=len(splitters) + 1)
        work, slices = self._work(folder, splitters), self.plan.slices
        coarse = tuple(splitters[first - 1] for first, _ in slices[1:])
        blocks, mapped = self._map(replace(work, splitters=coarse))
        last, sizes, shared = mapped, [m.sizes for m in mapped], ray.put(work)
        if self.plan.group > 1:
            blocks, last = self._merge(blocks, shared)
            _same("merge", given_by(mapped), read_by(last))
            each = len(slices)
            sizes = [
                [n for m in last[i : i + each] for n in m.sizes] for i in range(0, len(last), each)
            ]
        reduced = self._reduce(blocks, sizes, shared)
        _same("reduce", given_by(last), read_by(reduced))
        result = given_by(reduced)
        # What is not given on, -u has dropped.
        if not self.options[0].info.unique and not self.settings.external:
            _same("the result", read_by(mapped), result)
        return {
            **self._result(folder, read_by(mapped), reduced),
            "hash": f"{result.sum:016x}",
            "ranges_in_files": sum(r.external for r in reduced),
        }

    def _join(self, folder: str) -> dict[str, Any]:
        if self.plan.whole is not None:
            return self._join_whole(folder, self.plan.whole)
        work = self._work(folder)
        blocks, mapped = self._map(work)
        lefts = sum(p.side == 0 for p in self.plan.pieces)  # which come first
        by_side = mapped[:lefts], mapped[lefts:]
        task, shared, refs = self._task(self.stages.join_range), ray.put(work), []
        for r in range(self.plan.ranges):
            sizes = [sum(m.sizes[r] for m in of_side) for of_side in by_side]
            own = [b[r] for b in blocks]
            if sum(sizes) > self.plan.range_bytes:
                refs.append(task.remote(r, shared, sizes, 1, own[:lefts], own[lefts:]))
            else:
                refs.append(task.remote(r, shared, sizes, lefts, *own))
        blocks.clear()
        joined = self._await("join", refs)
        for side, of_side in enumerate(by_side):
            _same(f"join, file {side + 1}", given_by(of_side), read_by(joined, side))
        return self._result(folder, read_by(mapped), joined)

    def _join_whole(self, folder: str, whole: int) -> dict[str, Any]:
        """Each task joins a share of one side with all of the other: nothing is moved."""
        task, shared = self._task(self.stages.join_range), ray.put(self._work(folder))
        sides = [[p for p in self.plan.pieces if p.side == side] for side in (0, 1)]
        bytes_ = [sum(p.hi - p.lo for p in pieces) for pieces in sides]
        shares: list[list[Piece]] = [[] for _ in range(self.plan.ranges)]
        at = 0
        for piece in sides[1 - whole]:
            shares[at * len(shares) // bytes_[1 - whole]].append(piece)
            at += piece.hi - piece.lo
        refs = []
        for r, share in enumerate(shares):
            own = (share, sides[1]) if whole else (sides[0], share)
            sizes = [sum(p.hi - p.lo for p in pieces) for pieces in own]
            refs.append(task.remote(r, shared, sizes, 1, *own))
        joined, read = self._await("join", refs), [Tally(), Tally()]
        read[1 - whole], read[whole] = read_by(joined, 1 - whole), joined[0].read[whole]
        for of_task in joined:
            _same(f"join, file {whole + 1}", read[whole], of_task.read[whole])
        for side, (pieces, options) in enumerate(zip(sides, self.options)):
            want = bytes_[side] + sum(planning.open_end(p, options) for p in pieces)
            if read[side].bytes != want:
                raise SpindleError(
                    EBALANCE,
                    f"records were lost or duplicated before join, file {side + 1}: "
                    f"{want} bytes given, {read[side].bytes} found",
                )
        return self._result(folder, read[0] + read[1], joined)

    def _result(self, folder: str, read: Tally, last: Sequence[Done]) -> dict[str, Any]:
        output.complete(folder, [sum(done.sizes) for done in last])
        return {
            "input_records": read.records,
            "input_bytes": self.plan.input_bytes,
            "records": given_by(last).records,
            "output_bytes": sum(sum(done.sizes) for done in last),
        }

    def _report(self, result: dict[str, Any]) -> dict[str, Any]:
        p, m = self.plan, self.plan.machine
        return {
            "schema": "spindle.ray/1",
            "tool": f"spindle-ray {self.settings.command}",
            "version": spindle_io.__version__,
            "config": {
                "nodes": len(m.nodes),
                "tasks": m.cpus,
                "task_memory_bytes": p.memory_bytes,
                "object_store_bytes": m.store_bytes,
                "total_memory_bytes": p.total_memory_bytes,
                "pieces": len(p.pieces),
                "ranges": p.ranges,
                "group": p.group,
            },
            "result": result,
            "moved_bytes": sum(s["bytes"] for s in self._stages if s["stage"] in ("map", "merge")),
            "elapsed_s": time.monotonic() - self._began,
            "stages": self._stages,
        }


def given_by(done: Iterable[Done]) -> Tally:
    return sum((d.given for d in done), Tally())


def read_by(done: Iterable[Done], side: int = 0) -> Tally:
    return sum((d.read[side] for d in done), Tally())


def _same(stage: str, given: Tally, found: Tally) -> None:
    if given != found:
        raise SpindleError(
            EBALANCE,
            f"records were lost or duplicated before {stage}: "
            f"{given.records} records of {given.bytes} bytes given, "
            f"{found.records} of {found.bytes} found, hashes "
            f"{'equal' if given.sum == found.sum else 'differ'}",
        )


def show_progress(stage: str, done: int, total: int) -> None:
    end = "\n" if done == total else "\r"
    print(f"\r{stage}: {done} of {total} tasks", end=end, file=sys.stderr, flush=True)
