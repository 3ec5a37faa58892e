# SPDX-License-Identifier: MIT
"""The folder of the result: written aside, and renamed as a whole."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence

from spindle_io import SpindleError
from spindle_io._lib import EBALANCE


def check(name: str, overwrite: bool) -> None:
    if os.path.lexists(name):
        if not os.path.isdir(name):
            raise ValueError(f"{name}: not a folder")
        if os.listdir(name) and not overwrite:
            raise ValueError(f"{name}: not empty; --overwrite replaces it")


@contextlib.contextmanager
def folder(name: str) -> Iterator[str]:
    """Where parts are written; it gets its name at the end of the block, or is removed."""
    name = os.path.abspath(name)
    parent, last = os.path.split(name)
    aside = os.path.join(parent, f".{last}.spindle-ray-{uuid.uuid4().hex}")
    new, old = f"{aside}.new", f"{aside}.old"
    os.mkdir(new)
    try:
        yield new
        if os.path.lexists(name):
            os.rename(name, old)
        os.rename(new, name)
    finally:
        for path in (new, old):
            shutil.rmtree(path, ignore_errors=True)


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
