# SPDX-License-Identifier: MIT
"""Compares files with what another process saw under the same names.

The command notes what each input is before anything is read, and each task compares what it opens;
the command compares the parts with what the tasks wrote.  Numbers of devices and times below a
second are compared on one machine only: a network file system has other ones on each.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from collections.abc import Iterator
from typing import NamedTuple

from spindle_io import SpindleError
from spindle_io._lib import EFORMAT


class Seen(NamedTuple):
    """What a file was."""

    machine: str  #: one start of one kernel
    device: int
    inode: int  #: 0: of a copy, which has its own
    size: int
    time_ns: int  #: of the last change

    def copied(self) -> Seen:
        """What copies on other machines have, too."""
        return self._replace(machine="", inode=0)

    def differs(self, found: Seen) -> str:
        """What of the file that was found is something else; "": nothing."""
        here = self.machine == found.machine
        unit = 1 if here else 10**9
        for what, a, b in (
            ("size", self.size, found.size),
            ("time", self.time_ns // unit, found.time_ns // unit),
            ("inode", self.inode, found.inode if self.inode else 0),
            ("device", self.device, found.device if here else self.device),
        ):
            if a != b:
                return f"{what} {b}, not {a}"
        return ""


def _machine() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return socket.gethostname()


@contextlib.contextmanager
def regular(path: str, flags: int = 0) -> Iterator[tuple[int, Seen]]:
    """The descriptor of a regular file, and what it is."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | flags)
    try:
        s = os.fstat(fd)
        if not stat.S_ISREG(s.st_mode):
            raise SpindleError(EFORMAT, "not a regular file", path)
        yield fd, Seen(_machine(), s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns)
    finally:
        os.close(fd)


def look(path: str, flags: int = 0) -> Seen:
    with regular(path, flags) as (_, found):
        return found


@contextlib.contextmanager
def opened(path: str, want: Seen, where: str = "") -> Iterator[int]:
    """The descriptor of the file that was seen.  where: for messages, such as "on node x, "."""
    with regular(path) as (fd, found):
        difference = want.differs(found)
        if difference:
            copy = difference.startswith(("inode", "device"))
            raise SpindleError(
                EFORMAT,
                f"is not the file that the command saw: {where}{difference}"
                + ("; for copies that are equal see --copies" if copy else ""),
                path,
            )
        yield fd
