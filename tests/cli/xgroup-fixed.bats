#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xgroup --record-size: totals of records of a fixed length, as Python computes them, from a file and a
# pipe, whatever the memory and the number of threads; fields that are not there.
# shellcheck disable=SC2154 # run sets output, status and stderr
. "$BATS_TEST_DIRNAME/suite.bash"

full=${SP_TEST_FULL:-}
aggregates='count() as n, sum(16:2:i16) as s, min(18:1:u8) as u, list(27:4:u32) as list'

# records COUNT SEED
records() { python3 "$BATS_TEST_DIRNAME/xgroup_fixed.py" records "$@" >in; }

# groups KEY...: compares with Python.
groups()
{
	local keys=() memory threads k

	for k; do keys+=(-k "$k"); done
	python3 "$BATS_TEST_DIRNAME/xgroup_fixed.py" totals "$@" <in >want
	for memory in 1M 1G; do
		for threads in $(few 1 2 3 8); do
			"$xgroup" --record-size=31 "${keys[@]}" --agg "$aggregates" -S $memory --parallel="$threads" in |
				cmp - want
		done
		cat in | "$xgroup" --record-size=31 "${keys[@]}" --agg "$aggregates" -S $memory | cmp - want
	done
}

@test "groups have the order of their numbers or bytes, as Python has it" {
	needs python3
	local seed

	for seed in $(seq $((full ? 20 : 2))); do
		records 4000 "$seed"
		groups 0:8:u64
		groups 8:8:i64be:r 18:1:u8
		groups 23:4 19:4:f32be
		groups 19:4:f32be:r 23:4:r
		groups 27:4:u32:r
	done
}

@test "fields in expressions, conditions, pivots and orders; rows as JSON" {
	needs python3
	records 1000 7
	"$xgroup" --record-size=31 --where '"18:1:u8" = 100 and "27:4:u32" < 500' \
		--agg 'sum("16:2:i16" * 2) as two, sum(16:2:i16) as one' in >got
	python3 - >want <<'END'
import struct
data = open("in", "rb").read()
sum_ = sum(struct.unpack_from("<h", data, 31 * i + 16)[0] for i in range(500) if data[31 * i + 18] == 100)
print(f"two,one\n{2 * sum_},{sum_}")
END
	cmp got want
	run -0 "$xgroup" --record-size=31 -k 18:1:u8 --pivot=19:4:f32be --order=first --format=json --limit=1 in
	[[ $output == '{"18:1:u8":'*',"-2.5":'*',"0.1":'*',"3e+30":'*'}' ]]
	run -0 "$xgroup" --record-size=31 -k '"18:1:u8" + 1 as more:r' --having 'n > 1' --agg 'count() as n' in
	[[ ${lines[0]} = more,n && ${lines[1]} == 201,* && ${lines[3]} == 1,* ]]
}

@test "whole records have no line ends, also in the files of groups" {
	needs python3
	records 1000 3
	"$xgroup" --record-size=31 -k 18:1:u8 --largest=1 -k 27:4:u32:r in >got
	[ "$(wc -c <got)" -eq 93 ]
	python3 - <<'END'
got, all_ = open("got", "rb").read(), open("in", "rb").read()
records = [all_[i : i + 31] for i in range(0, len(all_), 31)]
want = b"".join([r for r in records if r[18] == u][-1] for u in (0, 100, 200))
assert got == want
END
	"$xgroup" --record-size=31 -k 18:1:u8 --split='part-%s' in
	cat part-0 part-100 part-200 >all
	"$xsort" --record-size=31 -s --bkey=18:1:u8 in | cmp - all
}

@test "an empty input has no groups; a table and a record that is cut off are refused" {
	run -0 "$xgroup" --record-size=4 -k 0:4 /dev/null
	[ "$output" = '0:4,count()' ]
	printf 12345 >in
	fails_with 'xgroup: in: length is not a multiple of the record size 4' "$xgroup" --record-size=4 -k 0:4 in
	fails_with 'xgroup: -: length is not a multiple of the record size 4' \
		bash -c 'cat in | "$1" --record-size=4 -k 0:4' - "$xgroup"
	printf 'a,b\n1,2\n' >t.csv
	"$xtable" load --csv --header t.table t.csv 2>/dev/null
	fails_with 'xgroup: t.table: is a table, which needs no --record-size' "$xgroup" --record-size=4 -k 0:4 t.table
}

@test "a value that is not a number is an error with the number of its record" {
	printf '%s' 1 2 3x4 >in
	fails_with "xgroup: in: record 4: sum(0:1): 'x' is not a number; --null=TEXT names a text that stands for no value, --skip-invalid leaves such records out" \
		"$xgroup" --record-size=1 --agg 'sum(0:1)' in
	fails_with "xgroup: in: record 4: sum(0:1): 'x' is not a number; --null=TEXT names a text that stands for no value, --skip-invalid leaves such records out" \
		"$xgroup" -S 1M --record-size=1 --agg 'sum(0:1)' - in </dev/null
	run -0 --separate-stderr "$xgroup" --record-size=1 --agg 'sum(0:1)' --skip-invalid in
	[ "${lines[1]}" = 10 ]
	run -0 "$xgroup" --record-size=1 --agg 'sum(0:1)' --null=x in
	[ "${lines[1]}" = 10 ]
}

@test "fields that records do not have, and options of other records, are refused" {
	printf 1234 >in
	refused() { fails_with "xgroup: $1" "$xgroup" --record-size=4 "${@:2}" in; }
	refused "the field '1:4' ends behind the 4 bytes of a record" -k 1:4
	refused "the field '0:4:u9': unknown type 'u9'; an example is 8:4:u32" -k 0:4:u9
	refused "the field '3': expected OFFSET:LENGTH[:TYPE][:r]; an example is 8:4:u32" -a 'sum(3)'
	refused "only a key can have ':r', not the field '0:4:u32:r'" -a 'sum("0:4:u32:r" + 1)'
	refused 'a field of a record of a fixed length is written "OFFSET:LENGTH:TYPE", in double quotes' -a 'sum($1 + 1)'
	refused "a key of a record of a fixed length has no letter but r: not 'n'" -k '0:4 as a:n'
	refused "options '--csv' and '--record-size' are incompatible" --csv
	refused "options '--header' and '--record-size' are incompatible" --header
	refused "options '--json' and '--record-size' are incompatible" --json
	refused "options '-t' and '--record-size' are incompatible" -t,
	refused "whole records of a fixed length are written as they are, without --format" --format=csv --largest=1
}
