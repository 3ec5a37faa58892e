# SPDX-License-Identifier: MIT
"""spindle_io.Cube against NumPy."""

import copy
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import spindle_io as sp
import tap

try:
    import numpy as np
except ImportError:
    np = None

BUILD = os.environ.get("SP_BUILD") or Path(__file__).resolve().parents[2] / "build"
TYPES = "i1", "u1", "<i2", ">i2", "u4", "i8", ">u8", "f4", ">f8", "V5"


def number(r: random.Random, n: int) -> "int | None":
    return None if r.random() < 0.3 else r.randrange(-n - 2, n + 3)


def random_key(r: random.Random, shape: tuple, steps: bool) -> tuple:
    key = []
    for n in shape:
        step = r.choice([None, 1, 2, -1, -3]) if steps else None
        index = r.randrange(-n, n)
        key.append(index if r.random() < 0.3 else slice(number(r, n), number(r, n), step))
    if r.random() < 0.3:
        at = r.randrange(len(key) + 1)
        key[at : r.randrange(at, len(key) + 1)] = [...]
    elif r.random() < 0.3:
        key = key[: r.randrange(len(key)) + 1]
    return tuple(key)


def random_array(r: random.Random, shape: tuple, dtype: str):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(r.randbytes(size), dtype).reshape(shape)


class Missing(unittest.TestCase):
    def test_without_numpy_only_cubes_are_missing(self):
        with mock.patch.dict(sys.modules, {"numpy": None}):
            with self.assertRaisesRegex(ImportError, "spindle_io.Cube needs NumPy: pip install"):
                sp.Cube("c")
            self.assertEqual(bytes(sp.sort_buffer(b"b\na\n").data), b"a\nb\n")


@unittest.skipUnless(np, "there is no NumPy")
class Cubes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "c"
        self.assertSame = lambda a, b: self.assertEqual(
            (np.shape(a), np.asarray(a).tobytes()), (np.shape(b), np.asarray(b).tobytes())
        )

    def test_random_slices_are_those_of_numpy(self):
        for seed in range(40):
            r = random.Random(seed)
            dtype = TYPES[seed % len(TYPES)]
            shape = tuple(r.randrange(1, 10) for _ in range(r.randrange(1, 5)))
            a = np.array(random_array(r, shape, dtype), order=r.choice("CF"))
            with sp.Cube.from_array(self.path, a, overwrite=seed > 0) as c:
                a = a.astype(a.dtype.newbyteorder("<"))
                self.assertEqual(
                    (c.shape, c.dtype, c.size, len(c)), (shape, a.dtype, a.size, shape[0])
                )
                for _ in range(10):
                    key = random_key(r, shape, True)
                    self.assertSame(c[key], a[key])
                for _ in range(5):
                    key = random_key(r, shape, False)
                    value = random_array(r, a[key].shape, dtype)
                    c[key] = value
                    a[key] = value
                    self.assertSame(c[...], a)
            with sp.Cube(self.path, verify=True) as c:
                self.assertSame(np.asarray(c), a)

    def test_values_are_broadcast_and_converted_as_numpy_does(self):
        a = np.zeros((4, 5, 6), "i2")
        with sp.Cube.from_array(self.path, a) as c:
            for key, value in (
                ((1, slice(0, 3)), 7),
                ((slice(1, 3), 2), range(6)),
                ((Ellipsis, 5), np.arange(5)),
                ((slice(None), slice(1, 2)), np.ones((1, 1, 4, 1, 1))),
                (Ellipsis, 3.7),
                ((0, 0, 0), -1),
                ((), np.arange(6)),
            ):
                c[key] = value
                a[key] = value
                self.assertSame(c[...], a)
            for value in 1 << 20, [0, -40000, 1 << 70, 0, 0, 0], 1e30:
                with self.assertRaises(OverflowError):
                    c[0] = value
            with self.assertRaises(ValueError):
                c[0] = float("nan")
            with self.assertRaises(ValueError):
                c[0] = np.zeros(4)
            self.assertSame(c[...], a)

    def test_a_masked_array_leaves_no_cube(self):
        masked = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
        with self.assertRaisesRegex(ValueError, "masked: pass array.filled"):
            sp.Cube.from_array(self.path, masked)
        self.assertFalse(self.path.exists())
        with sp.Cube.from_array(self.path, np.ma.array([1.0, 2.0, 3.0])) as c:
            for key in 0, slice(0, 2), Ellipsis:
                value = masked[1] if key == 0 else masked[key]
                with self.assertRaises(ValueError):
                    c[key] = value
            self.assertSame(c[...], np.array([1.0, 2.0, 3.0]))

    def test_shapes(self):
        for shape, want in (
            (np.array([3, 4]), (3, 4)),
            (np.array([3]), (3,)),
            (np.int8(3), (3,)),
            ([np.uint64(3), 4], (3, 4)),
            (range(2, 4), (2, 3)),
        ):
            with sp.Cube.create(self.path, shape, overwrite=True) as c:
                self.assertEqual(c.shape, want)
        for shape in "34", 2.5, [2, 2.5], np.array([3.0]), None:
            with self.assertRaisesRegex(TypeError, "a shape is an integer or a sequence"):
                sp.Cube.create(self.path, shape, overwrite=True)
        for shape in np.array([3, 0]), [], [-1]:
            with self.assertRaises(ValueError):
                sp.Cube.create(self.path, shape, overwrite=True)

    def test_cubes_cannot_be_copied(self):
        c = sp.Cube.from_array(self.path, np.arange(6.0).reshape(2, 3))
        for attempt in copy.copy, copy.deepcopy:
            with self.assertRaisesRegex(TypeError, "a Cube cannot be copied"):
                attempt(c)
        with self.assertRaisesRegex(TypeError, "open for writing"):
            pickle.dumps(c)
        c.close()

    def test_a_pickle_opens_the_cube_again(self):
        sp.Cube.from_array(self.path, np.arange(6.0).reshape(2, 3)).close()
        before = os.getcwd()
        os.chdir(self.path.parent)
        self.addCleanup(os.chdir, before)
        with sp.Cube("c", verify=True, memory="8M") as c:
            with self.assertRaisesRegex(TypeError, "cannot be copied"):
                copy.deepcopy(c)
            text = pickle.dumps(c)
        os.chdir(before)
        with pickle.loads(text) as again:
            self.assertSame(again[...], np.arange(6.0).reshape(2, 3))
        with self.assertRaisesRegex(ValueError, "closed"):
            pickle.dumps(c)

    def test_new_cubes_have_their_fill(self):
        for dtype, fill in ("f8", 0.1), ("i4", -3), ("V3", b"abc"), ("f4", float("nan")):
            with sp.Cube.create(
                self.path, (3, 4), dtype, fill=fill, tile=None, mapping="hilbert"
            ) as c:
                self.assertSame(c[...], np.full((3, 4), np.array(fill, dtype)))
                c[1:, :2] = c[:2, :2]
            self.path.unlink()
        c = sp.Cube.create(
            self.path, 7, "u1", mapping="naive", order=[0], seed=3, queries=["beam 0"]
        )
        self.assertEqual((c.shape, c.mapping), ((7,), "naive"))
        c.close()
        with self.assertRaises(OverflowError):
            sp.Cube.create(self.path, 3, "u1", fill=300, overwrite=True)
        with self.assertRaisesRegex(TypeError, "did you mean 'mapping'"):
            sp.Cube.create(self.path, 3, maping="naive")

    def test_array_makes_copies(self):
        with sp.Cube.from_array(self.path, np.arange(6.0).reshape(2, 3)) as c:
            self.assertSame(np.asarray(c, dtype="i4"), np.arange(6, dtype="i4").reshape(2, 3))
            self.assertEqual(float(np.sum(np.asarray(c))), 15)
            self.assertEqual([row[1] for row in c], [1, 4])
            if int(np.__version__.split(".")[0]) > 1:
                with self.assertRaisesRegex(ValueError, "makes a copy"):
                    np.asarray(c, copy=False)

    def test_a_slice_needs_its_own_cells_only(self):
        tool = Path(BUILD) / "bin" / "mmap-cube"
        a = np.arange(64**3, dtype="f4").reshape(64, 64, 64)
        sp.Cube.from_array(self.path, a, mapping="naive").close()
        with open(self.path, "r+b") as f:  # damage the cells of the second half
            f.seek(self.path.stat().st_size * 3 // 4)
            f.write(bytes(self.path.stat().st_size // 4))
        self.assertEqual(
            subprocess.run([tool, "check", self.path], capture_output=True).returncode, 1
        )
        with sp.Cube(self.path, verify=True) as c:
            self.assertSame(c[:, :, 5], a[:, :, 5])
            with self.assertRaisesRegex(sp.SpindleError, "checksum"):
                c[...]

    def test_wrong_calls_are_refused(self):
        a = np.zeros((3, 4), "f4")
        c = sp.Cube.from_array(self.path, a, mapping="naive")
        for key in (3, (0, -5), (0, 0, 0), (..., ...), [0, 1], (None, 0), 1.5, True, a > 0):
            with self.assertRaises(IndexError):
                c[key]
        with self.assertRaisesRegex(IndexError, "without a step"):
            c[::2] = 1
        c.close()
        c.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            c[0]
        with sp.Cube(self.path) as c, self.assertRaisesRegex(ValueError, "mode 'r\\+'"):
            c[0] = 1
        for dtype in "?", "f2", "c8", "U3", "M8[s]", "O", [("a", "i4")]:
            with self.assertRaisesRegex(TypeError, "is not supported"):
                sp.Cube.from_array(self.path, np.zeros(3, dtype), overwrite=True)
        for call in (
            lambda: sp.Cube(self.path, "w"),
            lambda: sp.Cube(self.path, memory="12 parsecs"),
            lambda: sp.Cube.create(self.path, (0, 3)),
            lambda: sp.Cube.create(self.path, ()),
            lambda: sp.Cube.create(self.path, (3,), mapping="round", overwrite=True),
        ):
            self.assertRaises(ValueError, call)
        with self.assertRaisesRegex(sp.SpindleError, "File exists"):
            sp.Cube.create(self.path, (3,))
        with self.assertRaisesRegex(sp.SpindleError, "No such file"):
            sp.Cube(self.path.with_name("none"))
        with sp.Cube(self.path) as c:
            self.assertSame(c[...], a)

    def test_a_cube_in_use_is_refused_or_awaited(self):
        writer = sp.Cube.from_array(self.path, np.zeros(3, "f4"))
        for wait in None, 0.01:
            with self.assertRaisesRegex(sp.SpindleError, "another program is changing it"):
                sp.Cube(self.path, wait=wait)
        for wait in -1, "soon", float("nan"):
            with self.assertRaisesRegex(ValueError, "invalid --wait argument"):
                sp.Cube(self.path, wait=wait)
        before = signal.signal(signal.SIGALRM, lambda *_: writer.close())
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        sp.Cube(self.path, wait=True).close()
        signal.signal(signal.SIGALRM, before)
        with sp.Cube(self.path) as reader:
            with sp.Cube(self.path, "r+") as writer:
                writer[...] = 1
            with self.assertRaisesRegex(sp.SpindleError, "open it again"):
                reader[0]

    def test_an_array_that_cannot_be_loaded_leaves_no_cube_that_looks_whole(self):
        with mock.patch("spindle_io._cube._blocks", side_effect=MemoryError("none left")):
            with self.assertRaisesRegex(MemoryError, "none left"):
                sp.Cube.from_array(self.path, np.ones((300, 400)))
        with sp.Cube(self.path, "r+") as c:
            with self.assertRaisesRegex(sp.SpindleError, "load all elements again"):
                c[0]
            c[...] = 2
            self.assertEqual(c[1, 1], 2)
            with mock.patch("spindle_io._cube._blocks", side_effect=MemoryError("none left")):
                self.assertRaises(MemoryError, c.__setitem__, ..., 3)
            self.assertEqual(c[1, 1], 2)


if __name__ == "__main__":
    unittest.main(testRunner=tap.Runner)
