# SPDX-License-Identifier: MIT
"""Faulty machines: functions in the place of those of spindle_io.ray.tasks."""

import contextlib
import os
import signal
import tempfile
import time
from pathlib import Path
from unittest import mock

import ray
import spindle_io
from spindle_io.ray import tasks


class Stages:
    """Those of spindle_io.ray.tasks."""

    sample = staticmethod(tasks.sample)
    map_piece = staticmethod(tasks.map_piece)
    merge_blocks = staticmethod(tasks.merge_blocks)
    reduce_range = staticmethod(tasks.reduce_range)


def _trip(folder, stage, error):
    """The first task of a stage fails: with an error, or killed."""
    try:
        os.close(os.open(Path(folder) / f"failed-{stage}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    if error is None:
        os.kill(os.getpid(), signal.SIGKILL)
    raise error


def once(folder, error):
    def faulty(name):
        def function(*args):
            _trip(folder, name, error)
            return getattr(tasks, name)(*args)

        return staticmethod(function)

    names = ("sample", "map_piece", "merge_blocks", "reduce_range")
    return type("Once", (Stages,), {name: faulty(name) for name in names})


def slow(folder=None):
    """A last stage that takes a second for each range, so that every node has its share of them;
    in the folder, if any, it leaves a file when it begins."""
    real = tasks.reduce_range

    def function(number, *args):
        if folder:
            (Path(folder) / f"reducing-{number}").touch()
        time.sleep(1)
        return real(number, *args)

    return function


def slow_reduce(folder):
    return type("Slow", (Stages,), {"reduce_range": staticmethod(slow(folder))})


class Losing(Stages):
    @staticmethod
    def reduce_range(number, work, sizes, lefts, *blocks):
        return tasks.reduce_range(number, work, sizes, lefts, *(blocks if number else blocks[:-1]))


class LosingTotals(Stages):
    """A block of partial totals is lost on its way to its range."""

    @staticmethod
    def reduce_range(number, work, sizes, lefts, own, rest):
        return tasks.reduce_range(number, work, sizes, lefts, own[bool(number == 1) :], rest)


class LosingGroups(Stages):
    """The last record of a range is lost in its rows."""

    @staticmethod
    def reduce_range(number, work, *args):
        done = tasks.reduce_range(number, work, *args)
        return done._replace(grouped=done.grouped - (number == 1))


class Misplacing(Stages):
    """Ranges get the blocks of their neighbours."""

    @staticmethod
    def reduce_range(number, work, *args):
        return tasks.reduce_range(number ^ 1, work, *args)


class Doubling(Stages):
    @staticmethod
    def reduce_range(number, work, sizes, lefts, *blocks):
        twice = () if number else blocks[:1]
        return tasks.reduce_range(number, work, sizes, lefts, *blocks, *twice)


class Leaving(Stages):
    @staticmethod
    def reduce_range(number, work, *args):
        (Path(work.folder) / f"part-{number:05d}.killed").write_bytes(b"twice\n")
        return tasks.reduce_range(number, work, *args)


class Touching(Stages):
    """An input is written to once it has been read."""

    @staticmethod
    def reduce_range(number, work, *args):
        os.utime(work.inputs[0][0])
        return tasks.reduce_range(number, work, *args)


class Replacing(Stages):
    """A part becomes another file with as many bytes."""

    @staticmethod
    def reduce_range(number, work, *args):
        done = tasks.reduce_range(number, work, *args)
        path = Path(work.folder) / f"part-{number:05d}"
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data[::-1])
        return done


class Truncating(Stages):
    @staticmethod
    def reduce_range(number, work, *args):
        done = tasks.reduce_range(number, work, *args)
        os.truncate(Path(work.folder) / f"part-{number:05d}", 1)
        return done


def other_version():
    """The driver takes itself for another version."""
    return mock.patch.object(spindle_io, "__version__", "9.9")


@contextlib.contextmanager
def _node(cluster, store, name, text):
    """One more node, whose processes of Python find a module of that name and text first."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / f"{name}.py").write_text(text)
        path = f"{folder}:{os.environ['PYTHONPATH']}"
        with mock.patch.dict(os.environ, PYTHONPATH=path):
            node = cluster.add_node(
                num_cpus=1, object_store_memory=store, node_ip_address="127.0.0.1"
            )
        cluster.wait_for_nodes()
        try:
            yield
        finally:
            cluster.remove_node(node)
            while sum(n["Alive"] for n in ray.nodes()) > 3:
                time.sleep(0.1)


def no_library(cluster, store):
    """A node whose workers find no spindle_io."""
    return _node(cluster, store, "spindle_io", "raise ImportError('there is none')\n")


def no_permission(cluster, store, path):
    """A node that cannot open the path or anything below it."""
    return _node(cluster, store, "sitecustomize", _REFUSING.format(path=str(path)))


def another(cluster, store, path):
    """A node that has another file by the name of the path."""
    return _node(cluster, store, "sitecustomize", _ANOTHER.format(path=str(path)))


def full(cluster, store):
    """A node where no file can have more than 256 KiB."""
    return _node(cluster, store, "sitecustomize", _FULL)


_REFUSING = """\
import builtins, errno, os

def refusing(function):
    def opened(path, *args, **kwargs):
        if str(path).startswith({path!r}):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return function(path, *args, **kwargs)
    return opened

builtins.open, os.open = refusing(builtins.open), refusing(os.open)
"""

_ANOTHER = """\
import os

real, name = os.open, {path!r}
os.open = lambda path, *args: real(name + ".other" if path == name else path, *args)
"""

_FULL = """\
import resource

resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))
"""
