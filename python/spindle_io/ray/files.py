# SPDX-License-Identifier: MIT
"""Files that are read once, past the page cache where the file system can: pages taken for them
cost more time than a fast device, and push out what others need.  And the folder of the result."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from spindle_io import SpindleError, room
from spindle_io._lib import EBALANCE

BLOCK = 4096  #: what offsets, lengths and addresses are multiples of
CHUNK = 4 << 20

_kept: dict[str, Any] = {}


def kept(name: str) -> Callable[[int], Any]:
    """What gives memory that this process uses again, each time with the same name: fresh pages
    cost as much as sorting.  The one before must be done with."""

    def give(size: int) -> Any:
        if len(_kept.get(name, b"")) < size:
            # What is not touched costs nothing, and the next piece may be a little larger.
            _kept[name] = room(size + size // 8)
        return _kept[name]

    return give


def forget() -> None:
    """Gives that memory back."""
    _kept.clear()


def read(fd: int, begin: int, end: int, name: str) -> tuple[Any, int, int]:
    """An mmap, kept by that name, with bytes begin to end of a file, or to its end, and room for
    one more: where they begin and end in it."""
    before = begin % BLOCK
    want = -(-(before + end - begin) // BLOCK) * BLOCK
    memory, at, n = kept(name)(want + 1), 0, BLOCK
    with contextlib.suppress(OSError):
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_RDONLY | os.O_DIRECT)
    with memoryview(memory) as view:
        while at < want and n and n % BLOCK == 0:
            n = os.preadv(fd, [view[at : min(at + CHUNK, want)]], begin - before + at)
            at += n
    return memory, before, min(at, before + end - begin)


@contextlib.contextmanager
def mapped(path: str) -> Iterator[memoryview]:
    """A file, not empty, as memory."""
    with (
        open(path, "rb") as f,
        mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m,
        memoryview(m) as view,
    ):
        yield view


def check(name: str, overwrite: bool) -> None:
    """The folder of the result can have this name."""
    if os.path.lexists(name):
        if not os.path.isdir(name):
            raise ValueError(f"{name}: not a folder")
        if os.listdir(name) and not overwrite:
            raise ValueError(f"{name}: not empty; --overwrite replaces it")


@contextlib.contextmanager
def folder(name: str, overwrite: bool) -> Iterator[str]:
    """Where parts are written; as a whole it gets its name at the end of the block, or is removed.
    What somebody put under that name meanwhile stays, but for overwrite."""
    name = os.path.realpath(name)
    parent, last = os.path.split(name)
    aside = os.path.join(parent, f".{last}.spindle-ray-{uuid.uuid4().hex}")
    new, old, gone = (f"{aside}.{end}" for end in ("new", "old", "gone"))
    os.mkdir(new)
    try:
        yield new
        check(name, overwrite)
        try:
            if overwrite and os.path.lexists(name):
                os.rename(name, old)
            os.rename(new, name)
        except BaseException:
            with contextlib.suppress(OSError):
                os.rename(old, name)
            raise
        shutil.rmtree(old, ignore_errors=True)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.rename(new, gone)  # tasks that go on after a failure find nowhere to write
        shutil.rmtree(gone, ignore_errors=True)


def part(folder: str, number: int) -> str:
    return os.path.join(folder, f"part-{number:05d}")


def complete(folder: str, sizes: Sequence[int]) -> None:
    """The parts have these sizes, and nothing else is there: a task that was killed leaves its."""
    parts = [part(folder, number) for number in range(len(sizes))]
    for path in {os.path.join(folder, name) for name in os.listdir(folder)} - set(parts):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    for path, size in zip(parts, sizes):
        if os.path.getsize(path) != size:
            raise SpindleError(EBALANCE, "its length is not what was written", path)
