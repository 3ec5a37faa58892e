#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The examples work as they say, with the programs in the folder of $XSORT.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	export EXAMPLE_BIN=${xsort%/*}
	examples=$BATS_TEST_DIRNAME/../../examples
}

@test "01 sorts CSV records whole, by a number, under their header" {
	run -0 --separate-stderr "$examples/01-csv-by-column.sh"
	[ "${lines[0]}" = "city,inhabitants,note" ]
	[ "${lines[1]}" = "Quito,2011388," ]
	[ "${lines[2]}" = "\"Washington, D.C.\",689545,\"on the" ]
	[ "${lines[3]}" = "Potomac\"" ]
	[ "${#lines[@]}" -eq 6 ]
}

@test "02 shows the five most frequent clients, most frequent first" {
	run -0 --separate-stderr "$examples/02-top-of-a-log.sh"
	[ "${#lines[@]}" -eq 5 ]
	printf '%s\n' "${lines[@]}" | sort -c -k1,1nr
}

@test "03 sorts binary records beyond its memory" {
	run -0 --separate-stderr "$examples/03-binary-records.sh"
	[ "${lines[0]}" = "in order: 200000 records" ]
	[[ ${lines[1]} =~ \"runs\":\ *([0-9]+) ]]
	[ "${BASH_REMATCH[1]}" -gt 1 ]
}

@test "05 shows what placement would have saved on a drive of 2001" {
	run -0 --separate-stderr "$examples/05-drive-of-2001.sh"
	[ "${#lines[@]}" -eq 3 ]
	[[ ${lines[0]} == contiguous* && ${lines[2]} == semiseq* ]]
	printf '%s\n' "${lines[@]}" | sort -c -k4,4nr
}

@test "04 sorts lines with the library" {
	program=$build/examples/04-sort-batches
	seq 100000 | shuf --random-source=<(yes) > "$BATS_TEST_TMPDIR/in"
	run -0 --separate-stderr "$program" < <(printf 'b\na\nc')
	[ "$output" = $'a\nb\nc' ]
	"$program" < "$BATS_TEST_TMPDIR/in" 2> /dev/null | cmp - <(seq 100000 | LC_ALL=C sort)
}

@test "06 filters and adds up a file" {
	program=$build/examples/06-aggregate-a-file
	cd "$BATS_TEST_TMPDIR"
	"$xgen" --scale=0.002 -o lineitem lineitem
	want=$(awk -F'|' '$1 % 100 == 2 && $10 == "F" { n++; sum += $5 } END { print n "|" sum }' lineitem)
	run -0 "$program" lineitem
	[ "$output" = "$want" ]
	run -0 "$program" - < <(cat lineitem)
	[ "$output" = "$want" ]
	run -1 "$program" missing
	[[ $output == *'missing: No such file'* ]]
}

@test "07 joins two files" {
	program=$build/examples/07-join-two-files
	cd "$BATS_TEST_TMPDIR"
	"$xgen" --scale=0.002 -o lineitem lineitem
	"$xgen" --scale=0.002 -o orders orders
	awk -F'|' '$1 % 100 == 2 && $10 == "F" { print $1 "|" $5 }' lineitem | LC_ALL=C sort -s -t'|' -k1,1 > want
	[ -s want ]
	"$program" orders lineitem | cmp - want
	run -1 "$program" orders missing
	[[ $output == *'missing: No such file'* ]]
}

@test "08 joins through indexes" {
	program=$build/examples/08-through-an-index
	cd "$BATS_TEST_TMPDIR"
	for t in lineitem orders customer; do
		"$xgen" --scale=0.002 -o $t $t
		"$xindex" build -t'|' -k1,1 -o $t.index $t
	done
	awk -F'|' '$1 % 100 == 2 && $10 == "F" { print $1 "|" $5 }' lineitem | sort > want.1a
	# Each order has a customer.
	cp want.1a want.2a
	awk -F'|' 'NR == FNR { priority[$1] = $6; next }
		($15 == "MAIL" || $15 == "SHIP") && $12 < $13 && $11 < $12 && $13 ~ /^1994-/ {
			n[$15 "|" priority[$1]]++ }
		END { for (g in n) print g "|" n[g] }' orders lineitem | sort > want.12
	[ -s want.1a ]
	[ -s want.12 ]
	for query in 1a 2a 12; do
		for algorithm in inl async-inl merge; do
			for volume in '' sim:cheetah36es-like,files=in; do
				"$program" $query $algorithm "$volume" times | sort | cmp - want.$query
				head -n 1 times | grep -qx row,elapsed_s
				[ "$(tail -n 1 times | cut -d, -f1)" -gt 0 ]
			done
		done
	done
	run -1 "$program" 13 inl
	[[ $output == usage:* ]]
	rm lineitem.index
	run -1 "$program" 1a inl
	[[ $output == *"lineitem.index: No such file"* ]]
}

@test "10 asks a table, and gets its bytes back" {
	run -0 --separate-stderr "$examples/10-table-by-column.sh"
	[ "${#lines[@]}" -eq 6 ]
	[[ ${lines[1]} =~ ^[0-9]+\.[0-9]{2}\|[0-9]+\|?$ ]]
	[[ ${lines[3]} == [0-9]*'|'[0-9]*'|'199?-* ]]
	[ "${lines[5]}" = "the same bytes" ]
}

@test "11 makes a table of Parquet, and Parquet of a table" {
	needs python3
	[ -e "$build/python/.done" ] || skip "the Python package is not part of this build"
	PYTHONPATH=$build/python python3 -c 'import pyarrow' 2>/dev/null || skip "pyarrow is not installed"
	PYTHONPATH=$build/python run -0 python3 "$examples/11-parquet-as-a-table.py"
	[ "$output" = "36 busy days, the busiest was day 100" ]
}

@test "12 joins two tables" {
	needs python3
	program=$build/examples/12-join-two-tables
	cd "$BATS_TEST_TMPDIR"
	for t in lineitem orders part; do
		"$xgen" --scale=0.01 -o $t.tbl $t
		sed '/comment\|name\|type/s/char([0-9]*)/text/' "$examples/tpch/$t.schema" >$t.schema
	done
	python3 - <<-'PY'
		import csv
		from decimal import Decimal
		def rows(name):
		    return csv.reader(open(name + ".tbl"), delimiter="|", quoting=csv.QUOTE_NONE)
		urgent = {r[0]: r[5] in ("1-URGENT", "2-HIGH") for r in rows("orders")}
		promo = {r[0]: r[4].startswith("PROMO") for r in rows("part")}
		modes, some, all_ = {}, 0, 0
		for r in rows("lineitem"):
		    shipped, committed, received = r[10:13]
		    if r[14] in ("MAIL", "SHIP") and shipped < committed < received and "1994" <= received < "1995":
		        modes.setdefault(r[14], [0, 0])[not urgent[r[0]]] += 1
		    if shipped.startswith("1995-09"):
		        revenue = Decimal(r[5]) * (1 - Decimal(r[6]))
		        all_ += revenue
		        some += revenue * promo[r[1]]
		with open("want.12", "w") as f:
		    f.writelines(f"{m}|{high}|{low}\n" for m, (high, low) in sorted(modes.items()))
		with open("want.14", "w") as f:
		    f.write(f"{100 * some / all_:.6f}\n")
	PY
	[ "$(wc -l <want.12)" -eq 2 ]
	for layout in nsm dsm; do
		for t in lineitem orders part; do
			"$xtable" load $t.table $t.tbl -t'|' --schema=$t.schema --layout=$layout --overwrite
		done
		for volume in '' sim:cheetah36es-like; do
			"$program" 12 lineitem.table orders.table "$volume" 2>seconds | cmp - want.12
			"$program" 14 lineitem.table part.table "$volume" 2>seconds | cmp - want.14
		done
	done
	tuple=$("$program" 12 lineitem.table orders.table sim:cheetah36es-like tuple 2>&1 >/dev/null)
	none=$("$program" 12 lineitem.table orders.table sim:cheetah36es-like none 2>&1 >/dev/null)
	awk "BEGIN { exit !($tuple > $none + 0.02) }" # 60,000 records, three more columns of the predicate: 27 ms
	run -1 "$program" 12 lineitem.table orders.table '' tuple
	[[ $output == *"joins of columns need a simulated volume"* ]]
	run -1 "$program" 13 lineitem.table orders.table
	[[ $output == usage:* ]]
	run -1 "$program" 14 lineitem.table missing
	[[ $output == *"missing: No such file"* ]]
}

@test "13 measures a system of the user, whose answers are right" {
	run -0 --separate-stderr "$examples/13-a-system-of-your-own.sh"
	for query in uss unj; do
		for system in text my-awk; do
			[ "$(grep -cE "^$query +[0-9.]+ % +$system +[0-9.]+ " <<<"$output")" = 2 ]
		done
	done
	[[ $output != *absent* && $output != *failed* && $output != *"lacks"* ]]
	cd "$BATS_TEST_TMPDIR"
	sed 's/sum += \$3/sum += 1/' "$examples/13-a-system-of-your-own.sh" >wrong.sh
	run -2 sh wrong.sh
	[[ $output == *"answer 1, to unj "*" is '1'; the generated table gives '"* ]]
}

@test "the mix like that of TPC-C runs on tables without data, on each layout" {
	for layout in nsm csm; do
		run -0 --separate-stderr "$examples/tpcc/run.sh" $layout 1 --ramp-time=1s --runtime=30s --seed=1
		[[ $output == *"100 clients:"*"get 1 warehouse.w_tax"*"all"* ]]
	done
	run -0 --separate-stderr "$examples/tpcc/run.sh" nsm 1 --ramp-time=10s --runtime=60s \
		--pool=F --pool-size=16M --frame=32K
	[[ $output == *"100 clients:"* ]]
}

@test "the columns of queries of TPC-H are scanned without data" {
	run -0 --separate-stderr "$examples/tpch/run.sh" csm 1 --runtime=10s
	[[ $output == *"scan lineitem.l_quantity"*"all"* ]]
}
