# SPDX-License-Identifier: MIT
"""The driver: starts the tasks of each stage, proves the result, and reports."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Callable

import ray
import ray.exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import spindle_io
from spindle_io import SpindleError, Tally
from spindle_io._lib import EBALANCE

from . import files, plan, seen, tasks
from .plan import Machine, Work
from .seen import Seen
from .tasks import Done

#: Functions are sent once, not with each task.
remote = functools.lru_cache(None)(ray.remote)
#: What a machine may have failed at; what the data or the options are to blame for, it did not.
TRANSIENT = [RuntimeError, MemoryError, ConnectionError]
ATTEMPTS = 3


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


def look_at_nodes(
    nodes: Iterable[str], inputs: Mapping[str, Seen], folders: Mapping[str, str]
) -> None:
    """Every machine has this version of the package, can read the inputs, which are those that were
    seen, and write to the folders: what a message calls them, and where they are."""

    # A function within a function travels as code: the machine need not have this package.
    def look(version: str, inputs: dict[str, tuple], folders: Mapping[str, str]) -> str | None:
        import tempfile

        try:
            import spindle_io as own
        except ImportError as e:
            return f"no spindle-io there: {e}"
        if own.__version__ != version:
            return f"spindle-io there is {own.__version__}, not {version}"
        from spindle_io.ray import seen

        try:
            for name, file in inputs.items():
                with seen.opened(name, seen.Seen(*file)):
                    pass
            for name, folder in folders.items():
                tempfile.TemporaryFile(dir=folder).close()
        except OSError as e:
            return f"{name}: {e.strerror} there"
        except own.SpindleError as e:
            return str(e)
        return None

    def begin(node: str) -> Any:
        there = NodeAffinitySchedulingStrategy(node, soft=False)
        task = ray.remote(look).options(num_cpus=0, scheduling_strategy=there)
        plain = {name: tuple(file) for name, file in inputs.items()}
        return task.remote(spindle_io.__version__, plain, folders)

    for node, ref in [(node, begin(node)) for node in nodes]:
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

    def __init__(self, work: Work, stages: Any = tasks):
        self.work, self.stages, self.plan = work, stages, plan.make(work, machine())
        self._stages: list[dict[str, Any]] = []
        self._began = time.monotonic()

    def run(self) -> dict[str, Any]:
        """Does all of it and returns the report, of schema spindle.ray/1."""
        w = self.plan.work
        files.check(w.output, w.overwrite)
        with files.folder(w.output, w.overwrite) as folder:
            folders = {w.output: folder, **({w.tmpdir: w.tmpdir} if w.tmpdir else {})}
            look_at_nodes(self.plan.machine.nodes, w.seen, folders)
            self.work = replace(w, folder=folder)
            read, last = (
                self._join() if w.joins else self._group() if w.groups else self._sort()
            )
            for found, want in zip(read, self.plan.bytes):
                _same("the first stage", found._replace(bytes=want), found)
            files.complete(folder, [d.part.copied() if w.copies else d.part for d in last])
            for path, file in w.seen.items():
                with seen.opened(path, file):  # it is still the same
                    pass
        return self._report(sum(read, Tally()), last)

    def _task(self, function: Callable[..., Any], group: int = 0, returns: int = 1) -> Any:
        """What belongs to a group runs on its node, while that is there."""
        nodes = self.plan.machine.nodes
        near = NodeAffinitySchedulingStrategy(nodes[group % len(nodes)], soft=True)
        return remote(function).options(
            num_cpus=1,
            num_returns=returns,
            max_retries=ATTEMPTS,
            retry_exceptions=TRANSIENT,
            scheduling_strategy=near if returns > 1 and self.plan.group > 1 else "SPREAD",
        )

    def _await(self, stage: str, refs: Sequence[Any]) -> list[Any]:
        """The results of a stage, as they come; its figures go to the report."""
        began, left, done = time.monotonic(), list(refs), {}
        while left:
            ready, left = ray.wait(left, num_returns=1, timeout=1)
            done.update(zip(ready, ray.get(ready)))
            if self.work.progress:
                end = "\r" if left else "\n"
                said = f"\r{stage}: {len(done)} of {len(refs)} tasks"
                print(said, end=end, file=sys.stderr, flush=True)
        results = [done[ref] for ref in refs]
        sizes = [sum(r.sizes) if isinstance(r, Done) else sum(map(len, r)) for r in results]
        self._stages.append(
            {
                "stage": stage,
                "tasks": len(refs),
                "elapsed_s": time.monotonic() - began,
                "bytes": sum(sizes),
                "skew": max(sizes) * len(sizes) / sum(sizes) if any(sizes) else 1.0,
            }
        )
        return results

    def _map(self, work: Work) -> tuple[list[list[Any]], list[Done]]:
        """Blocks of each piece, and what map did."""
        blocks, reports, shared = [], [], ray.put(work)
        for number, piece in enumerate(self.plan.pieces):
            group, returns = number // self.plan.group, len(self.plan.slices) + 1
            task = self._task(self.stages.map_piece, group, returns)
            *made, done = task.remote(piece, shared)
            blocks.append(made)
            reports.append(done)
        return blocks, self._await("map", reports)

    def _merge(self, blocks: list[list[Any]]) -> tuple[list[list[Any]], list[Done]]:
        """Merges the slices of each group on its node: blocks for each range."""
        groups, reports, size, shared = [], [], self.plan.group, ray.put(self.work)
        for number in range(0, len(blocks), size):
            groups.append([])
            for i, (first, last) in enumerate(self.plan.slices):
                task = self._task(self.stages.merge_blocks, number // size, last - first + 1)
                own = [b[i] for b in blocks[number : number + size]]
                *made, done = task.remote(shared, first, last, *own)
                groups[-1] += made
                reports.append(done)
        blocks.clear()
        return groups, self._await("merge", reports)

    def _last(
        self, stage: str, blocks: list[list[Any]], sizes: Sequence[Sequence[int]], lefts: int
    ) -> list[Done]:
        """A part of each range, whose blocks have these sizes.  Those of a range that is too large
        go as lists, to be fetched one after the other."""
        task, shared, refs = self._task(self.stages.reduce_range), ray.put(self.work), []
        for r in range(self.work.ranges):
            own = [b[r] for b in blocks]
            sides = [sum(s[r] for s in side) for side in (sizes[:lefts], sizes[lefts:])]
            if self.work.external or sum(sides) > self.plan.range_bytes:
                refs.append(task.remote(r, shared, sides, 1, own[:lefts], own[lefts:]))
            else:
                refs.append(task.remote(r, shared, sides, lefts, *own))
        blocks.clear()
        return self._await(stage, refs)

    def _sort(self) -> tuple[list[Tally], list[Done]]:
        splitters: list[bytes] = []
        if self.work.ranges > 1 and self.plan.pieces:
            sampling = self._task(self.stages.sample).remote(self.work)
            splitters = self._await("sample", [sampling])[0]
        self.work = replace(self.work, splitters=tuple(splitters), ranges=len(splitters) + 1)
        self.plan = replace(self.plan, work=self.work)
        slices = self.plan.slices
        coarse = tuple(splitters[first - 1] for first, _ in slices[1:])
        blocks, mapped = self._map(replace(self.work, splitters=coarse))
        last, sizes = mapped, [m.sizes for m in mapped]
        if self.plan.group > 1:
            blocks, last = self._merge(blocks)
            _same("merge", given_by(mapped), read_by(last))
            sizes = [
                sum((m.sizes for m in last[i : i + len(slices)]), ())
                for i in range(0, len(last), len(slices))
            ]
        reduced = self._last("reduce", blocks, sizes, len(blocks))
        _same("reduce", given_by(last), read_by(reduced))
        # What is not given on, -u has dropped.
        if not self.work.files().info.unique and not self.work.external:
            _same("the result", read_by(mapped), given_by(reduced))
        return [read_by(mapped)], reduced

    def _group(self) -> tuple[list[Tally], list[Done]]:
        splitters: list[bytes] = []
        if self.work.ranges > 1 and self.plan.pieces:
            sampling = self._task(self.stages.sample).remote(self.work, self.plan.pieces)
            splitters = self._await("sample", [sampling])[0]
        self.work = replace(self.work, splitters=tuple(splitters), ranges=len(splitters) + 1)
        self.plan = replace(self.plan, work=self.work)
        blocks, mapped = self._map(self.work)
        grouped = self._last("group", blocks, [m.sizes for m in mapped], len(blocks))
        _same("group", given_by(mapped), read_by(grouped))
        kept = [sum(d.grouped for d in done) for done in (mapped, grouped)]
        _same("the result", *map(Tally, kept))
        return [read_by(mapped)], grouped

    def _join(self) -> tuple[list[Tally], list[Done]]:
        if self.plan.whole is not None:
            return self._join_whole(self.plan.whole)
        blocks, mapped = self._map(self.work)
        lefts = sum(p.side == 0 for p in self.plan.pieces)  # which come first
        joined = self._last("join", blocks, [m.sizes for m in mapped], lefts)
        read = [given_by(mapped[:lefts]), given_by(mapped[lefts:])]
        for side in (0, 1):
            _same(f"join, file {side + 1}", read[side], read_by(joined, side))
        return read, joined

    def _join_whole(self, whole: int) -> tuple[list[Tally], list[Done]]:
        """Each task joins a share of one side with all of the other: nothing is moved."""
        task, shared, refs = self._task(self.stages.reduce_range), ray.put(self.work), []
        all_ = [p for p in self.plan.pieces if p.side == whole]
        for r, share in enumerate(self.plan.shares()):
            own = (share, all_) if whole else (all_, share)
            sizes = [sum(p.hi - p.lo for p in pieces) for pieces in own]
            refs.append(task.remote(r, shared, sizes, 1, *own))
        joined = self._await("join", refs)
        for done in joined:
            _same(f"join, file {whole + 1}", joined[0].read[whole], done.read[whole])
        read = [read_by(joined, side) for side in (0, 1)]
        read[whole] = joined[0].read[whole]
        return read, joined

    def _report(self, read: Tally, last: Sequence[Done]) -> dict[str, Any]:
        p, m, given = self.plan, self.plan.machine, given_by(last)
        tool = "join" if self.work.joins else "group" if self.work.groups else "sort"
        result = {
            "input_records": read.records,
            "input_bytes": read.bytes,
            "records": given.records,
            "output_bytes": sum(sum(done.sizes) for done in last),
        }
        if tool == "sort":
            result["hash"] = f"{given.sum:016x}"
            result["ranges_in_files"] = sum(done.external for done in last)
        return {
            "schema": "spindle.ray/1",
            "tool": f"spindle-ray {tool}",
            "version": spindle_io.__version__,
            "config": {
                "nodes": len(m.nodes),
                "tasks": m.cpus,
                "task_memory_bytes": p.work.memory_bytes,
                "object_store_bytes": m.store_bytes,
                "total_memory_bytes": p.total_memory_bytes,
                "splits": len(p.pieces),
                "ranges": p.work.ranges,
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
