# SPDX-License-Identifier: MIT
"""Commands of xtable(1) on a table: what describes and changes it, and gets some of its records."""

from __future__ import annotations

import ctypes
import datetime
import json
import numbers
import os
from collections.abc import Iterable, Mapping
from ctypes import byref, c_char_p
from decimal import Decimal
from typing import Any

from ._lib import accepted, c_strings, lib, name, no_error
from ._lib import options as lib_options

_VALUES = (str, bytes, numbers.Number, datetime.date, datetime.time)
_RESOURCES = {"memory", "parallel", "wait"}


def quoted(text: str) -> str:
    """Returns a name as lists of names have it."""
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _names(columns: Iterable[str] | None) -> str | None:
    if isinstance(columns, str):
        raise TypeError("columns: a list of names, not one text")
    return None if columns is None else ",".join(map(quoted, columns))


def _types(types: Mapping[str, str] | None) -> str | None:
    return ",".join(f"{quoted(c)}:{t}" for c, t in types.items()) if types else None


def _text(value: Any) -> str:
    return os.fsdecode(value) if isinstance(value, bytes) else str(value)


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    if not isinstance(value, _VALUES):
        raise TypeError(
            f"a value of a column is a text, bytes, a number, a date or a time, not a "
            f"{type(value).__name__}: give a text, of JSON from json.dumps()"
        )
    doubled = _text(value).replace("'", "''")
    return f"'{doubled}'"


def _set(values: Mapping[str, Any] | None) -> list[str]:
    return [f"--set={quoted(c)}={_literal(v)}" for c, v in (values or {}).items()]


def _texts(keys: Any) -> list[str]:
    """Returns keys as texts: of one, or of several."""
    some = [keys] if isinstance(keys, (str, bytes, int)) else keys
    return [_text(k) for k in some]


class TableVerbs:
    """The commands; each one opens the table, and closes it at its end.

    A failed change leaves the table as it was.  memory, parallel and wait are as of a scan.
    """

    path: Any

    def _call(
        self, command: str, words: list[str], operands: Iterable[Any] = (), **resources: Any
    ) -> tuple[str, str]:
        """Runs a command.  Returns its document, and the message of a key without a record."""
        unknown = sorted(resources.keys() - _RESOURCES)
        if unknown:
            known = ", ".join(sorted(_RESOURCES))
            raise TypeError(
                f"{command}() has no keyword argument {unknown[0]!r}; for resources: {known}"
            )
        words = words + lib_options(
            buffer_size=resources.get("memory"),
            parallel=resources.get("parallel"),
            wait=resources.get("wait"),
        )
        document, err = c_char_p(), no_error()
        rc = lib.sp_call_table(
            command.encode(),
            name(self.path),
            *c_strings(words),
            *c_strings(operands),
            byref(document),
            byref(err),
        )
        try:
            accepted(rc, err)
            text = (document.value or b"").decode("utf-8", "surrogateescape")
        finally:
            lib.sp_call_report_free(ctypes.cast(document, ctypes.c_void_p))
        return text, err.text.decode(errors="replace") if rc else ""

    def _change(
        self, command: str, words: list[str], operands: Iterable[Any] = (), **resources: Any
    ) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self._call(command, words, operands, **resources)[0])
        return report

    def info(self) -> dict[str, Any]:
        """The facts that ``xtable info --json`` prints."""
        return self._change("info", [])

    @property
    def schema(self) -> dict[str, str]:
        """The types of the columns by their names, in the order of the columns."""
        return {c["name"]: c["type"] for c in self.info()["columns"]}

    def __len__(self) -> int:
        """The number of records that are not deleted."""
        info = self.info()
        return int(info["records"]) - int(info["deleted"])

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: Any) -> None:
        """Each command has closed the table."""

    def get(
        self,
        keys: Any,
        *,
        by: str | None = None,
        columns: Iterable[str] | None = None,
        index: Any = None,
        **resources: Any,
    ) -> list[dict[str, Any]]:
        """Returns the records with these numbers, or with these values of the column `by`, which
        has an index (index: its path), in the order of the keys.

        Decimals are Decimal, dates and times texts.  A key without a record is a KeyError.
        """
        words = lib_options(by=by, columns=_names(columns), index=index)
        text, absent = self._call("get", words, _texts(keys), **resources)
        if absent:
            raise KeyError(absent)
        floats = {c for c, t in self.schema.items() if t.startswith("f")}
        records = [json.loads(line, parse_float=Decimal) for line in text.split("\n") if line]
        for record in records:
            for c in floats & record.keys():
                if record[c] is not None:  # nan and inf are texts
                    record[c] = float(record[c])
        return records

    def update(
        self,
        values: Mapping[str, Any] | None = None,
        keys: Any = (),
        *,
        where: str | None = None,
        by: str | None = None,
        index: Any = None,
        file: Any = None,
        **resources: Any,
    ) -> dict[str, Any]:
        """Gives columns new values: in the records with these numbers, those for which `where` is
        true, or those whose value of the column `by` is a key.  None is NULL.

        file: instead of values, a file that has them with the values of `by`.
        Returns the report; its result has keys, and keys_found: those that have a record.
        """
        words = lib_options(where=where, by=by, index=index) + _set(values)
        words += [] if file is None else ["--from=" + name(file).decode("utf-8", "surrogateescape")]
        return self._change("update", words, _texts(keys), **resources)

    def delete(
        self,
        keys: Any = (),
        *,
        where: str | None = None,
        by: str | None = None,
        index: Any = None,
        **resources: Any,
    ) -> dict[str, Any]:
        """Deletes records, which are chosen as by update(); the numbers of the others stay."""
        words = lib_options(where=where, by=by, index=index)
        return self._change("delete", words, _texts(keys), **resources)

    def append(self, *files: Any, **resources: Any) -> dict[str, Any]:
        """Appends the records of files, which have the form of the text that was loaded."""
        return self._change("append", [], files, **resources)

    def index(self, column: str, output: Any = None, **resources: Any) -> dict[str, Any]:
        """Builds the index of a column, for get(by=column); output: its path."""
        words = lib_options(output=output)
        return self._change("index", words, [column], **resources)

    def alter(
        self,
        *,
        add: Mapping[str, str] | None = None,
        values: Mapping[str, Any] | None = None,
        drop: Iterable[str] | None = None,
        rename: Mapping[str, str] | None = None,
        types: Mapping[str, str] | None = None,
        **resources: Any,
    ) -> dict[str, Any]:
        """Changes columns, all at once; names are those before the change.

        add: types of new columns by name; values: their values in all records, otherwise NULL.
        """
        words = lib_options(add=_types(add), drop=_names(drop), types=_types(types)) + _set(values)
        words += [f"--rename={quoted(old)}={quoted(new)}" for old, new in (rename or {}).items()]
        return self._change("alter", words, **resources)
