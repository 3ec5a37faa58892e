# SPDX-License-Identifier: MIT
"""Compares what stores of arrays read for the same queries; scripts/bench/cube runs it.

Each store holds the same random numbers, once in chunks of the size of mmap-cube's cells,
not compressed, and once as it stores them by default (HDF5: the chunks that it
guesses).  Queries: a line along each dimension; cubes of 10, 20 and 30 % of the edge; with a
stride of 32 along two of the dimensions.

Each query runs in a process of its own, after the pages of the store's files were dropped from
the page cache, which needs no rights (posix_fadvise).  What it reads is the growth of rchar, and
how often, that of syscr, in /proc/self/io: from the opened array to the answer in memory, after
another, small array was read, so that no code is loaded meanwhile.  Files that are mapped would
not be counted; none of these stores does that.  mmap-cube runs with the engine sync, whose
requests these counters see, and the figures of its start are subtracted.  The answers must be
the same.
"""

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

import numpy

STRIDE = 32
TITLES = ["query", "store", "asked", "cells", "read", "read / asked", "read / cells",
          "requests", "ms"]


def say(text):
    print("bench-cube: " + text, file=sys.stderr)


def counters():
    """Bytes and calls of this process, and of its children that have ended."""
    with open("/proc/self/io") as f:
        values = dict(line.split(": ") for line in f)
    return int(values["rchar"]), int(values["syscr"])


def slices(query):
    """Of an array whose last coordinate changes fastest: dimension 0 of mmap-cube is last."""
    return tuple(slice(lo, hi + 1, step) for lo, hi, step in reversed(query))


def digest(answer):
    return hashlib.sha256(numpy.ascontiguousarray(answer).tobytes()).hexdigest()


class Hdf5:
    @staticmethod
    def make(path, data, chunks):
        import h5py

        with h5py.File(path, "w") as f:
            return f.create_dataset("a", data=data, chunks=chunks or True).chunks

    @staticmethod
    def open(path):
        import h5py

        return h5py.File(path, "r")["a"]


class Zarr:
    @staticmethod
    def make(path, data, chunks):
        import zarr

        given = {"chunks": chunks, "compressors": None} if chunks else {}
        array = zarr.create_array(path, shape=data.shape, dtype=data.dtype, **given)
        array[:] = data
        return array.chunks

    @staticmethod
    def open(path):
        import zarr

        return zarr.open_array(path, mode="r")


class TileDb:
    @staticmethod
    def make(path, data, chunks):
        import tiledb

        if chunks:
            dims = [
                tiledb.Dim(name=f"d{i}", domain=(0, n - 1), tile=t, dtype=numpy.uint64)
                for i, (n, t) in enumerate(zip(data.shape, chunks))
            ]
            tiledb.Array.create(path, tiledb.ArraySchema(
                domain=tiledb.Domain(*dims), attrs=[tiledb.Attr(dtype=data.dtype)]))
            with tiledb.open(path, "w") as array:
                array[:] = data
        else:
            tiledb.from_numpy(path, data).close()
        with tiledb.open(path) as array:
            return tuple(int(array.schema.domain.dim(i).tile) for i in range(array.ndim))

    @staticmethod
    def open(path):
        import tiledb

        return tiledb.open(path)


PEERS = {"hdf5": Hdf5, "zarr": Zarr, "tiledb": TileDb}


def ask(name, path, query):
    """In a process of its own: prints what an answer took, and its digest."""
    array = PEERS[name].open(path + ".small")
    array[slices([(0, 1, 1)] * 3)]
    array = PEERS[name].open(path)
    size, calls = counters()
    begin = time.monotonic()
    answer = array[slices(query)]
    seconds = time.monotonic() - begin
    own = counters()
    print(json.dumps([own[0] - size, own[1] - calls, seconds, digest(answer)]))


class Cube:
    """mmap-cube; joined: with coalescing."""

    def __init__(self, program, path):
        self.program, self.path = program, path
        _, size, calls = self.run("get", path, "0,0,0")
        self.start = size - self.cell_bytes(), calls - 1

    def run(self, *arguments):
        before = counters()
        out = subprocess.run(
            [self.program, *arguments, "--engine=sync"], check=True, stdout=subprocess.PIPE
        ).stdout
        after = counters()
        # The parent has read the output.
        return out, after[0] - before[0] - len(out), after[1] - before[1]

    def cell_bytes(self):
        return self.report("--lo=0,0,0", "--hi=1,1,1")["config"]["cell_bytes"]

    def report(self, *arguments):
        path = self.path + ".json"
        self.run("range", self.path, "--discard", "--stats=" + path, *arguments)
        with open(path) as f:
            return json.load(f)

    def ask(self, query, coalesce):
        lo, step = (",".join(str(side[i]) for side in query) for i in (0, 2))
        end = ",".join(str(side[1] + 1) for side in query)
        box = [f"--lo={lo}", f"--hi={end}", f"--stride={step}", "--coalesce=" + coalesce]
        out, stats = self.path + ".out", self.path + ".json"
        _, size, calls = self.run("range", self.path, *box, "--output", out, "--stats=" + stats)
        with open(stats) as f:
            result = json.load(f)["result"]
        answer = numpy.fromfile(out, dtype=numpy.float32)
        os.remove(out)
        seconds = result["elapsed_s"]
        figures = [size - self.start[0], calls - self.start[1], seconds, digest(answer)]
        return figures, result["cell_bytes"]


def drop(path):
    """Drops the pages of a file, or of all files of a folder, from the page cache."""
    files = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    for file in files or [path]:
        fd = os.open(file, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def queries(edge):
    at = [int(edge * part) for part in (0.37, 0.61, 0.23)]
    for k in range(3):
        yield f"beam {k}", [(0, edge - 1, 1) if i == k else (at[i], at[i], 1) for i in range(3)]
    for percent in (10, 20, 30):
        side = max(edge * percent // 100, 1)
        yield f"cube {percent} %", [(x, x + side - 1, 1) for x in at]
    yield f"stride {STRIDE}", [(0, edge - 1, 1), (0, edge - 1, STRIDE), (0, edge - 1, STRIDE)]


def numbers(path, edge):
    if not os.path.exists(path):
        rng = numpy.random.default_rng(1)
        with open(path + ".new", "wb") as f:
            for _ in range(edge):
                f.write(rng.random((edge, edge), dtype=numpy.float32).tobytes())
        os.rename(path + ".new", path)
    return numpy.memmap(path, dtype=numpy.float32, mode="r", shape=(edge, edge, edge))


def make_peer(name, path, data, chunks):
    """Makes the array and a small one; its chunks as mmap-cube would write them."""
    shutil.rmtree(path, ignore_errors=True)
    shutil.rmtree(path + ".small", ignore_errors=True)
    PEERS[name].make(path + ".small", numpy.zeros((8, 8, 8), numpy.float32), None)
    made = PEERS[name].make(path, data, chunks)
    return "x".join(str(n) for n in reversed(made))


def make_cube(program, path, raw, edge, cell):
    size = "x".join([str(edge)] * 3)
    subprocess.run([program, "create", path, "--overwrite", "--dims", size, "--tile", cell,
                    "--mapping=naive"], check=True)
    subprocess.run([program, "load", path, raw, "--format=raw"], check=True)
    return Cube(program, path)


def stores(names, program, base, raw, edge, cell, data):
    """Label, path, and a function that answers: figures and, of mmap-cube, the bytes of cells."""
    chunks = tuple(int(n) for n in reversed(cell.split("x")))
    for name in names:
        say("making " + name)
        if name == "mmap-cube":
            cube = make_cube(program, base + ".cube", raw, edge, cell)
            for coalesce, label in ("off", ""), ("auto", ", coalescing"):
                yield (f"mmap-cube {cell}{label}", cube.path,
                       lambda query, how=coalesce: cube.ask(query, how))
            continue
        for kind, given in ("cell", chunks), ("default", None):
            path = f"{base}.{name}.{kind}"
            made = make_peer(name, path, data, given)

            def answer(query, name=name, path=path):
                command = [sys.executable, __file__, "ask", name, path, json.dumps(query)]
                return json.loads(subprocess.check_output(command)), None

            yield f"{name} {made}{'' if given else ', default'}", path, answer


def cells_of(query, cell):
    """Bytes of the cells that hold what is asked for."""
    n = 4
    for (lo, hi, step), tile in zip(query, cell):
        n *= len({x // tile for x in range(lo, hi + 1, step)}) * tile
    return n


def measure(all_stores, edge, cell, data):
    for label, path, answer in all_stores:
        for name, query in queries(edge):
            drop(path)
            want = data[slices(query)]
            (size, calls, seconds, got), own_cells = answer(query)
            if got != digest(want):
                sys.exit(f"bench-cube: {label}: the answer to {name} differs")
            cells = cells_of(query, cell)
            if own_cells not in (None, cells):
                sys.exit(f"bench-cube: {label}: {own_cells} bytes of cells, not {cells}")
            asked = want.size * 4
            yield [name, label, asked, cells, size, size / asked, size / cells, calls,
                   1e3 * seconds]


def table(rows, edge, out):
    print(f"{edge} x {edge} x {edge} numbers of 4 bytes; bytes in thousands; the page cache is "
          "cold.\n", file=out)
    print("| " + " | ".join(TITLES) + " |\n|" + "---|" * 2 + "---:|" * (len(TITLES) - 2), file=out)
    names = [name for name, _ in queries(edge)]
    for row in sorted(rows, key=lambda row: names.index(row[0])):
        figures = [f"{size / 1e3:.1f}" for size in row[2:5]] + [f"{r:.2f}" for r in row[5:7]]
        cells = [*row[:2], *figures, str(row[7]), f"{row[8]:.1f}"]
        print("| " + " | ".join(cells) + " |", file=out)
    mine = [row for row in rows if row[1].startswith("mmap-cube")]
    ours = [row[6] for row in mine if not row[1].endswith("coalescing")]
    if ours:
        print(f"\nmmap-cube, coalescing off: at most {max(ours):.3f} times the cells; wanted: at "
              f"most 1.1: {'reached' if max(ours) <= 1.1 else 'missed'}", file=out)


def main(directory, program, edge, cell, names):
    edge = int(edge)
    raw = os.path.join(directory, "data", f"cube-{edge}.f32")
    base = os.path.join(directory, "data", f"cube-{edge}-{cell}")
    data = numbers(raw, edge)
    tile = [int(n) for n in cell.split("x")]
    compared = stores(names.split(), program, base, raw, edge, cell, data)
    rows = list(measure(compared, edge, tile, data))
    with open(os.path.join(directory, "cube.csv"), "w") as f:
        csv.writer(f, lineterminator="\n").writerows([TITLES] + rows)
    with open(os.path.join(directory, "cube.md"), "w") as f:
        table(rows, edge, f)
    table(rows, edge, sys.stdout)


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        ask(sys.argv[2], sys.argv[3], json.loads(sys.argv[4]))
    else:
        try:
            main(*sys.argv[1:])
        except subprocess.CalledProcessError as failure:
            sys.exit("bench-cube: failed: " + " ".join(failure.cmd))
