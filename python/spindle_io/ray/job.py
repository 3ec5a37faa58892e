# SPDX-License-Identifier: MIT
"""The driver: starts the tasks of each stage, proves the result, and reports."""

from __future__ import annotations

import dataclasses
import functools
import locale
import os
import stat
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Callable

import ray
import ray.exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

import spindle_io
from spindle_io import JoinOptions, Options, SpindleError, Tally
from spindle_io._lib import EBALANCE

from . import plan as planning
from . import tasks
from .keys import Keys
from .output import Folder
from .plan import Machine
from .tasks import Blocks, Reduced, Side, Work

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
    group: int | None = None
    tmpdir: str | None = None
    overwrite: bool = False
    external: bool = False  #: all ranges are merged in files
    keys: Keys | None = None  #: of a join
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None

    def options(self) -> list[Options]:
        """Of each side."""
        return [Options([*words, *self.header_words]) for words in self.piece_words]

    def check(self) -> None:
        """What can be refused before there is a cluster."""
        self.options()
        (JoinOptions if self.keys else Options)(self.result_words)
        for path in (path for side in self.inputs for path in side):
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise ValueError(f"{path}: not a regular file")
            open(path, "rb").close()
        Folder(self.output, self.overwrite).close()


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


def locales(keys: Keys | None) -> tuple[tuple[int, str], ...]:
    """Categories and names for the tasks.  Keys of a join that are no text to be collated are
    bytes."""
    found = {c: locale.setlocale(c) for c in (locale.LC_CTYPE, locale.LC_COLLATE)}
    if keys and not keys.collated:
        found[locale.LC_COLLATE] = "C"
    return tuple(found.items())


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
        )
        self.report: dict[str, Any] = {}
        self._stages: list[dict[str, Any]] = []
        self._began = time.monotonic()

    def _task(self, function: Callable[..., Any], node: str | None = None, **options: Any) -> Any:
        return ray.remote(function).options(
            num_cpus=1,
            max_retries=ATTEMPTS,
            retry_exceptions=TRANSIENT,
            scheduling_strategy=_on(node, True) if node else "SPREAD",
            **options,
        )

    def _await(self, name: str, refs: Sequence[Any], bytes_in: Callable[[Any], int]) -> list[Any]:
        """The results of a stage, as they come; its figures go to the report."""
        began, left, done = time.monotonic(), list(refs), {}
        while left:
            ready, left = ray.wait(left, num_returns=1, timeout=1)
            for ref in ready:
                done[ref] = ray.get(ref)
            self.settings.progress(name, len(done), len(refs))
        results = [done[ref] for ref in refs]
        sizes = [bytes_in(r) for r in results]
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
        with Folder(s.output, s.overwrite) as folder:
            folders = {s.output: folder.path, **({s.tmpdir: s.tmpdir} if s.tmpdir else {})}
            look_at_nodes(self.plan.machine.nodes, [p for i in s.inputs for p in i], folders)
            self._sort(folder) if s.command == "sort" else self._join(folder)
            folder.commit()
        return self._report()

    def _work(self, folder: Folder, splitters: Sequence[bytes], side: int = 0) -> Work:
        s = self.settings
        return Work(
            piece_words=tuple(s.piece_words[side]),
            result_words=tuple(s.result_words),
            splitters=tuple(splitters),
            memory_bytes=s.memory_bytes,
            folder=folder.path,
            header=self.plan.headers[0],
            tmpdir=s.tmpdir,
            locales=locales(self.settings.keys),
            ordered=not self.settings.keys,
        )

    def _sample(self, side: int, parts: int) -> list[bytes]:
        s = self.settings
        if parts < 2 or not any(p.side == side for p in self.plan.pieces):
            return []
        words = [*s.piece_words[side], *s.header_words]
        ref = self._task(self.stages.sample).remote(list(s.inputs[side]), parts, words)
        return self._await("sample", [ref], lambda s: sum(map(len, s)))[0]

    def _map(self, work: Sequence[Any]) -> tuple[list[list[Any]], list[Blocks]]:
        """work: of each side.  Blocks of each piece, and what map did."""
        parts, nodes = len(self.plan.slices), self.plan.machine.nodes
        blocks, done = [], []
        for number, group in enumerate(self.plan.groups):
            node = nodes[number % len(nodes)] if self.plan.group > 1 else None
            task = self._task(self.stages.map_piece, node, num_returns=parts + 1)
            for piece in group:
                *made, told = task.remote(piece, work[piece.side])
                blocks.append(made)
                done.append(told)
        return blocks, self._await("map", done, lambda m: m.given.bytes)

    def _merge(
        self, blocks: list[list[Any]], work: Any
    ) -> tuple[list[list[Any]], list[Blocks], list[list[int]]]:
        """Merges the slices of each group on its node: blocks and sizes for each range."""
        groups, told, size = [], [], self.plan.group
        nodes, slices = self.plan.machine.nodes, self.plan.slices
        for number in range(0, len(blocks), size):
            made, node = [], nodes[number // size % len(nodes)]
            for i, (first, last) in enumerate(slices):
                task = self._task(self.stages.merge_blocks, node, num_returns=last - first + 1)
                own = [b[i] for b in blocks[number : number + size]]
                *out, tally = task.remote(work, first, last, *own)
                made += out
                told.append(tally)
            groups.append(made)
        blocks.clear()
        merged = self._await("merge", told, lambda t: t.given.bytes)
        each = len(slices)
        sizes = [
            [n for m in merged[i : i + each] for n in m.sizes] for i in range(0, len(merged), each)
        ]
        return groups, merged, sizes

    def _reduce(
        self, blocks: list[list[Any]], sizes: Sequence[Sequence[int]], work: Any
    ) -> list[Reduced]:
        """sizes: of each block; a range with too many bytes is merged in files."""
        small, large = self._task(self.stages.reduce_range), self._task(self.stages.reduce_in_files)
        limit = max(1, min(self.plan.memory_bytes // 2, self.plan.range_bytes // 4))
        refs = []
        for r in range(self.plan.ranges):
            own, bytes_ = [b[r] for b in blocks], [s[r] for s in sizes]
            if self.settings.external or sum(bytes_) > self.plan.range_bytes:
                refs.append((sum(bytes_), large.remote(r, work, own, bytes_, limit)))
            else:
                refs.append((sum(bytes_), small.remote(r, work, *own)))
        blocks.clear()
        return self._await("reduce", [ref for _, ref in refs], lambda r: r.given.bytes)

    def _sort(self, folder: Folder) -> None:
        splitters = self._sample(0, self.plan.ranges)
        self.plan = dataclasses.replace(self.plan, ranges=len(splitters) + 1)
        work = self._work(folder, splitters)
        coarse = [splitters[first - 1] for first, _ in self.plan.slices[1:]]
        shared = ray.put(work)
        blocks, mapped = self._map([ray.put(dataclasses.replace(work, splitters=tuple(coarse)))])
        sizes: Sequence[Sequence[int]] = [m.sizes for m in mapped]
        merged: list[Blocks] = []
        if self.plan.group > 1:
            blocks, merged, sizes = self._merge(blocks, shared)
        reduced = self._reduce(blocks, sizes, shared)
        self._prove(mapped, merged, reduced)

    def _splitters_of_both(self) -> list[list[bytes]]:
        """Splitters of each side, each of which has its share of them; all in both forms."""
        keys, wanted = self.settings.keys, self.plan.ranges - 1
        share = [sum(p.hi - p.lo for p in self.plan.pieces if p.side == side) for side in (0, 1)]
        left = round(wanted * share[0] / max(1, sum(share)))
        own = [self._sample(0, left + 1), self._sample(1, wanted - left + 1)]
        both = own[0] + [keys.carried(r, 1, 0) for r in own[1]]
        both.sort(key=functools.cmp_to_key(self.options[0].compare))
        return [both, [keys.carried(r, 0, 1) for r in both]]

    def _join(self, folder: Folder) -> None:
        splitters = self._splitters_of_both()
        self.plan = dataclasses.replace(self.plan, ranges=len(splitters[0]) + 1)
        work = [self._work(folder, splitters[side], side) for side in (0, 1)]
        blocks, mapped = self._map([ray.put(w) for w in work])
        side_of = [[i for i, p in enumerate(self.plan.pieces) if p.side == s] for s in (0, 1)]
        task = self._task(self.stages.join_range)
        words = [tuple(w) for w in self.settings.piece_words]
        refs = []
        for r in range(self.plan.ranges):
            sizes = [sum(mapped[i].sizes[r] for i in pieces) for pieces in side_of]
            sides = list(map(Side, words, self.plan.headers, map(len, side_of), sizes))
            own = [blocks[i][r] for pieces in side_of for i in pieces]
            if sum(sizes) > self.plan.range_bytes:
                own = [[ref] for ref in own]
            refs.append(task.remote(r, work[0], sides, *own))
        blocks.clear()
        joined = self._await("join", refs, lambda j: j.given.bytes)
        for side in (0, 1):
            given = total(mapped[i].given for i in side_of[side])
            _same(f"join, file {side + 1}", given, total(j.read[side] for j in joined))
        read = total(m.read for m in mapped)
        self.report["result"] = {
            "input_records": read.records,
            "input_bytes": self.plan.input_bytes,
            "records": sum(j.records for j in joined),
            "output_bytes": sum(j.bytes for j in joined),
        }

    def _prove(
        self, mapped: Sequence[Blocks], merged: Sequence[Blocks], reduced: Sequence[Reduced]
    ) -> None:
        """What each stage gave, the next one read; what was not given on, -u dropped."""
        given = total(m.given for m in mapped)
        if merged:
            _same("merge", given, total(m.read for m in merged))
            given = total(m.given for m in merged)
        _same("reduce", given, total(r.read for r in reduced))
        result = total(r.given for r in reduced)
        if not self.options[0].info.unique and not self.settings.external:
            _same("the result", total(m.read for m in mapped), result)
        read = total(m.read for m in mapped)
        self.report["result"] = {
            "input_records": read.records,
            "input_bytes": self.plan.input_bytes,
            "records": result.records,
            "hash": f"{result.sum:016x}",
            "output_bytes": sum(r.bytes for r in reduced),
            "ranges_in_files": sum(r.external for r in reduced),
        }

    def _report(self) -> dict[str, Any]:
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
            **self.report,
            "moved_bytes": sum(s["bytes"] for s in self._stages if s["stage"] in ("map", "merge")),
            "elapsed_s": time.monotonic() - self._began,
            "stages": self._stages,
        }


def total(tallies: Iterable[Tally]) -> Tally:
    return sum(tallies, Tally())


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
