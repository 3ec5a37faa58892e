#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xgroup --json: totals by values of members, as Python computes them, from a file and a pipe, whatever
# the memory and the number of threads; lines that are not JSON.
# shellcheck disable=SC2154 # run sets output, status and stderr
. "$BATS_TEST_DIRNAME/suite.bash"

full=${SP_TEST_FULL:-}

# groups KEY...: compares with Python.
groups()
{
	local keys=() memory threads k

	for k; do keys+=(-k "$k"); done
	python3 "$BATS_TEST_DIRNAME/xgroup_json.py" "$@" <in >want
	for memory in 1M 1G; do
		for threads in $(few 1 2 3 8); do
			"$xgroup" --json "${keys[@]}" --agg 'count() as rows, sum(.i) as i, distinct(.s) as texts' \
				-S $memory --parallel="$threads" in | cmp - want
		done
		cat in | "$xgroup" --json "${keys[@]}" --agg 'count() as rows, sum(.i) as i, distinct(.s) as texts' \
			-S $memory | cmp - want
	done
}

@test "values are one group if they are equal, in their order, as Python has it" {
	needs python3
	local seed

	for seed in $(seq $((full ? 20 : 2))); do
		# A number and a text of the same characters are one text for distinct().
		python3 "$BATS_TEST_DIRNAME/xsort_json.py" lines "$seed" 3000 |
			python3 -c '
import json, sys
for line in sys.stdin:
    v = json.loads(line)
    if isinstance(v, dict) and isinstance(v.get("s"), (str, type(None), bool)) and line.startswith("{\""):
        sys.stdout.write(line.rstrip("\r\n ") + "\n")' >in
		[ "$(wc -l <in)" -gt 500 ]
		groups .k
		groups .n:r .k
		groups .deep.er
	done
}

@test "keys are written as they came, or as texts of CSV" {
	printf '{"a":1,"b":""}\n{"a":1.0,"b":null}\n{"a":"1","b":"x\\u00e9"}\n{"a":null,"b":"xé"}\n{"b":[1, 2]}\n' >in
	run -0 "$xgroup" --json -k .a in
	[ "$output" = '{"a":null,"count()":2}
{"a":1,"count()":2}
{"a":"1","count()":1}' ]
	run -0 "$xgroup" --json -k .b --format=csv --agg 'count() as n, list(.a) as a' in
	[ "$output" = 'b,n,a
,1,1.0
,1,1
xé,2,1
"[1, 2]",1,' ] || { echo "$output"; false; }
	run -0 "$xgroup" --json -k .b --having "b = 'xé'" in
	[ "$output" = '{"b":"x\u00e9","count()":2}' ]
	run -0 "$xgroup" --json -k .a:r --order=first in
	[ "$(head -n 1 <<<"$output")" = '{"a":1,"count()":2}' ]
	run -0 "$xgroup" --json -k .a --limit=0 in
	[ -z "$output" ]
}

@test "expressions, conditions, whole records, pivots and files" {
	printf '{"day":"2026-01-31","q":{"n":2},"p":1.5}\n{"day":"2026-01-02","q":{"n":"4"},"p":2}\n{"day":"2026-02-01","p":7}\n' >in
	run -0 "$xgroup" --json -k 'substr(.day, 1, 7) as month' --agg 'sum(.q.n * .p) as all, max(."p")' in
	[ "$output" = '{"month":"2026-01","all":11.0,"max(.\"p\")":2}
{"month":"2026-02","all":null,"max(.\"p\")":7}' ] || { echo "$output"; false; }
	run -0 "$xgroup" --json --where ".q.n >= 2 and .day like '%-31'" in
	[ "$output" = '{"count()":1}' ]
	run -0 "$xgroup" --json -k 'substr(.day, 1, 7)' --largest=1 -k .p:nr in
	[ "$output" = "$(sed -n '2,3p' in)" ]
	run -0 "$xgroup" --json -k .day --pivot=.q.n --agg 'sum(.p)' in
	[ "$(head -n 1 <<<"$output")" = '{"day":"2026-01-02","NULL":null,"2":null,"4":2}' ] || { echo "$output"; false; }
	printf '{"a":true,"v":1}\n{"a":"","v":1}\n{"a":[1],"v":1}\n{"a":"x\\ty","v":1}\n' >kinds
	run -0 "$xgroup" --json -k .a --pivot=.v kinds
	[ "$output" = '{"a":true,"1":1}
{"a":"","1":1}
{"a":"x\ty","1":1}
{"a":[1],"1":1}' ] || { echo "$output"; false; }
	run -0 "$xgroup" --json -k '."a b"' --having '"a b" is null' kinds
	[ "$output" = '{"a b":null,"count()":4}' ]
	run -0 "$xgroup" --json --split='by-%s.jsonl' -k 'substr(.day, 1, 7)' in
	head -n 2 in | cmp - by-2026-01.jsonl
}

@test "a line that is not JSON is an error with its place, or left out" {
	{ seq 1 3000 | sed 's/.*/{"a":&}/'; echo '{"a":1'; seq 5; } >in
	for threads in $(few 1 2 3 8); do
		fails_with 'xgroup: in: line 3001, byte 7: not JSON: expected a comma or }' \
			"$xgroup" --json -k .a --parallel="$threads" in
		run -0 --separate-stderr "$xgroup" --json --skip-invalid --parallel="$threads" in
		[ "$output" = '{"count()":3005}' ]
		[ "$stderr" = 'xgroup: 1 record left out: not JSON, or a value is not a number or a date' ]
	done
	fails_with 'xgroup: -: line 3001, byte 7: not JSON: expected a comma or }' "$xgroup" --json <in
	printf '{"a":"x\377"}\n' >in
	"$xgroup" --json in >out
	run -2 "$xgroup" --json --strict in
	run -2 "$xgroup" --json -k .a in
	printf '[{"a":1},\n {"a":2}, {"a":1}]' >in
	run -0 "$xgroup" --json=array -k .a in
	[ "$output" = '{"a":1,"count()":2}
{"a":2,"count()":1}' ]
	: >in
	run -0 "$xgroup" --json -k .a in
	[ -z "$output" ]
}

@test "names and options that do not go with JSON are refused" {
	: >in
	fails_with "xgroup: 'a': a member of JSON is named by its path, such as .user.id" "$xgroup" --json -k a in
	run -2 "$xgroup" --json -k 1 in
	run -2 "$xgroup" --json -k . in
	run -2 "$xgroup" --json -k .a --largest=1 --format=csv in
	run -2 "$xgroup" --json --agg 'sum($1)' in
	run -2 "$xgroup" --json --csv in
	run -2 "$xgroup" --json -t, in
	run -2 "$xgroup" --json -z in
	run -2 "$xgroup" --json --header in
	run -2 "$xgroup" --json --format=text in
	run -2 "$xgroup" --strict in
	run -2 "$xgroup" --format=csv in
}
