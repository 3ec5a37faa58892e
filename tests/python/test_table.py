# SPDX-License-Identifier: MIT
"""The commands of spindle_io.Table, and the classes of errors, without other packages."""

import decimal
import math
import os
import pickle
import subprocess
import tempfile
import unittest
from pathlib import Path

import spindle_io as sp
import tap

XTABLE = os.environ.get("XTABLE", str(Path(__file__).parents[2] / "build" / "bin" / "xtable"))
CSV = "id,price,name\n1,2.50,ann\n2,,bob\n3,12345678901234567.89,it's\n"


class TableVerbs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        path = Path(self.folder.name) / "t"
        types = "--types=id:i32,price:dec(2),name:text"
        subprocess.run(
            [XTABLE, "load", "--csv", "--header", types, path], input=CSV.encode(), check=True
        )
        self.path, self.table = path, sp.Table(path)

    def rows(self, numbers=(0, 1, 2)):
        return self.table.get(numbers)

    def test_what_a_table_is(self):
        self.assertEqual(len(self.table), 3)
        self.assertEqual(
            self.table.schema, {"id": "i32", "price": "dec64(2)", "name": "text"}
        )
        self.assertEqual(repr(self.table), f"Table({self.path!r})")
        with self.table as same:
            self.assertIs(same, self.table)

    def test_files_are_loaded(self):
        folder = Path(self.folder.name)
        a, lines, new = folder / "a.csv", folder / "lines", folder / "new"
        a.write_text("id;v\n1;x\n2;NA\n")
        given = {"csv": True, "header": True, "separator": ";", "null": "NA"}
        loaded = sp.Table.load(new, a, types={"id": "u32"}, layout="pax", **given)
        self.assertEqual(loaded.schema["id"], "u32")
        self.assertEqual(loaded.get([0, 1]), [{"id": 1, "v": "x"}, {"id": 2, "v": None}])
        self.assertEqual(loaded.info()["layout"], "pax")
        with self.assertRaises(FileExistsError):
            sp.Table.load(new, a, **given)
        self.assertEqual(len(sp.Table.load(new, [a, str(a)], overwrite=True, **given)), 4)
        lines.write_text('{"k":{"v":1}}\n{"k":{"v":null}}\n')
        loaded = sp.Table.load(folder / "json", lines, json=True)
        self.assertEqual(loaded.get([0, 1]), [{"k.v": 1}, {"k.v": None}])
        for error, source, wrong, reason in (
            (ValueError, a, {"csv": True, "json": True}, "--csv.*--json"),
            (ValueError, lines, {"json": True, "null": "x"}, "--null.*--json"),
            (ValueError, a, {"separator": "ab"}, "one byte"),
            (TypeError, a, {"typs": {}}, "'typs'"),
            (TypeError, 5, {}, "paths of files"),
            (sp.SpindleError, a, {**given, "types": {"v": "u8"}}, "line 2: column 'v'"),
            (sp.SpindleError, [], {"csv": True}, "no input"),
            (FileNotFoundError, folder / "none", {"csv": True}, "none"),
        ):
            with self.assertRaisesRegex(error, reason):
                sp.Table.load(folder / "bad", source, **wrong)
        self.assertFalse((folder / "bad").exists())

    def test_get_gives_exact_values(self):
        big = decimal.Decimal("12345678901234567.89")
        self.assertEqual(self.table.get(2), [{"id": 3, "price": big, "name": "it's"}])
        self.assertEqual(self.table.get([1], columns=["price"]), [{"price": None}])
        self.table.alter(add={"f": "f64"}, values={"f": 2})
        self.assertIsInstance(self.table.get(0, columns=["f"])[0]["f"], float)

    def test_a_key_without_a_record_is_a_key_error(self):
        with self.assertRaisesRegex(KeyError, "there is no record '7'"):
            self.table.get([0, 7])

    def test_values_are_changed_and_records_deleted(self):
        self.table.update({"name": "o'neil, x", "price": None}, [0])
        self.assertEqual(self.rows([0]), [{"id": 1, "price": None, "name": "o'neil, x"}])
        self.table.update({"price": decimal.Decimal("1.25")}, where="id >= 2")
        self.assertEqual(str(self.rows([2])[0]["price"]), "1.25")
        report = self.table.delete(["2", "9"], by="id")["result"]
        self.assertEqual((report["keys"], report["keys_found"]), (2, 1))
        self.assertEqual(len(self.table), 2)

    def test_records_are_appended_and_found_by_an_index(self):
        more = Path(self.folder.name) / "more.csv"
        more.write_text("id,price,name\n4,1.00,dora\n")
        self.table.append(more)
        self.table.index("name")
        self.assertEqual([r["id"] for r in self.table.get(["dora", "ann"], by="name")], [4, 1])

    def test_arguments_without_an_effect_are_refused(self):
        before = self.path.read_bytes()
        new = Path(self.folder.name) / "new.csv"
        new.write_text("id,name\n2,carl\n")
        for change in (
            lambda: self.table.update({"name": "x"}, [0], where="id = 3"),
            lambda: self.table.delete([0], where="id = 3"),
            lambda: self.table.update({"name": "x"}, where="id = 3", by="id"),
            lambda: self.table.update({"name": "x"}, by="id", file=new),
            lambda: self.table.update(keys=[1], by="id", file=new),
            lambda: self.table.update(where="id = 3", by="id", file=new),
            lambda: self.table.update(file=new),
            lambda: self.table.get([0], index="no.index"),
            lambda: self.table.append(),
        ):
            with self.assertRaises(ValueError):
                change()
        self.assertEqual(self.path.read_bytes(), before)
        self.table.update(by="id", file=new)
        self.assertEqual(self.rows([1])[0]["name"], "carl")

    def test_unknown_keywords_are_refused(self):
        before = self.path.read_bytes()
        for change in (
            lambda: self.table.update({"name": "x"}, [0], memroy="1M"),
            lambda: self.table.delete([0], were="id = 3"),
            lambda: self.table.get([0], where="id = 3"),
            lambda: self.table.alter(drop=["name"], by="id"),
            lambda: self.table.append(self.path, types="x"),
            lambda: self.table.index("id", path="x"),
        ):
            with self.assertRaisesRegex(TypeError, "no keyword argument"):
                change()
        self.assertEqual(self.path.read_bytes(), before)

    def test_columns_are_altered(self):
        self.table.alter(
            add={"n, m": "i16"}, values={"n, m": -5}, drop=["price"], rename={"name": 'a "b"'},
            types={"id": "i64"},
        )
        self.assertEqual(list(self.table.schema), ["id", 'a "b"', "n, m"])
        self.assertEqual(self.rows([1]), [{"id": 2, 'a "b"': "bob", "n, m": -5}])

    def test_values_are_texts_bytes_or_numbers(self):
        self.table.update({"name": b"caf\xe9"}, [0])
        with self.assertRaisesRegex(sp.SpindleError, "not UTF-8"):
            self.table.get(0)
        self.table.index("name")
        self.assertEqual(self.table.get(b"caf\xe9", by="name", columns=["id"]), [{"id": 1}])
        before = self.path.read_bytes()
        for value in ({"a": 1}, ["x"], ("x",), {1}, bytearray(b"x"), object()):
            with self.assertRaisesRegex(TypeError, "a value of a column is"):
                self.table.update({"name": value}, [0])
        self.assertEqual(self.path.read_bytes(), before)

    def test_floats_that_are_no_numbers_are_floats(self):
        self.table.alter(add={"x": "f64", "y": "f64"}, values={"x": math.nan, "y": -math.inf})
        record = self.table.get(0)[0]
        self.assertTrue(math.isnan(record["x"]))
        self.assertEqual(record["y"], -math.inf)

    def test_many_columns_change_at_once(self):
        numbers = range(100)
        self.table.alter(
            add={f"n{i}": "i32" for i in numbers}, values={f"n{i}": i for i in numbers}
        )
        self.table.alter(rename={f"n{i}": f"m{i}" for i in numbers})
        self.table.update({f"m{i}": i + 7 for i in numbers}, [1])
        names = [f"m{i}" for i in numbers]
        self.assertEqual(list(self.table.get(0, columns=names)[0].values()), list(numbers))
        self.assertEqual(list(self.table.get(1, columns=names)[0].values()), list(range(7, 107)))

    def test_a_failed_change_changes_nothing(self):
        before = self.path.read_bytes()
        for change in (
            lambda: self.table.alter(drop=["q"]),
            lambda: self.table.update({"id": "x"}, [0]),
            lambda: self.table.alter(types={"price": "i8"}),
        ):
            with self.assertRaises(sp.SpindleError) as caught:
                change()
            self.assertNotIsInstance(caught.exception, OSError)
        self.assertEqual(self.path.read_bytes(), before)

    def test_errors_of_the_system_are_os_errors(self):
        with self.assertRaises(FileNotFoundError) as caught:
            sp.Table(self.path.parent / "absent").info()
        e = caught.exception
        self.assertIsInstance(e, sp.SpindleError)
        self.assertEqual((e.errno, e.code), (2, -2))
        self.assertTrue(str(e.filename).endswith("absent"))
        again = pickle.loads(pickle.dumps(e))
        self.assertEqual((type(again), str(again), again.code), (type(e), str(e), e.code))
        with self.assertRaises(ValueError):
            self.table.get([0], parallel=-1)


if __name__ == "__main__":
    unittest.main(testRunner=tap.Runner)
