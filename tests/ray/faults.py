# SPDX-License-Identifier: MIT
"""Faulty machines: functions in the place of those of spindle_io.ray.tasks."""

import contextlib
import errno
import os
import signal
import tempfile
import time
from pathlib import Path
from unittest import mock

import ray
import spindle_io
from spindle_io.ray import tasks
from spindle_io.ray.job import Stages


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

    names = ("sample", "map_piece", "merge_blocks", "reduce_range", "join_range")
    return type("Once", (Stages,), {name: faulty(name) for name in names})


def slow_reduce(folder):
    def reduce_range(number, *args):
        (Path(folder) / f"reducing-{number}").touch()
        time.sleep(1)
        return tasks.reduce_range(number, *args)

    return type("Slow", (Stages,), {"reduce_range": staticmethod(reduce_range)})


class Losing(Stages):
    @staticmethod
    def reduce_range(number, work, *blocks):
        return tasks.reduce_range(number, work, *(blocks if number else blocks[1:]))


class Doubling(Stages):
    @staticmethod
    def reduce_range(number, work, *blocks):
        return tasks.reduce_range(number, work, *(blocks if number else (*blocks, blocks[0])))


class Full(Stages):
    @staticmethod
    def reduce_range(number, work, *blocks):
        def fail(*unused):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with mock.patch.object(tasks.Part, "write", fail):
            return tasks.reduce_range(number, work, *blocks)


def other_version():
    """The driver takes itself for another version."""
    return mock.patch.object(spindle_io, "__version__", "9.9")


@contextlib.contextmanager
def no_library(cluster, store):
    """A node whose workers find no spindle_io."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "spindle_io.py").write_text("raise ImportError('there is none')\n")
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
