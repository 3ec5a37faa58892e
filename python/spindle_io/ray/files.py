# SPDX-License-Identifier: MIT
"""Files that are read once, past the page cache where the file system can: pages taken for them
cost more time than a fast device, and push out what others need.  And the folder of the result."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import re
import shutil
import stat
import uuid
from collections.abc import Callable, Iterator, Sequence
from ctypes import byref, c_void_p
from typing import Any

from spindle_io import SpindleError, _lib, allocate
from spindle_io._lib import EBALANCE, lib, no_error

from .seen import Seen, look

BLOCK = 4096  #: what offsets, lengths and addresses are multiples of
CHUNK = 4 << 20

_kept: dict[str, Any] = {}


def kept(name: str) -> Callable[[int], Any]:
    """What gives memory that this process uses again, each time with the same name: fresh pages
    cost as much as sorting.  The one before must be done with."""

    def give(size: int) -> Any:
        if len(_kept.get(name, b"")) < size:
            # What is not touched costs nothing, and the next piece may be a little larger.
            _kept[name] = allocate(size + size // 8)
        return _kept[name]

    return give


def forget() -> None:
    """Gives that memory back."""
    _kept.clear()


def read(fd: int, begin: int, end: int, name: str) -> tuple[Any, int, int]:
    """An mmap, kept by that name, with bytes begin to end of a file, or to its end, and space for
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


@contextlib.contextmanager
def written(path: str) -> Iterator[Callable[[bytes], None]]:
    """What writes the contents of a file, which appears when it is complete (spindle_outfile(3)).
    That it can be written is certain from the beginning of the block; without contents it stays."""
    out, err = c_void_p(), no_error()
    _lib.check(lib.sp_outfile_open(byref(out), _lib.name(path), 0, byref(err)), err)

    def write(contents: bytes) -> None:
        fd = _lib.check(lib.sp_outfile_begin(out, byref(err)), err)
        with open(fd, "wb", closefd=False) as f:
            f.write(contents)
        _lib.check(lib.sp_outfile_commit(out, byref(err)), err)

    try:
        yield write
    finally:
        lib.sp_outfile_close(out, None)


def check(name: str, overwrite: bool, own: str = "") -> None:
    """The folder of the result can have this name.  own: what is in it already, of this run."""
    if not os.path.lexists(name):
        return
    if not os.path.isdir(name):
        raise ValueError(f"{name}: not a folder")
    there = os.stat(name)
    another = "; or name a folder that does not exist yet"
    if there.st_uid != os.geteuid():
        raise ValueError(f"{name}: belongs to another user{another}")
    if there.st_mode & stat.S_IWOTH:
        raise ValueError(f"{name}: every user can write to it: chmod o-w{another}")
    if set(os.listdir(name)) - {own} and not overwrite:
        raise ValueError(f"{name}: not empty; --overwrite replaces it")


def is_mounted(path: str) -> bool:
    with open("/proc/self/mountinfo", "rb") as f:
        names = (line.split()[4] for line in f)
        octal = re.compile(rb"\\([0-7]{3})")
        return os.fsencode(path) in {
            octal.sub(lambda m: bytes([int(m[1], 8)]), mount) for mount in names
        }


def _rename_all(moves: Sequence[tuple[str, str]]) -> None:
    """All of them, or none."""
    try:
        for a, b in moves:
            os.rename(a, b)
    except BaseException:
        for a, b in reversed(moves):
            if not os.path.lexists(a):
                with contextlib.suppress(OSError):
                    os.rename(b, a)
        raise


def _give_mode(new: str, name: str) -> None:
    """The mode and the group of the folder that is replaced, or of one that is made."""
    inherited = os.stat(new).st_mode & stat.S_ISGID
    try:
        old = os.stat(name)
    except FileNotFoundError:
        with open("/proc/self/status", encoding="utf-8", errors="replace") as f:
            umask = next(int(line.split()[1], 8) for line in f if line.startswith("Umask:"))
        os.chmod(new, 0o777 & ~umask | inherited)
        return
    mode = stat.S_IMODE(old.st_mode)
    try:
        os.chown(new, -1, old.st_gid)
    except OSError:
        mode &= ~stat.S_IRWXG  # of another group
    os.chmod(new, mode | inherited)


def _take(name: str, new: str, old: str, inside: bool, overwrite: bool) -> None:
    """The folder new becomes name; what was there before becomes old."""
    if inside:
        os.mkdir(old, 0o700)
        had = [n for n in os.listdir(name) if os.path.join(name, n) not in (new, old)]
        moves = [(os.path.join(name, n), os.path.join(old, n)) for n in had]
        moves += [(os.path.join(new, n), os.path.join(name, n)) for n in os.listdir(new)]
    else:
        _give_mode(new, name)
        moves = [(name, old)] if overwrite and os.path.lexists(name) else []
        moves.append((new, name))
    _rename_all(moves)


@contextlib.contextmanager
def folder(name: str, overwrite: bool) -> Iterator[str]:
    """Where parts are written, which nobody else can read; as a whole it gets its name at the end
    of the block, or is removed.  What somebody put under that name meanwhile stays, but for
    overwrite.  A folder that cannot be renamed (a mount point, or in a folder that cannot be
    written) gets the parts one after the other."""
    name = os.path.realpath(name)
    parent, last = os.path.split(name)
    inside = os.path.isdir(name) and (is_mounted(name) or not os.access(parent, os.W_OK))
    aside = os.path.join(name, ".") if inside else os.path.join(parent, f".{last}.")
    aside += f"spindle-ray-{uuid.uuid4().hex}"
    new, old, gone = (f"{aside}.{end}" for end in ("new", "old", "gone"))
    os.mkdir(new, 0o700)
    try:
        yield new
        check(name, overwrite, os.path.basename(new) if inside else "")
        _take(name, new, old, inside, overwrite)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.rename(new, gone)  # tasks that go on after a failure find nowhere to write
        shutil.rmtree(gone, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rmdir(old)  # nothing in it, or all moved back


def part(folder: str, number: int) -> str:
    return os.path.join(folder, f"part-{number:05d}")


def complete(folder: str, written: Sequence[Seen]) -> None:
    """The parts are what was written, and nothing else is there: a task that was killed leaves
    its own."""
    parts = [part(folder, number) for number in range(len(written))]
    for path in {os.path.join(folder, name) for name in os.listdir(folder)} - set(parts):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    for path, want in zip(parts, written):
        difference = want.differs(look(path, os.O_NOFOLLOW))
        if difference:
            raise SpindleError(EBALANCE, f"is not what was written: {difference}", path)
