#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xsort --json: lines in the order of members, as Python orders them, from a file and a pipe, whatever
# the memory and the number of threads; lines that are not JSON.
# shellcheck disable=SC2154 # run sets output, status and stderr
. "$BATS_TEST_DIRNAME/suite.bash"

full=${SP_TEST_FULL:-}
rows=3000
[ -z "${SP_TEST_VARIANT:-}" ] || rows=500

model() { python3 "$BATS_TEST_DIRNAME/xsort_json.py" "$@"; }

# sorts KEYDEF...: compares with Python, for stable and unique sorts.
sorts()
{
	local keys=() memory threads k

	for k; do keys+=(-k "$k"); done
	model sort "$@" <in >want
	model unique "$@" <in >want-unique
	for memory in 64K 1G; do
		for threads in $(few 1 2 3 8); do
			"$xsort" --json -s "${keys[@]}" -S $memory --parallel="$threads" in | cmp - want
			"$xsort" --json -u "${keys[@]}" -S $memory --parallel="$threads" in | cmp - want-unique
		done
		cat in | "$xsort" --json -s "${keys[@]}" -S $memory | cmp - want
	done
}

@test "values are in the order of kinds and values, as Python has it" {
	needs python3
	local seed

	for seed in $(seq $((full ? 20 : $(fewer 2 1)))); do
		model lines "$seed" $rows >in
		sorts .k
		sorts .n:r .k
		sorts .deep.er:E
		sorts '.deep.list[1]:er' .s
		sorts '."odd name":n' .é:r
		sorts .n:nr .i:n
		sorts .
	done
}

@test "records from nothing to half of the memory" {
	needs python3
	: >in
	sorts .a
	printf '1\n' >in
	sorts .
	python3 -c '
import json
for i in range(40):
    print(json.dumps({"pad": "x" * (i % 5 * 6000), "k": ["y" * (39 - i) * 700, i]}))' >in
	sorts .k
	sorts .pad '.k[1]:nr'
}

@test "equal keys are kept in their order, or removed, or counted" {
	printf '{"a":1,"i":0}\n{"a":1.0,"i":1}\n{"a":"1","i":2}\n{"a":10e-1,"i":3}\n{"i":4}\n{"a":null,"i":5}\n' >in
	"$xsort" --json -u -k .a in >out
	printf '{"i":4}\n{"a":1,"i":0}\n{"a":"1","i":2}\n' | cmp - out
	"$xsort" --json -u --keep-order -k .a in >out
	printf '{"a":1,"i":0}\n{"a":"1","i":2}\n{"i":4}\n' | cmp - out
	"$xsort" --json -u --count -k .a in >out
	printf '      2 {"i":4}\n      3 {"a":1,"i":0}\n      1 {"a":"1","i":2}\n' | cmp - out
	"$xsort" --json -k .a in >out
	"$xsort" --json -c -k .a out
	"$xsort" --json -m -k .a out out >merged
	sort in in | cmp - <(sort merged)
	run -1 "$xsort" --json -c -k .i:nr in
}

@test "parts, splitters, checkpoints and a limit have the same lines" {
	needs python3
	model lines 5 $rows >in
	"$xsort" --json -k .k -k .i in >want
	"$xsort" --json -k .k -k .i --parts=3 -o 'part%d' in
	cat part0 part1 part2 | cmp - want
	"$xsort" --json -k .k -k .i --resume=progress -S 128K -o out in
	cmp out want
	head -n 7 want >first
	"$xsort" --json -k .k -k .i --limit=7 in | cmp - first
	gzip -k in
	"$xsort" --json -k .k -k .i --decompress in.gz | cmp - want
}

@test "a byte order mark begins the output, and carriage returns stay" {
	printf '\xef\xbb\xbf{"a":2}\r\n{"a":1}\n' >in
	"$xsort" --json -k .a in >out
	printf '\xef\xbb\xbf{"a":1}\n{"a":2}\r\n' | cmp - out
}

@test "a line that is not JSON is an error with its place, and nothing is written" {
	local bad

	for bad in '' '{"a":1}}' '{"a":}' '{"a" 1}' '{"a":01}' '{"b":"x' '{"a":"\x"}' 'nul' '{"a":"\ud800"}' '[1,]' \
		"$(printf '{"a":"\t"}')" "$(printf '{"a":"\377"}')"; do
		{ seq 1 3000 | sed 's/.*/{"a":&}/'; echo "$bad"; seq 5; } >in
		for memory in 64K 1G; do
			run -2 "$xsort" --json -k .a -S $memory --parallel=3 -o out in
			[[ $output == 'xsort: in: line 3001, byte '*': not JSON: expected '* ]]
			[ ! -e out ]
			run -2 "$xsort" --json -k .a -S $memory <in
			[[ $output == 'xsort: -: line 3001, byte '*': not JSON: expected '* ]]
		done
		run -2 "$xsort" --json -c -k .a in
		run -2 "$xsort" --json -m -k .a in in
		run -2 "$xsort" --json -u --keep-order -k .a in
		[[ $output == 'xsort: in: line 3001, byte '* ]]
	done
}

@test "splitters of a file are checked like records" {
	seq 3 | sed 's/.*/{"a":&}/' >in
	printf '{"a":2}\n{"a":x}\n' >cuts
	fails_with 'xsort: cuts: line 2, byte 6: not JSON: expected a JSON value' "$xsort" --json -k .a --split=cuts -o out%d in
	echo '{"a":x}' >cuts
	fails_with 'xsort: cuts: line 1, byte 6: not JSON: expected a JSON value' "$xsort" --json -k .a --split=cuts -o out%d in
	[ ! -e out0 ]
}

@test "an invalid line among the samples of --parts and --splitters is an error with its place" {
	seq 1 300 | sed 's/.*/{"a":&}/' >good
	{ cat good; echo '{"a":bad}'; cat good; } >in
	run -2 "$xsort" --json -k .a --parts=2 -o 'part%d' good in
	[ "$output" = "xsort: in: line 301, byte 6: not JSON: expected a JSON value" ]
	[ ! -e part0 ]
	run -2 "$xsort" --json -k .a --splitters=3 in
	[ "$output" = "xsort: in: line 301, byte 6: not JSON: expected a JSON value" ]
	# Lines before the offset of the standard input are not counted.
	exec 5<in
	dd bs=16 count=1 status=none <&5 >/dev/null
	run -2 "$xsort" --json -k .a --splitters=3 <&5
	exec 5<&-
	[ "$output" = "xsort: -: line 299, byte 6: not JSON: expected a JSON value" ]
	printf '{"a":1,"b":"\377"}' >last
	"$xsort" --json -k .a --splitters=2 last >out
	run -2 "$xsort" --json --strict -k .a --splitters=2 last
	[[ $output == "xsort: last: line 1, byte 13: not JSON: "* ]]
}

@test "characters outside keys are checked if asked for" {
	printf '{"a":2,"b":"\377"}\n{"a":1,"b":"\\udc00"}\n' >in
	"$xsort" --json -k .a in >out
	[ "$(wc -l <out)" -eq 2 ]
	fails_with "xsort: in: line 1, byte 13: not JSON: expected a text of valid characters (UTF-8)" \
		"$xsort" --json --strict -k .a in
}

@test "invalid lines can be left out" {
	{ seq 1 2000 | sed 's/.*/{"a":&}/'; echo '{"a":'; seq 2001 90000 | sed 's/.*/{"a":&}/'; echo x; } >in
	seq 90000 -1 1 | sed 's/.*/{"a":&}/' >want
	for threads in $(few 1 2 3 8); do
		run -0 --separate-stderr "$xsort" --json -k .a:r --skip-invalid -S 256K --parallel="$threads" -o out in --stats=r.json
		cmp out want
		[ "$stderr" = 'xsort: 2 invalid records were left out, the first one: in: line 2001, byte 6: not JSON: expected a JSON value' ]
		[ "$(value skipped)" -eq 2 ]
		run -0 "$xsort" --json -k .a:r --skip-invalid --parallel="$threads" -o out - <in
		cmp out want
		run -0 "$xsort" --json -u --keep-order -k .a:r --skip-invalid --parallel="$threads" -o out in
		seq 1 90000 | sed 's/.*/{"a":&}/' | cmp - out
	done
	{ echo x; cat in; } >later
	run -0 --separate-stderr "$xsort" --json -k .a:r --skip-invalid --where '.a > 89999' later in
	[ "$output" = $'{"a":90000}\n{"a":90000}' ]
	[ "$stderr" = 'xsort: 5 invalid records were left out, the first one: later: line 1, byte 1: not JSON: expected a JSON value' ]
	seq 90000 | sed 's/.*/{"a":&}/' >good
	run -0 --separate-stderr "$xsort" --json -k .a --skip-invalid --parallel=3 good in -o out
	[ "$stderr" = 'xsort: 2 invalid records were left out, the first one: in: line 2001, byte 6: not JSON: expected a JSON value' ] || { echo "$stderr"; false; }
	fails_with "xsort: --skip-invalid needs --json or --infer-types" "$xsort" --skip-invalid in
}

@test "conditions name members by their paths" {
	printf '{"a":{"b":"x\\ty"},"n":5}\n{"n":1e1}\n{"n":"7","odd name":[3]}\n' >in
	"$xsort" --json -k .n:n --where '.n >= 7' in >out
	printf '{"n":"7","odd name":[3]}\n{"n":1e1}\n' | cmp - out
	"$xsort" --json --where '.a.b is null' in >out
	[ "$(wc -l <out)" -eq 2 ]
	"$xsort" --json --where ".a.b like 'x_y' or .\"odd name\"[0] = 3" in >out
	[ "$(wc -l <out)" -eq 2 ]
	fails_with "xsort: 'n': a member of JSON is named by its path, such as .user.id" "$xsort" --json --where 'n > 3' in
}

@test "arrays are read as lines, however they are laid out" {
	needs python3
	local comma

	model lines 9 $rows | sed 's/[ \r]*$//' >in
	model sort .k .i <in >want
	for comma in ',' $',\n' $' ,\r\n\t\n ' ' , '; do
		python3 -c '
import sys
sys.stdout.write(" [" + sys.argv[1].join(sys.stdin.read().split("\n")[:-1]) + "\t]\n")' "$comma" <in >array
		for memory in 64K 1G; do
			"$xsort" --json=array -s -k .k -k .i -S $memory --parallel=3 array >out
			sed 's/^[ \t]*//; s/[ \t]*$//' out | cmp - want
			cat array | "$xsort" --json=array -s -k .k -k .i -S $memory | cmp - out
		done
		gzip -kf array
		"$xsort" --json=array -s -k .k -k .i --decompress array.gz | cmp - out
	done
}

@test "the borders of arrays" {
	printf '[]' >in
	"$xsort" --json=array in | cmp - /dev/null
	printf '[1]' >in
	[ "$("$xsort" --json=array in in)" = $'1\n1' ]
	printf '["a,]\\"[",{"b":[1,{}]},\n{\n"c"\r\n:1}]\r\n ' >in
	[ "$("$xsort" --json=array in)" = $'"a,]\\"["\n{"b":[1,{}]}\n { "c"  :1}' ]
	for bad in '' '{"a":1}' '1' '[1' '[1,' '[' '[{"a":1]' '[1]]' '[1] [2]' '["a' '[1,,2]' '[1,]' '[,1]' '[1 2]' $'["a\nb"]' '[}]'; do
		printf '%s' "$bad" >in
		run -2 "$xsort" --json=array -o out in
		[[ $output == 'xsort: in: '*': not '*'JSON: expected '* ]] || { echo "$bad: $output"; false; }
		[ ! -e out ]
	done
	for option in --parts=2 --splitters=2 --resume=r; do
		run -2 "$xsort" --json=array $option -o 'out%d' in
	done
	run -2 "$xsort" --json=list in
}

@test "long texts are cut where a character may be, and only as keys" {
	needs python3
	local last

	last=$(fewer 6 1)
	python3 -c '
import sys
for off in range(-1, int(sys.argv[1])):
    head = "a" * (524288 - off)
    for tail in "", "!", "\\ud83d\\ude00zz", "\\ud83d\\ude00yy", "\\u00e9", "\\u20ac", "\\ud83d\\ude00":
        print("{\"k\":\"" + head + tail + "\"}")' "$last" >in
	[ "$("$xsort" --json -k .k -u in | wc -l)" -eq $((7 * (last + 1))) ]
	model sort .k <in >want
	"$xsort" --json -s -k .k in | cmp - want
	"$xsort" --json -s -k .k -S 2M --parallel=2 in | cmp - want
}

@test "the first records of keys that exceed memory" {
	needs python3
	python3 -c '
import random
rng = random.Random(1)
for i in range(30000):
    print("{\"k\":\"%.9f\",\"i\":%d}" % (rng.randrange(15000) / 7, i))' >in
	awk -F'"' '!seen[$4]++' in >want
	for memory in 512K 1M 1G; do
		"$xsort" --json -k .k -u --keep-order -S $memory in | cmp - want
		cat in | "$xsort" --json -k .k -u --keep-order -S $memory | cmp - want
	done
}

@test "all characters of a key are checked, and deep values have an order" {
	printf '{"k":["\\ud800"]}\n{"k":["\\udbff"]}\n' >in
	run -2 "$xsort" --json -k .k -u in
	run -2 "$xsort" --json -u in
	python3 -c '
for i in range(20):
    print("[" * 2000 + "\"" + "x" * 50000 + str(i * 7 % 20) + "\"" + "]" * 2000)' >in
	"$xsort" --json --parallel=2 -S 4M in >out
	[ "$(sort -u out | wc -l)" -eq 20 ]
	"$xsort" --json -C out
}

@test "keys and options that do not go with JSON are refused" {
	fails_with "xsort: with --json a key is a path, such as -k .user.id" "$xsort" --json -k 2
	fails_with "xsort: a path needs --json: '.a'" "$xsort" -k .a
	fails_with "xsort: --strict needs --json" "$xsort" --strict
	run -2 "$xsort" --json --csv
	run -2 "$xsort" --json -t,
	run -2 "$xsort" --json -z
	run -2 "$xsort" --json --header
	run -2 "$xsort" --json -k .a.
	run -2 "$xsort" --json -k '.a[x]'
	run -2 "$xsort" --json -k .a:q
}
