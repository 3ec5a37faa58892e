# SPDX-License-Identifier: MIT
"""Files that are read or written once, past the page cache where the file system can: pages taken
for them cost more time than a fast device, and push out what others need."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from typing import Any

from spindle_io import room

BLOCK = 4096  #: what offsets, lengths and addresses are multiples of
CHUNK = 4 << 20


def _direct(fd: int, on: bool) -> None:
    flags = fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_DIRECT
    with contextlib.suppress(OSError):
        fcntl.fcntl(fd, fcntl.F_SETFL, flags | (os.O_DIRECT if on else 0))


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
    _direct(fd, True)
    with memoryview(memory) as view:
        while at < want and n and n % BLOCK == 0:
            n = os.preadv(fd, [view[at : min(at + CHUNK, want)]], begin - before + at)
            at += n
    return memory, before, min(at, before + end - begin)


class Writer:
    def __init__(self, fd: int):
        self._fd, self._used = fd, 0
        self._chunk = memoryview(room(CHUNK))
        _direct(fd, True)

    def write(self, data: Any) -> None:
        left = memoryview(data)
        while left:
            n = min(len(left), CHUNK - self._used)
            self._chunk[self._used : self._used + n] = left[:n]
            self._used, left = self._used + n, left[n:]
            if self._used == CHUNK:
                self._put()

    def _put(self) -> None:
        at = 0
        while at < self._used:
            at += os.write(self._fd, self._chunk[at : self._used])
        self._used = 0

    def finish(self) -> None:
        _direct(self._fd, False)
        self._put()


@contextlib.contextmanager
def create(path: str) -> Iterator[Writer]:
    """A file that must not exist yet, complete at the end of the block."""
    with open(path, "xb", buffering=0) as f:
        writer = Writer(f.fileno())
        yield writer
        writer.finish()
