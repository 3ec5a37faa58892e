# SPDX-License-Identifier: MIT
"""Cubes of mmap-cube(1) as arrays of NumPy, which is needed only here."""

from __future__ import annotations

import errno
import operator
import os
import threading
from collections.abc import Iterator, Sequence
from ctypes import Structure, byref, c_char_p, c_uint32, c_uint64, c_void_p
from types import TracebackType
from typing import TYPE_CHECKING, Any, Union

from ._keywords import cube_words, join_sizes
from ._lib import Owner, accepted, c_strings, lib, name, no_error, options

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from typing_extensions import Unpack

    from ._keywords import CubeKeywords

DIMS_MAX = 16
TYPES = ("V", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
BLOCK_BYTES = 4 << 20  # of an array that a load gets at a time

PathLike = Union[str, bytes, "os.PathLike[str]"]


class Box(Structure):
    """struct sp_cube_box."""

    _fields_ = [
        ("lo", c_uint64 * DIMS_MAX),
        ("hi", c_uint64 * DIMS_MAX),
        ("stride", c_uint64 * DIMS_MAX),
        ("indexed", c_uint32),
    ]


class Facts(Structure):
    """struct sp_call_cube_facts."""

    _fields_ = [
        ("dims", c_uint64 * DIMS_MAX),
        ("ndims", c_uint32),
        ("type", c_uint32),
        ("element_bytes", c_uint32),
        ("points", c_uint32),
        ("mapping", c_char_p),
    ]


def _numpy() -> Any:
    try:
        import numpy
    except ImportError as e:
        raise ImportError("spindle_io.Cube needs NumPy: pip install numpy") from e
    return numpy


def _type_name(dtype: np.dtype[Any]) -> str:
    """The name of a type in mmap-cube(1)."""
    if dtype.kind == "V" and dtype.fields is None and dtype.subdtype is None and dtype.itemsize:
        return f"bytes:{dtype.itemsize}b"
    if dtype.kind + str(dtype.itemsize) not in TYPES:
        raise TypeError(
            f"the dtype {dtype} is not supported: supported are int8 to int64, uint8 to uint64, "
            "float32, float64 and void; convert the array by astype()"
        )
    return f"{dtype.kind}{dtype.itemsize * 8}"


def _fill_text(fill: Any, dtype: np.dtype[Any]) -> str:
    """The value as mmap-cube(1) reads it."""
    value = _array(fill, dtype)
    return str(value.tobytes().hex()) if dtype.kind == "V" else repr(value.item())


class _Selection:
    """What a key selects: a box of elements, and how NumPy shows it."""

    def __init__(self, key: Any, shape: tuple[int, ...]):
        self.box = Box()
        self.counts: list[int] = []  # elements along each dimension of the box
        self.view: list[int | slice] = []  # of an array of these elements
        self.stepped = False
        for d, (item, size) in enumerate(zip(self._items(key, len(shape)), shape)):
            if isinstance(item, slice):
                self._add_slice(d, *item.indices(size))
            else:
                self._add_index(d, item, size)

    @staticmethod
    def _items(key: Any, ndim: int) -> list[Any]:
        """The items of a key, one for each dimension."""
        items = list(key) if isinstance(key, tuple) else [key]
        dots = [i for i, item in enumerate(items) if item is Ellipsis]
        if len(dots) > 1:
            raise IndexError("an index can only have a single ellipsis ('...')")
        if len(items) - len(dots) > ndim:
            raise IndexError(f"too many indices: the cube has {ndim} dimensions")
        at = dots[0] if dots else len(items)
        whole = [slice(None)] * (ndim - len(items) + len(dots))
        return items[:at] + whole + items[at + len(dots) :]

    def _add_slice(self, d: int, start: int, stop: int, step: int) -> None:
        count = len(range(start, stop, step))
        last = start + max(count - 1, 0) * step
        self.box.lo[d], self.box.hi[d] = max(min(start, last), 0), max(start, last, 0)
        self.box.stride[d] = abs(step)
        self.counts.append(count)
        self.view.append(slice(None, None, 1 if step > 0 else -1))
        self.stepped |= step != 1

    def _add_index(self, d: int, item: Any, size: int) -> None:
        try:
            if isinstance(item, bool):
                raise TypeError
            index = operator.index(item)
        except TypeError:
            raise IndexError("only integers, slices and an ellipsis are valid indices") from None
        if not -size <= index < size:
            raise IndexError(
                f"index {index} is out of bounds for dimension {d} with {size} elements"
            )
        self.box.lo[d] = self.box.hi[d] = index % size
        self.box.stride[d] = 1
        self.counts.append(1)
        self.view.append(0)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(n for n, v in zip(self.counts, self.view) if isinstance(v, slice))


def _blocks(array: NDArray[Any], dtype: np.dtype[Any], c_order: bool) -> Iterator[Any]:
    """The bytes of an array: blocks of its slowest dimension."""
    slow = array if c_order else array.T
    step = max(BLOCK_BYTES * len(slow) // max(array.size * dtype.itemsize, 1), 1)
    for at in range(0, len(slow), step):
        yield slow[at : at + step].astype(dtype, order="C").data.cast("B")


def _array(value: Any, dtype: np.dtype[Any]) -> Any:
    """An array of a number or a sequence; before version 2 NumPy only warns of overflows."""
    np = _numpy()
    if dtype.kind not in "iu":
        return np.asarray(value, dtype)
    array, limits = np.asarray(value), np.iinfo(dtype)
    if array.size and array.dtype.kind in "iuO":
        for number in array.min(), array.max():
            if not limits.min <= number <= limits.max:
                raise OverflowError(f"{number} does not fit into an element of type {dtype}")
    return np.asarray(value, dtype)


def _values(array: Any) -> NDArray[Any]:
    """An array, all of whose elements have a value."""
    np = _numpy()
    if np.ma.is_masked(array):
        raise ValueError(
            "a cube has no mask, and elements of the array are masked: pass array.filled(value)"
        )
    return np.asarray(array)  # type: ignore[no-any-return]


def _sizes(shape: Any) -> tuple[int, ...]:
    """The sizes of a shape: an integer, or a sequence of them."""
    if not getattr(shape, "ndim", 0):
        try:
            return (operator.index(shape),)
        except TypeError:
            pass
    try:
        return tuple(operator.index(size) for size in shape)
    except TypeError:
        raise TypeError(
            f"a shape is an integer or a sequence of integers, not {shape!r}"
        ) from None


class Cube(Owner):
    """A cube of mmap-cube(1), a grid of elements: ``cube[0:10, :, 5]`` reads a box of it into an
    array of NumPy, and ``cube[0:10, :, 5] = array`` writes one.

    mode: "r", or "r+" to write.  A cube that is open for writing is locked for all others.
    memory: a size as -S takes it, or bytes; verify: compare checksums of all data read.
    wait: seconds to wait until other programs have released the cube; True: without limit.

    Only elements of the box are read, and blocks between them that cost less than a request.
    Elements are assigned as NumPy does.  If an assignment of a box is interrupted, the cube cannot
    be read until it is repeated; one of the whole cube, or of one element, has taken place or not.
    Threads can share a cube; its calls follow each other.
    """

    def __init__(
        self,
        path: PathLike,
        mode: str = "r",
        *,
        memory: str | int | None = None,
        parallel: int | None = None,
        verify: bool = False,
        wait: float | bool | None = None,
    ):
        self._handle, self._lock = c_void_p(), threading.RLock()
        if mode not in ("r", "r+"):
            raise ValueError(f"mode {mode!r} is neither 'r' nor 'r+'")
        numpy = _numpy()
        words = options(buffer_size=memory, parallel=parallel, verify=verify, wait=wait)
        err, facts = no_error(), Facts()
        args = (name(path), *c_strings(words), mode == "r+", byref(err))
        rc = -errno.EINTR
        while rc == -errno.EINTR:  # Python has run the signal's handler, which has not raised
            rc = lib.sp_call_cube_open(byref(self._handle), *args)
        accepted(rc, err)
        lib.sp_call_cube_facts(self._handle, byref(facts))
        if facts.points:
            self.close()
            raise ValueError(f"{os.fsdecode(path)}: a dataset of points is not an array")
        self.path, self.mode = path, mode
        self._memory, self._parallel, self._verify = memory, parallel, verify
        self.mapping: str = facts.mapping.decode()
        self.shape: tuple[int, ...] = tuple(facts.dims[: facts.ndims])
        size = facts.element_bytes if not facts.type else ""
        self.dtype: np.dtype[Any] = numpy.dtype(f"{TYPES[facts.type]}{size}").newbyteorder("<")

    @classmethod
    def create(
        cls,
        path: PathLike,
        shape: Sequence[int] | int,
        dtype: DTypeLike = "f4",
        *,
        fill: Any = None,
        memory: str | int | None = None,
        parallel: int | None = None,
        **layout: Unpack[CubeKeywords],
    ) -> Cube:
        """Makes a cube whose elements are fill, and opens it for writing.

        Options are those of mmap-cube(1) create.
        """
        cls._make(path, shape, dtype, False, fill, layout)
        return cls(path, "r+", memory=memory, parallel=parallel)

    @classmethod
    def from_array(
        cls,
        path: PathLike,
        array: ArrayLike,
        *,
        memory: str | int | None = None,
        parallel: int | None = None,
        **layout: Unpack[CubeKeywords],
    ) -> Cube:
        """Makes a cube of an array, and opens it for writing; options are those of create().

        If that is interrupted, the cube cannot be read until all its elements are assigned.
        """
        data = _values(array)
        cls._make(path, data.shape, data.dtype, True, None, layout)
        cube = cls(path, "r+", memory=memory, parallel=parallel)
        try:
            cube._load(data)
        except BaseException:
            cube.close()
            raise
        return cube

    @staticmethod
    def _make(
        path: PathLike, shape: Any, dtype: Any, awaits: bool, fill: Any, layout: Any
    ) -> None:
        kind = _numpy().dtype(dtype)
        sizes = _sizes(shape)
        if not 1 <= len(sizes) <= DIMS_MAX or min(sizes) < 1:
            raise ValueError(
                f"a cube has 1 to {DIMS_MAX} dimensions with at least one element, not {sizes}"
            )
        words = options(
            dims=join_sizes(sizes, "x"),
            dtype=_type_name(kind),
            fill=None if fill is None else _fill_text(fill, kind),
        )
        words += cube_words(layout)
        err = no_error()
        accepted(lib.sp_call_cube_create(name(path), *c_strings(words), awaits, byref(err)), err)

    def __reduce__(self) -> Any:
        """A pickle opens the file again, to read."""
        if self.mode != "r":
            raise TypeError(
                "a cube that is open for writing is locked for all others, so a pickle cannot open "
                "it again: open it with mode 'r'"
            )
        if not self._handle:
            raise ValueError("the cube is closed")
        path = os.path.abspath(os.fspath(self.path))
        return _opened, (path, self._memory, self._parallel, self._verify)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        product = 1
        for n in self.shape:
            product *= n
        return product

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        path = os.fsdecode(self.path)
        return f"<spindle_io.Cube {path!r}: {self.shape}, {self.dtype}, {self.mapping}>"

    def _call(self, function: Any, *args: Any) -> None:
        err = no_error()
        with self._lock:
            if not self._handle:
                raise ValueError("the cube is closed")
            accepted(function(self._handle, *args, byref(err)), err)

    def __getitem__(self, key: Any) -> Any:
        selection = _Selection(key, self.shape)
        elements = _numpy().empty(selection.counts, self.dtype, order="F")
        if elements.size:
            address = elements.ctypes.data
            self._call(lib.sp_cube_read_array, byref(selection.box), address, None)
        return elements[tuple(selection.view)]

    def __setitem__(self, key: Any, value: Any) -> None:
        np = _numpy()
        if self.mode != "r+":
            raise ValueError("the cube is open for reading: open it with mode 'r+'")
        selection = _Selection(key, self.shape)
        if selection.stepped:
            raise IndexError("elements are assigned without a step")
        array = _values(value) if hasattr(value, "dtype") else _array(value, self.dtype)
        while array.ndim > len(selection.shape) and array.shape[0] == 1:
            array = array[0]
        array = np.broadcast_to(array, selection.shape)
        if not array.size:
            return
        if tuple(selection.counts) == self.shape and self.size > 1:
            self._load(array.reshape(self.shape))
            return
        elements = np.empty(selection.counts, self.dtype, order="F")
        elements[tuple(selection.view) + (Ellipsis,)] = array
        address = elements.ctypes.data
        self._call(lib.sp_cube_write, byref(selection.box), address, None)

    def _load(self, array: NDArray[Any]) -> None:
        """Loads all elements, through a pipe that a thread fills."""
        c_order = bool(array.flags.c_contiguous or not array.flags.f_contiguous)
        failed: list[BaseException] = []
        source, sink = os.pipe()

        def feed() -> None:
            try:
                with open(sink, "wb") as pipe:
                    for block in _blocks(array, self.dtype, c_order):
                        pipe.write(block)
            except BrokenPipeError:
                pass  # the load has failed, and says why
            except BaseException as e:
                failed.append(e)

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        try:
            self._call(lib.sp_call_cube_load, name(f"/dev/fd/{source}"), c_order)
        except Exception as e:
            os.close(source)
            feeder.join()
            raise (failed[0] if failed else e) from None
        os.close(source)
        feeder.join()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a cube is not in memory: reading it makes a copy")
        array: NDArray[Any] = self[...]
        return array if dtype is None else array.astype(dtype, copy=False)

    def close(self) -> None:
        """Closes the cube; a second call has no effect."""
        with self._lock:
            handle, self._handle = self._handle, c_void_p()
            if handle:
                accepted(lib.sp_cube_close(handle), no_error())

    def __enter__(self) -> Cube:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.sp_cube_close(self._handle)


def _opened(path: PathLike, memory: Any, parallel: Any, verify: bool) -> Cube:
    return Cube(path, memory=memory, parallel=parallel, verify=verify)
