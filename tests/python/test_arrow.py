# SPDX-License-Identifier: MIT
"""spindle_io.Table with packages that know Arrow: each type that pyarrow builds comes back, or is
refused by name; and each consumer reports an error of a scan."""

import datetime
import decimal
import importlib
import os
import random
import tempfile
import unittest
from pathlib import Path

import spindle_io as sp
import tap

try:
    import pyarrow as pa
except ImportError:
    pa = None


def package(name: str):
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not there") from None


def plain_types() -> list:
    """Types without children, and values of them."""
    D, date, time = decimal.Decimal, datetime.date, datetime.datetime
    found = [(pa.bool_(), [True, False]), (pa.null(), [])]
    for bits in 8, 16, 32, 64:
        top = 2 ** (bits - 1)
        found.append((getattr(pa, f"int{bits}")(), [0, 1, -1, top - 1, 1 - top]))
        found.append((getattr(pa, f"uint{bits}")(), [0, 1, top, 2 * top - 2]))
        if bits < 64:  # no type is wider
            found.append((getattr(pa, f"int{bits}")(), [0, -top]))
            found.append((getattr(pa, f"uint{bits}")(), [0, 2 * top - 1]))
    for real in pa.float16(), pa.float32(), pa.float64():
        found.append((real, [0.0, -1.5, 6.0e4, float("inf")]))
    found += [
        (pa.date32(), [date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31)]),
        (pa.date64(), [date(1970, 1, 1), date(1969, 12, 31), date(9999, 12, 31)]),
        (pa.time32("s"), [datetime.time(0), datetime.time(23, 59, 59)]),
        (pa.time32("ms"), [datetime.time(1, 2, 3, 4000)]),
        (pa.time64("us"), [datetime.time(1, 2, 3, 4)]),
        (pa.time64("ns"), [datetime.time(1, 2, 3, 4)]),
        (pa.decimal32(4, 2), [D("99.99"), D("-1.25")]),
        (pa.decimal64(18, 0), [D(10**18 - 1), D(-1)]),
        (pa.decimal128(18, 3), [D("1.250"), D("-0.001")]),
        (pa.decimal128(2, 1), [D("9.9"), D("-9.9")]),
        (pa.decimal128(38, 20), [D("1.25000000000000000000")]),
        (pa.decimal128(5, -2), [D("12300"), D("-100")]),
        (pa.decimal256(70, 4), [D("-1.2500"), D(0)]),
    ]
    for unit in "s", "ms", "us", "ns":
        found.append((pa.duration(unit), [datetime.timedelta(seconds=5), -datetime.timedelta(1)]))
        for zone in None, "UTC", "Europe/Berlin", "+05:30":
            aware = datetime.timezone.utc if zone else None
            times = [time(2024, 2, 29, 12, 0, 1, tzinfo=aware), time(1931, 1, 1, tzinfo=aware)]
            found.append((pa.timestamp(unit, zone), times))
    found += [(pa.timestamp("ns"), [1, -1001]), (pa.timestamp("ns", "UTC"), [1])]
    found.append((pa.timestamp("s"), [10**12]))
    texts = ["", "a", "a text of more than twelve bytes", "\u00e4\U0001f600"]
    for text in pa.string(), pa.large_string(), pa.string_view():
        found.append((text, texts))
    raw = [b"", b"\xff", b"\xfe", b"\xfe\xfe", b"\xff\xfe\0", b"\x80 more than twelve bytes", b"\0"]
    for binary in pa.binary(), pa.large_binary(), pa.binary_view():
        found += [(binary, raw), (binary, [b"", b"\xfe\xff", b"\0\0"])]
    found.append((pa.binary(3), [b"abc", b"\xff\0\0", b"\0\0\0"]))
    return found


def nested_types(plain: list) -> list:
    """Types that tables do not have, over plain ones: pairs of an array and words of the error."""
    one = [(t, pa.array(v, t)) for t, v in plain if v and not pa.types.is_decimal(t)]
    found = []
    for i, (t, array) in enumerate(one):
        pair = pa.array([0, len(array)], pa.int32())
        wide = pa.array([0, len(array)], pa.int64())
        lists = (pa.ListArray.from_arrays(pair, array), "list")
        found += [
            lists,
            (pa.LargeListArray.from_arrays(wide, array), "large_list"),
            (pa.FixedSizeListArray.from_arrays(array, len(array)), "fixed_size_list"),
            (pa.StructArray.from_arrays([array], ["x"]), "struct"),
            (pa.StructArray.from_arrays([lists[0]], ["x"]), "struct"),
            (pa.ListArray.from_arrays([0, 1], lists[0]), "list"),
        ]
        if i % 8:  # these do not depend on what is inside
            continue
        ends, begins = pa.array([len(array)], pa.int32()), pa.array([0], pa.int32())
        codes = pa.array([0] * len(array), pa.int8())
        numbers = pa.array(range(len(array)), pa.int32())
        found += [
            (pa.ListViewArray.from_arrays(begins, ends, array), "list_view"),
            (
                pa.LargeListViewArray.from_arrays(begins.cast("int64"), ends.cast("int64"), array),
                "large_list_view",
            ),
            (pa.MapArray.from_arrays(pair, numbers, array), "map"),
            (pa.UnionArray.from_sparse(codes, [array]), "sparse_union"),
            (pa.UnionArray.from_dense(codes, numbers, [array]), "dense_union"),
            (pa.RunEndEncodedArray.from_arrays(ends, array[:1]), "run_end_encoded"),
        ]
    interval = pa.array([(1, 2, 3)], pa.month_day_nano_interval())
    found.append((interval, "interval"))
    # pyarrow's own exporter refuses dictionaries of some of these.
    found.append((pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), interval), "interval"))
    storage = pa.array([b"0123456789abcdef"], pa.binary(16))
    found.append((pa.ExtensionArray.from_storage(pa.uuid(), storage), "arrow.uuid"))
    found.append((pa.array([1], pa.int8()).cast(pa.bool8()), "arrow.bool8"))
    found.append((pa.array([decimal.Decimal(10**30)], pa.decimal128(38, 0)), "record 0"))
    found.append((pa.array([2**64 - 1], pa.uint64()), "record 0"))
    return found


class Arrow(unittest.TestCase):
    def setUp(self):
        # Hundreds of small tables: nothing waits for a disk.
        folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", 2) else None)
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "t"

    def back(self, given):
        table = sp.Table.load(self.path, given, overwrite=True, memory="8M")
        got = pa.table(table.scan(memory="4M"))
        got.validate(full=True)
        return got

    def same(self, array) -> None:
        """A column comes back: whole, sliced, in batches, and none of it."""
        chunks = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
        given = pa.table({"c": chunks, "n": pa.array(range(len(array)), pa.int64())})
        parts = given, given.slice(1), given.slice(2, 3), given.slice(0, 0)
        for part in parts:
            with self.subTest(type=str(array.type), rows=len(part)):
                got = self.back(part)["c"]
                if pa.types.is_dictionary(array.type):
                    part = pa.table({"c": part["c"].cast(array.type.value_type)})
                got = got.cast(part["c"].type) if is_exact(part["c"].type) else got
                self.assertEqual(plain(got), plain(part["c"]))

    def arrays(self):
        for kind, values in plain_types():
            yield kind, pa.array([None, *values, None, *values], kind)

    def test_each_plain_type_comes_back(self):
        for _, array in self.arrays():
            self.same(array)
            self.same(pa.chunked_array([array[1:], array[:2], array]))

    def test_types_come_back_if_the_schema_keeps_them(self):
        berlin = pa.timestamp("us", "Europe/Berlin")
        for kind in pa.bool_(), pa.large_binary(), berlin, pa.duration("ns"), pa.time32("ms"):
            array = pa.array([0, 1], pa.int64())
            array = pa.array([b"a", b"\xff"]) if kind == pa.large_binary() else array
            array = array.cast(pa.int32()) if pa.types.is_time32(kind) else array
            self.assertEqual(self.back(pa.table({"c": array.cast(kind)}))["c"].type, kind)
        moment = pa.array([1], pa.timestamp("ns", "UTC"))  # of less than a microsecond
        self.assertEqual(self.back(pa.table({"c": moment}))["c"].type, moment.type)

    def test_each_dictionary_comes_back(self):
        r = random.Random(5)
        indices = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
        for kind, array in self.arrays():
            if pa.types.is_null(kind):
                continue
            # Words that are NULL, codes that are NULL, and offsets of both.
            words = pa.concat_arrays([array[:1], array])[1:]
            index = r.choice(indices)
            for index in {index, "int32"}:
                codes = [r.choice([None, *range(len(words))]) for _ in range(20)]
                codes = pa.array(codes, index)[3:]
                coded = pa.DictionaryArray.from_arrays(codes, words)
                values = plain(pa.chunked_array([words]))
                want = [None if c is None else values[c] for c in codes.to_pylist()]
                with self.subTest(type=str(coded.type)):
                    got = self.back(pa.table({"c": coded}))["c"]
                    got = got.cast(kind) if is_exact(kind) else got
                    self.assertEqual(plain(got), want)

    def test_dictionaries_can_differ_from_batch_to_batch(self):
        kind = pa.dictionary(pa.int8(), pa.int64())
        parts = [
            pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.array(words))
            for words in ([2023, 2024], [7, 8, 9], [2024, None])
        ]
        batches = [pa.record_batch([part], pa.schema([("year", kind)])) for part in parts]
        got = self.back(pa.RecordBatchReader.from_batches(batches[0].schema, batches))
        want = [2023, 2024, None, 7, 8, None, 2024, None, None]
        self.assertEqual(got["year"].to_pylist(), want)

    def test_other_types_are_refused_by_name(self):
        for array, word in nested_types(plain_types()):
            given = pa.table({"n": [1] * len(array), "column one": array})
            with self.subTest(str(array.type)), self.assertRaises(sp.SpindleError) as e:
                sp.Table.load(self.path, given, overwrite=True)
            self.assertIn("column one", str(e.exception))
            self.assertIn(word, str(e.exception))
            self.assertFalse(self.path.exists())

    def test_these_are_all_types(self):
        ids = {kind.id for kind, _ in plain_types()} | {pa.dictionary(pa.int8(), pa.int8()).id}
        ids |= {array.type.id for array, _ in nested_types(plain_types())}
        names = {n: i for n, i in vars(pa.lib).items() if n.startswith("Type_")}
        unmade = {"Type_INTERVAL_MONTHS", "Type_INTERVAL_DAY_TIME"}  # not by pyarrow
        missing = {name for name, number in names.items() if number not in ids} - unmade
        self.assertFalse(missing)

    def test_a_stream_with_records_of_null_is_refused(self):
        records = pa.array([{"a": "x"}, None], pa.struct([("a", pa.string())]))

        class Records:
            def __arrow_c_stream__(self, requested_schema=None):
                return pa.chunked_array([records]).__arrow_c_stream__()

        with self.assertRaisesRegex(sp.SpindleError, "a whole record is NULL"):
            sp.Table.load(self.path, Records())

    def test_text_that_is_not_utf8_is_refused(self):
        bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
        with self.assertRaisesRegex(sp.SpindleError, "column c, record 0: the text is not UTF-8"):
            sp.Table.load(self.path, pa.table({"c": bad}))

    def test_a_wider_type_that_is_needed_late(self):
        def batches():
            for i in range(40):
                values = [i % 255] * 99999 + [255 if i == 39 else 0]
                yield pa.record_batch([pa.array(values, pa.uint8())], ["narrow"])

        schema = pa.schema([("narrow", pa.uint8())])
        reader = pa.RecordBatchReader.from_batches(schema, batches())
        with self.assertRaisesRegex(sp.SpindleError, "column narrow.* wider type.*more memory"):
            sp.Table.load(self.path, reader, memory="4M")
        reader = pa.RecordBatchReader.from_batches(schema, batches())
        got = pa.table(sp.Table.load(self.path, reader, memory="64M").scan())
        self.assertEqual(got["narrow"][-1].as_py(), 255)

    def test_an_error_of_the_source_is_reported(self):
        def batches():
            yield pa.record_batch([pa.array([1])], ["a"])
            raise ValueError("the source is dry")

        schema = pa.schema([("a", pa.int64())])
        reader = pa.RecordBatchReader.from_batches(schema, batches())
        with self.assertRaisesRegex(sp.SpindleError, "the source is dry"):
            sp.Table.load(self.path, reader)
        self.assertFalse(self.path.exists())

    def damaged(self) -> sp.Scan:
        n = 200000
        given = pa.table({"a": list(range(n)), "b": [f"text {i}" for i in range(n)]})
        table = sp.Table.load(self.path, given)
        with open(self.path, "r+b") as f:
            f.seek(os.path.getsize(self.path) // 2)
            f.write(b"\x55" * 5000)
        return table.scan(memory="4M")

    def reports(self, consume) -> None:
        scan = self.damaged()
        with self.assertRaisesRegex(Exception, "damaged"):
            consume(scan)

    def test_pyarrow_reports_an_error_of_a_scan(self):
        self.reports(pa.table)
        self.path.unlink()
        self.reports(lambda scan: pa.RecordBatchReader.from_stream(scan).read_all())

    def test_pandas_reports_an_error_of_a_scan(self):
        self.reports(package("pandas").DataFrame.from_arrow)

    def test_polars_reports_an_error_of_a_scan(self):
        self.reports(package("polars").DataFrame)

    def test_duckdb_reports_an_error_of_a_scan(self):
        duckdb = package("duckdb")

        def consume(scan):
            duckdb.sql("select count(*), sum(a), max(b) from scan").fetchall()

        self.reports(consume)

    def test_frames_of_other_packages_come_back(self):
        numbers = {"i": [1, None, 3], "t": ["a", None, "\u00e4"], "b": [True, None, False]}
        polars = package("polars")
        frame = polars.DataFrame(numbers).with_columns(
            polars.col("t").cast(polars.Categorical).alias("c"),
            polars.Series("d", [b"\xff", None, b"x"]),
            polars.Series("e", [datetime.time(1, 2, 3), None, datetime.time(0)]),
            polars.Series("f", [decimal.Decimal("1.25"), None, decimal.Decimal(-3)]),
            polars.Series("n", [None] * 3, polars.Null),
            polars.Series("g", [datetime.timedelta(1), None, datetime.timedelta(0)]),
        )
        table = sp.Table.load(self.path, frame)
        got = polars.DataFrame(table.scan())
        self.assertEqual(got.to_dict(as_series=False), frame.to_dict(as_series=False))

    def test_results_of_duckdb_come_back(self):
        relation = package("duckdb").sql(
            "select 1::decimal(4,2) a, 2::decimal(30,3) b, true c, '\\xFF\\x00'::blob d,"
            " time '01:02:03' e, timestamptz '2024-01-02 03:04:05+00' f, 255::utinyint g,"
            " 'x'::enum('y', 'x') h, (-128)::tinyint i, null j, date '2024-02-29' k"
        )
        want = relation.fetchall()
        self.assertEqual([tuple(r.values()) for r in self.back(relation).to_pylist()], want)


def is_exact(kind) -> bool:
    """True if a table gives the values as another type, which is cast without a loss."""
    return pa.types.is_timestamp(kind) or pa.types.is_decimal(kind) or pa.types.is_date64(kind)


def plain(column) -> list:
    """Values that can be compared: numbers for times, which Python rounds."""
    if pa.types.is_temporal(column.type) and not pa.types.is_date(column.type):
        column = column.cast(pa.int32() if pa.types.is_time32(column.type) else pa.int64())
    return column.to_pylist()


if __name__ == "__main__":
    if pa:
        unittest.main(testRunner=tap.Runner)
    print("ok - tables by Arrow # SKIP pyarrow is not there")
