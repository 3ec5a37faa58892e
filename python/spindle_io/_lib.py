# SPDX-License-Identifier: MIT
"""Loads the shared library; declares its functions, structs and errors."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterable, Sequence
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_bool,
    c_char,
    c_char_p,
    c_int,
    c_longlong,
    c_size_t,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Any

from ._version import __version__ as __version__

PATH = Path(__file__).parent / "lib" / "libspindle.so.0"
END, READY = 0, 1
EFORMAT, EBALANCE = -4096, -4103
LINE, CSV, FIXED = range(3)
#: What some programs write before UTF-8 text; at the beginning of CSV it belongs to no field.
MARK = b"\xef\xbb\xbf"


def printable(text: str) -> str:
    """Returns the text with octal escapes for characters that a terminal does not print."""
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))


class SpindleError(Exception):
    """An error of the library.

    code: negative, -errno or one of SP_E... of spindle_error(3); path: the file, or None;
    offset: in bytes in the file, or None; text: the reason.
    """

    def __init__(self, code: int, text: str, path: str | None = None, offset: int | None = None):
        super().__init__(code, text, path, offset)
        self.code, self.text, self.path, self.offset = code, text, path, offset

    def __str__(self) -> str:
        place = f"{self.path}: " if self.path else ""
        place += f"offset {self.offset}: " if self.offset is not None else ""
        return printable(place + self.text)


class SpindleOSError(SpindleError, OSError):
    """An error of the library that is one of the system: errno, strerror and filename are set.

    It is also the class that Python has for its number, as FileNotFoundError.
    """

    def __init__(self, code: int, text: str, path: str | None = None, offset: int | None = None):
        OSError.__init__(self, -code, text, path)
        self.code, self.text, self.path, self.offset = code, text, path, offset

    def __reduce__(self) -> Any:
        return error_of, (self.code, self.text, self.path, self.offset)


_CLASSES: dict[type, type[SpindleOSError]] = {OSError: SpindleOSError}


def error_of(code: int, text: str, path: str | None, offset: int | None) -> SpindleError:
    """Makes an error; one of the system is of the class that Python has for its number."""
    if not -4096 < code < 0:
        return SpindleError(code, text, path, offset)
    own = type(OSError(-code, ""))
    if own not in _CLASSES:
        members = {"__module__": __name__, "__doc__": SpindleOSError.__doc__}
        _CLASSES[own] = type("Spindle" + own.__name__, (SpindleOSError, own), members)
    return _CLASSES[own](code, text, path, offset)


class ErrInfo(Structure):
    """struct sp_errinfo."""

    _fields_ = [
        ("code", c_int),
        ("op", c_char_p),
        ("offset", c_longlong),
        ("path", c_char * 4096),
        ("text", c_char * 256),
        ("where", c_char_p),
    ]


class Batch(Structure):
    """struct sp_batch."""

    _fields_ = [("data", c_void_p), ("bytes", c_size_t)]


class CTally(Structure):
    """struct sp_tally."""

    _fields_ = [("records", c_uint64), ("bytes", c_uint64), ("sum", c_uint64)]


class RecFmt(Structure):
    """struct sp_recfmt."""

    _fields_ = [("kind", c_int), ("eol", c_char), ("separator", c_char), ("fixed_bytes", c_size_t)]


class CallInfo(Structure):
    """struct sp_call_info."""

    _fields_ = [
        ("kind", c_int),
        ("eol", c_int),
        ("fixed_bytes", c_uint64),
        ("header_records", c_uint64),
        ("memory_bytes", c_uint64),
        ("header_first", c_bool),
        ("unique", c_bool),
        ("count", c_bool),
        ("random", c_bool),
        ("stable", c_bool),
        ("named", c_bool),
        ("format", RecFmt),
    ]


_ERR = POINTER(ErrInfo)
_BATCH = POINTER(Batch)
_TALLY = POINTER(CTally)
_WORDS = POINTER(c_char_p)
_HANDLE = POINTER(c_void_p)
#: Gives the next batch of file 0 or 1 of a join: END, READY or an error.
NEXT = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, _BATCH)

# name: (result, arguments)
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "sp_version": (c_char_p, []),
    "sp_strerror": (c_char_p, [c_int]),
    "sp_outfile_open": (c_int, [_HANDLE, c_char_p, c_int, _ERR]),
    "sp_outfile_begin": (c_int, [c_void_p, _ERR]),
    "sp_outfile_commit": (c_int, [c_void_p, _ERR]),
    "sp_outfile_close": (None, [c_void_p, _ERR]),
    "sp_call_sort": (c_int, [_HANDLE, _WORDS, c_size_t, _ERR]),
    "sp_call_free": (None, [c_void_p]),
    "sp_call_sort_opts": (c_void_p, [c_void_p]),
    "sp_call_args": (_WORDS, [c_void_p]),
    "sp_call_numbered": (c_int, [_HANDLE, c_void_p, c_char_p, _ERR]),
    "sp_call_info": (None, [c_void_p, POINTER(CallInfo)]),
    "sp_call_sort_files": (
        c_int,
        [c_void_p, _WORDS, c_size_t, c_bool, c_char_p, POINTER(c_void_p), _ERR],
    ),
    "sp_call_join": (c_int, [_HANDLE, _WORDS, c_size_t, _ERR]),
    "sp_call_join_free": (None, [c_void_p]),
    "sp_call_join_divides": (c_bool, [c_void_p, c_int]),
    "sp_call_join_opts": (c_void_p, [c_void_p]),
    "sp_call_join_args": (_WORDS, [c_void_p]),
    "sp_call_join_named": (c_bool, [c_void_p]),
    "sp_call_join_numbered": (c_int, [_HANDLE, c_void_p, c_char_p, c_char_p, _ERR]),
    "sp_call_join_files": (
        c_int,
        [c_void_p, c_char_p, c_char_p, POINTER(c_uint64), c_char_p, POINTER(c_void_p), _ERR],
    ),
    "sp_call_join_blocks": (
        c_int,
        [c_void_p, NEXT, c_void_p, POINTER(c_uint64), c_char_p, POINTER(c_void_p), _ERR],
    ),
    "sp_call_group": (c_int, [_HANDLE, _WORDS, c_size_t, _ERR]),
    "sp_call_group_free": (None, [c_void_p]),
    "sp_call_group_files": (
        c_int,
        [c_void_p, _WORDS, c_size_t, c_char_p, POINTER(c_void_p), _ERR],
    ),
    "sp_call_group_first": (
        c_int,
        [c_void_p, _WORDS, c_size_t, c_uint64, c_char_p, POINTER(c_void_p), _ERR],
    ),
    "sp_call_group_second": (
        c_int,
        [c_void_p, _BATCH, c_bool, _WORDS, c_size_t, c_char_p, POINTER(c_void_p), _ERR],
    ),
    "sp_call_table": (
        c_int,
        [c_char_p, c_char_p, _WORDS, c_size_t, _WORDS, c_size_t, POINTER(c_char_p), _ERR],
    ),
    "sp_call_table_arrow": (c_int, [c_char_p, _WORDS, c_size_t, c_void_p, _ERR]),
    "sp_call_table_load": (c_int, [c_char_p, _WORDS, c_size_t, _WORDS, c_size_t, _ERR]),
    "sp_call_table_load_arrow": (c_int, [c_char_p, _WORDS, c_size_t, c_void_p, _ERR]),
    "sp_table_capsule_free": (None, [c_void_p]),
    "sp_table_capsule_functions": (None, [c_void_p, c_void_p]),
    "sp_call_cube_create": (c_int, [c_char_p, _WORDS, c_size_t, c_bool, _ERR]),
    "sp_call_cube_open": (c_int, [_HANDLE, c_char_p, _WORDS, c_size_t, c_bool, _ERR]),
    "sp_call_cube_facts": (None, [c_void_p, c_void_p]),
    "sp_call_cube_load": (c_int, [c_void_p, c_char_p, c_bool, _ERR]),
    "sp_cube_read_array": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, _ERR]),
    "sp_cube_write": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, _ERR]),
    "sp_cube_close": (c_int, [c_void_p]),
    "sp_call_report_free": (None, [c_void_p]),
    "sp_call_sample": (c_int, [_HANDLE, c_void_p, _WORDS, c_size_t, c_size_t, _ERR]),
    "sp_splitters_read": (c_int, [_HANDLE, c_void_p, _BATCH, _ERR]),
    "sp_splitters_count": (c_size_t, [c_void_p]),
    "sp_splitters_get": (Batch, [c_void_p, c_size_t]),
    "sp_splitters_free": (None, [c_void_p]),
    "sp_tally_buffer": (c_int, [_TALLY, POINTER(RecFmt), _BATCH, _ERR]),
    "sp_head_buffer": (c_size_t, [POINTER(RecFmt), _BATCH, c_uint64]),
    "sp_sort_buffer": (
        c_int,
        [c_void_p, _BATCH, c_size_t, c_void_p, c_size_t, _TALLY, _TALLY, _ERR],
    ),
    "sp_split_buffer": (c_int, [c_void_p, _BATCH, POINTER(c_size_t), _ERR]),
    "sp_join_partition": (
        c_int,
        [c_void_p, c_int, _BATCH, c_size_t, c_void_p, POINTER(c_size_t), _TALLY, _ERR],
    ),
    "sp_merge_open": (c_int, [_HANDLE, c_void_p, _BATCH, c_size_t, _ERR]),
    "sp_merge_next": (c_int, [c_void_p, _BATCH]),
    "sp_merge_write": (c_int, [c_void_p, c_char_p, _BATCH]),
    "sp_merge_tally": (None, [c_void_p, _TALLY, _TALLY]),
    "sp_merge_close": (None, [c_void_p]),
}


def _load() -> ctypes.CDLL:
    try:
        lib = ctypes.CDLL(str(PATH))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(lib, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as e:
        raise ImportError(f"spindle_io: the library cannot be used: {e}") from e
    found = lib.sp_version().decode()
    if found != __version__:
        raise ImportError(
            f"spindle_io: this is version {__version__}, but {PATH} is version {found}"
        )
    return lib


lib = _load()


def name(path: Any) -> bytes:
    """Returns a name for C, where it ends at a null byte."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError("embedded null byte")
    return encoded


def c_strings(texts: Iterable[Any]) -> tuple[Any, int]:
    """Returns an array of char pointers, and its length."""
    encoded = [name(t) for t in texts]
    return (c_char_p * (len(encoded) + 1))(*encoded), len(encoded)


def texts(array: Any) -> list[str]:
    """Returns the texts of an array of char pointers that ends with NULL."""
    found: list[str] = []
    while array[len(found)] is not None:
        found.append(os.fsdecode(array[len(found)]))
    return found


def check(rc: int, err: ErrInfo) -> int:
    """Raises the error in err if rc is negative."""
    if rc >= 0:
        return rc
    text = err.text.decode(errors="replace") or lib.sp_strerror(rc).decode(errors="replace")
    path = os.fsdecode(err.path) if err.path else None
    raise error_of(rc, text, path, err.offset if err.offset >= 0 else None)


def accepted(rc: int, err: ErrInfo) -> None:
    """Raises the error in err if rc is negative; for wrong options, ValueError."""
    try:
        check(rc, err)
    except SpindleError as e:
        if e.code == -errno.EINVAL:
            raise ValueError(str(e)) from None
        raise


def completed(rc: int, err: ErrInfo) -> None:
    """Raises the error in err if rc is negative; for wrong options that do not concern a file,
    ValueError."""
    if err.path:
        check(rc, err)
    accepted(rc, err)


def options(**values: Any) -> list[str]:
    """Returns options of a command, in the words of C.  None and False: an option is not given;
    True: it has no argument.  A size of memory is a text as -S takes it, or bytes."""
    words = []
    for key, value in values.items():
        if value is None or value is False:
            continue
        if key == "buffer_size" and isinstance(value, int):
            value = f"{value}b"
        option = "--" + key.replace("_", "-")
        words.append(option if value is True else f"{option}={value}")
    return words


def no_error() -> ErrInfo:
    return ErrInfo(offset=-1)


class Owner:
    """An object that owns memory of the library or buffers: a copy would free them, too."""

    def __copy__(self) -> Any:
        raise TypeError(f"{_of(self)} cannot be copied: each copy would free what it owns")

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __reduce__(self) -> Any:
        raise TypeError(f"{_of(self)} cannot be pickled: it owns memory of this process")


def _of(o: object) -> str:
    return f"a {type(o).__name__}"


class _PyBuffer(Structure):
    """Py_buffer: in the stable interface since Python 3.11, with the same layout before."""

    _fields_ = [
        ("buf", c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", c_int),
        ("ndim", c_int),
        ("format", c_char_p),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("suboffsets", c_void_p),
        ("internal", c_void_p),
    ]


_WRITABLE = 1  # PyBUF_WRITABLE
_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, POINTER(_PyBuffer), c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [POINTER(_PyBuffer)]


class Views(Owner):
    """Addresses of objects with contiguous bytes, which do not move until release().

    capacity: bytes that will be written there.
    """

    def __init__(self, objects: Sequence[Any], capacity: int | None = None):
        self.batches = (Batch * (len(objects) + 1))()
        self._views: list[_PyBuffer] = []
        try:
            for i, o in enumerate(objects):
                view = _PyBuffer()
                _get_buffer(o, byref(view), 0 if capacity is None else _WRITABLE)
                self._views.append(view)
                if view.len < (capacity or 0):
                    raise ValueError(f"memory of {view.len} bytes, of {capacity} that are needed")
                self.batches[i] = Batch(view.buf, view.len)
        except BaseException:
            self.release()
            raise

    def skip_mark(self, info: CallInfo) -> bytes:
        """Skips the byte order mark at the start of CSV, and returns it."""
        first = self.batches[0]
        if info.kind != CSV or ctypes.string_at(first.data, min(first.bytes, len(MARK))) != MARK:
            return b""
        first.data += len(MARK)
        first.bytes -= len(MARK)
        return MARK

    @property
    def bytes(self) -> int:
        return sum(view.len for view in self._views)

    def release(self) -> None:
        while self._views:
            _release_buffer(byref(self._views.pop()))

    def __enter__(self) -> Views:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.release()
