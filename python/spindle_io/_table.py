# SPDX-License-Identifier: MIT
"""Tables of xtable(1) as streams of record batches of Arrow, and back.

Streams are passed as capsules of the Arrow C stream interface, so no library of Arrow is needed.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterable
from ctypes import POINTER, Structure, byref, c_char_p, c_void_p
from typing import Any

from ._lib import accepted, c_strings, check, error_of, lib, name, no_error
from ._lib import options as lib_options
from ._tableverbs import TableVerbs

CAPSULE = b"arrow_array_stream"


class Stream(Structure):
    """struct ArrowArrayStream."""


Stream._fields_ = [
    ("get_schema", c_void_p),
    ("get_next", c_void_p),
    ("get_last_error", c_void_p),
    ("release", ctypes.CFUNCTYPE(None, POINTER(Stream))),
    ("private_data", c_void_p),
]

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
_malloc = ctypes.pythonapi.PyMem_RawMalloc
_malloc.restype, _malloc.argtypes = c_void_p, [ctypes.c_size_t]
_free = ctypes.pythonapi.PyMem_RawFree
_free.restype, _free.argtypes = None, [c_void_p]
# The destructor of capsules is a function of C: one of Python would lose an exception that is set.
_destroy = ctypes.cast(lib.sp_table_capsule_free, c_void_p)
lib.sp_table_capsule_functions(
    ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, c_void_p), ctypes.cast(_free, c_void_p)
)


def _release(address: int) -> None:
    """Releases a stream, unless its consumer has moved or released it."""
    stream = Stream.from_address(address)
    if stream.release:
        stream.release(byref(stream))


def _words(options: Iterable[tuple[str, Any]]) -> list[str]:
    """Returns options as arguments, without those that are None."""
    return [f"--{o}={value}" for o, value in options if value is not None]


def _column(text: str) -> str:
    """Returns a name as a list of names has it."""
    quoted = text.replace('"', '""')
    return f'"{quoted}"'


class Scan:
    """The records that a scan chooses, for any consumer of ``__arrow_c_stream__``.

    Each consumer reads the table by itself.
    """

    def __init__(self, path: Any, words: list[str]):
        self._path, self._words = name(path), words

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Returns a capsule; the schema is always the table's."""
        address = _malloc(ctypes.sizeof(Stream))
        if not address:
            raise MemoryError
        ctypes.memset(address, 0, ctypes.sizeof(Stream))
        array, n = c_strings(self._words)
        err = no_error()
        try:
            check(lib.sp_call_table_arrow(self._path, array, n, address, byref(err)), err)
            return _new_capsule(address, CAPSULE, _destroy)
        except BaseException:
            _release(address)
            _free(address)
            raise


class Table(TableVerbs):
    """A table that xtable(1) or Table.load() made.

    ``pyarrow.table(Table("t").scan(["a", "b"], "a > 5"))`` reads columns of some records;
    ``duckdb.sql("from s")``, ``polars.from_arrow(s)`` and ``pandas.DataFrame.from_arrow(s)`` take
    a scan s as well.
    """

    def __init__(self, path: Any):
        self.path = path

    def scan(
        self,
        columns: Iterable[str] | None = None,
        where: str | None = None,
        *,
        lo: int | None = None,
        hi: int | None = None,
        limit: int | None = None,
        memory: str | int | None = None,
        parallel: int | None = None,
        wait: float | bool | None = None,
    ) -> Scan:
        """Chooses columns, and records by a predicate, a limit, and numbers from lo to below hi.

        memory: a size as -S takes it, or bytes.  wait: seconds to wait until other programs have
        released the table; True: without limit.  Errors are raised when the scan is read.
        """
        if isinstance(columns, str):
            raise TypeError("columns: a list of names, not one text")
        chosen = None if columns is None else ",".join(_column(c) for c in columns)
        options = (
            ("columns", chosen),
            ("where", where),
            ("lo", lo),
            ("hi", hi),
            ("limit", limit),
            ("buffer-size", _size(memory)),
            ("parallel", parallel),
        )
        return Scan(self.path, _words(options) + lib_options(wait=wait))

    @classmethod
    def load(
        cls,
        path: Any,
        source: Any,
        *,
        layout: str | None = None,
        together: Iterable[Iterable[str]] = (),
        overwrite: bool = False,
        memory: str | int | None = None,
        parallel: int | None = None,
        **of_files: Any,
    ) -> Table:
        """Loads a table from files, or from an object with ``__arrow_c_stream__``, and returns it.

        source: a path, a list of paths, or an object whose records come by Arrow.
        together: lists of columns that share cells.  The table appears when it is complete; an
        old one is replaced then, if overwrite is set.
        of_files: of records in files: csv, json, header, separator, null, types, exact, decompress.
        types has a type for some names of columns, as in xtable(1); others are inferred.
        """
        if not overwrite and os.path.lexists(path):
            raise error_of(-errno.EEXIST, "exists; pass overwrite=True", os.fsdecode(path), None)
        words = _words((("layout", layout), ("buffer-size", _size(memory)), ("parallel", parallel)))
        words += ["--together=" + ",".join(_column(c) for c in columns) for columns in together]
        words += ["--overwrite"] * overwrite
        if hasattr(source, "__arrow_c_stream__"):
            if of_files:
                raise TypeError(f"{min(of_files)!r} is of records in files, not of Arrow")
            _load_stream(path, source, words)
        else:
            _load_files(path, source, words + _file_words(of_files))
        return cls(path)


def _load_stream(path: Any, stream: Any, words: list[str]) -> None:
    capsule = stream.__arrow_c_stream__()
    address = _pointer(capsule, CAPSULE)
    err = no_error()
    rc = lib.sp_call_table_load_arrow(name(path), *c_strings(words), address, byref(err))
    if rc == -errno.EINVAL and Stream.from_address(address).release:
        _release(address)  # an argument is wrong
        raise ValueError(err.text.decode(errors="replace"))
    check(rc, err)


_OF_FILES = {"csv", "json", "header", "separator", "null", "types", "exact", "decompress"}


def _file_words(given: dict[str, Any]) -> list[str]:
    for key in given.keys() - _OF_FILES:
        raise TypeError(f"load() has no keyword argument {key!r}; of files: {sorted(_OF_FILES)}")
    given = {k: v for k, v in given.items() if v is not None and v is not False}
    if "types" in given:
        given["types"] = ",".join(f"{_column(c)}:{t}" for c, t in given["types"].items())
    if "separator" in given:
        given["field_separator"] = given.pop("separator")
    return lib_options(**given)


def _load_files(path: Any, source: Any, words: list[str]) -> None:
    files = [source] if isinstance(source, (str, bytes, os.PathLike)) else source
    if not isinstance(files, (list, tuple)):
        raise TypeError(
            f"a {type(source).__name__} has no __arrow_c_stream__(): pass a table of pyarrow, "
            "pandas, Polars or DuckDB, or paths of files"
        )
    given, err = (*c_strings(words), *c_strings(files)), no_error()
    accepted(lib.sp_call_table_load(name(path), *given, byref(err)), err)


def _size(memory: str | int | None) -> str | None:
    return f"{memory}b" if isinstance(memory, int) else memory
