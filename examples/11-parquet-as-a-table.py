#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stores a Parquet file as a table, changes a value in place, and makes Parquet of some records.

Needs spindle-io (make wheel, pip install) and pyarrow.  Shells with DuckDB do the same by text:

    duckdb -csv -c "from 'x.parquet'" | xtable load t --csv --header
    xtable scan t --format=csv | duckdb -c "copy (from read_csv('/dev/stdin')) to 'y.parquet'"
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import pyarrow
    import pyarrow.parquet as parquet
except ImportError:
    print("pyarrow is not installed")
    sys.exit(0)
from spindle_io import Table

xtable = Path(os.environ.get("EXAMPLE_BIN", "build/bin")) / "xtable"

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    visitors = [d * 7919 % 1000 for d in range(365)]
    days = pyarrow.table({"day": range(1, 366), "visitors": visitors})
    parquet.write_table(days, folder / "days.parquet")

    table = Table.load(folder / "days", parquet.read_table(folder / "days.parquet"))
    change = ["update", folder / "days", "--set=visitors=1234", "--where=day = 100"]
    subprocess.run([xtable, *change], check=True)

    busy = table.scan(["day", "visitors"], "visitors > 900")
    parquet.write_table(pyarrow.table(busy), folder / "busy.parquet")
    rows = parquet.read_table(folder / "busy.parquet").to_pylist()
    busiest = max(rows, key=lambda r: r["visitors"])
    print(f"{len(rows)} busy days, the busiest was day {busiest['day']}")
