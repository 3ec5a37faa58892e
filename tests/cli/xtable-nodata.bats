#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Tables without data: the requests of commands, and the commands that they refuse.

# shellcheck source=tests/cli/suite.bash
. "$BATS_TEST_DIRNAME/suite.bash"

volume=sim:cheetah36es-like

# Two schemas: narrow columns, and one column whose cells an A-page has several of.
schema()
{
	printf 'a i32\nb i16\nc i32\nd i64\ne char(30)\n' >schema
	awk 'BEGIN { for (i = 0; i < 60000; i++)
		printf "%d|%d|%d|%d|%s\n", i, (i % 2 ? -1 : 1) * 100, i % 1000, i * i, "t" i }' >text
}

# both COMMAND OPTION...: runs a command on the table t with data and without, and compares the
# requests and their times.
both()
{
	local command=$1
	shift
	(cd full && "$xtable" "$command" t "$@" --trace=../full.trace >../full.out)
	[ "$command" = update ] || (cd full && "$xtable" "$command" t "$@" --discard) >full.out
	[ ! -s full.out ]
	(cd blank && "$xtable" "$command" t "$@" --discard --trace=../blank.trace) >blank.out
	[ ! -s blank.out ]
	[ "$(grep -c '^[RW]' blank.trace)" -gt 0 ]
}

@test "commands make the requests that they make on a table with data" {
	schema
	mkdir full blank
	for layout in nsm pax dsm csm; do
		"$xtable" load full/t text -t'|' --schema=schema --layout=$layout \
			--volume=$volume --overwrite
		"$xtable" create blank/t --no-data --schema=schema --records=60000 \
			--layout=$layout --volume=$volume --overwrite
		[ "$(stat -c %s full/t)" = "$(stat -c %s blank/t)" ]
		[ "$(du -k blank/t | cut -f 1)" -lt 100 ]
		both scan --columns b,d
		(cd full && "$xtable" scan t --columns b,d --discard --trace=../full.trace)
		cmp full.trace blank.trace
		both get 5 59999 7 30000 --columns a,e
		(cd full && "$xtable" get t 5 59999 7 30000 --columns a,e --discard \
			--trace=../full.trace)
		cmp full.trace blank.trace
		for i in 1 2; do
			both update 5 59999 7 30000 --set b=$i
			cmp full.trace blank.trace
		done
	done
}

@test "a large table takes no space, and is as slow as its device" {
	needs jq
	schema
	"$xtable" create t --no-data --schema=schema --records=20000000 --volume=$volume
	[ "$(stat -c %s t)" -gt 900000000 ]
	[ "$(du -k t | cut -f 1)" -lt 200 ]
	"$xtable" scan t --columns a --discard --stats=r.json
	jq -e '.result.records_read == 20000000 and .result.elapsed_s > 1' r.json
}

@test "commands that need values refuse the table" {
	schema
	"$xtable" create t --no-data --schema=schema --records=100 --volume=$volume
	for args in "scan t" "scan t --discard --where=a<4" "scan t --agg=count()" "get t 4" \
		"get t --by=a 4 --discard" "update t --set=b=1 4" \
		"update t --set=b=1 --where=a<4 --discard" "delete t 4" "append t text" \
		"convert t u" "index t a" "check t"; do
		# shellcheck disable=SC2086 # words
		run -2 "$xtable" $args
		[[ $output == *"t: the table has no data: "*"--discard"* ]]
	done
	[ ! -e u ]
	run -0 "$xtable" info t
	[[ $output == *"data: none"* && $output != *nan* ]]
	run -0 "$xtable" info t --json
	[[ $output == *'"no_data": true'* ]]
	"$xtable" explain t -q 'scan a' -q 'get 3 *' --run
	run -1 "$xtable" get t 3 100 --discard
	[[ $output == *"there is no record '100'"* ]]
}

@test "a table without data needs a schema without texts and a simulated volume" {
	schema
	run -2 "$xtable" create t --no-data --schema=schema --records=100
	[[ $output == *"needs a simulated volume"* ]]
	run -2 "$xtable" create t --schema=schema --records=100 --volume=$volume
	[[ $output == *"--no-data"* ]]
	run -2 "$xtable" create t --no-data --schema=schema --records=1e18 --volume=$volume
	run -2 "$xtable" create t --no-data --schema=schema --records=999999999999 --volume=$volume
	[[ $output == *"the device has"* ]]
	run -2 "$xtable" create t --no-data --schema=schema --records=999999999999999999 \
		--volume=$volume
	[[ $output == *"at most"* ]]
	echo 'x text' >texts
	run -2 "$xtable" create t --no-data --schema=texts --records=100 --volume=$volume
	[[ $output == *"column 'x'"*"char(N)"* ]]
	[ ! -e t ]
}

@test "an update with --discard does not touch a table with data" {
	schema
	"$xtable" load t text -t'|' --schema=schema
	sum=$(sha256sum <t)
	run -2 "$xtable" update t --set b=7 4 --discard
	[[ $output == *"has data"* ]]
	[ "$(sha256sum <t)" = "$sum" ]
	run -2 "$xtable" scan t --agg='count()' --discard
}

# elapsed COMMAND TABLE HOW [ARGUMENT...]: seconds with joins of columns.
elapsed()
{
	"$xtable" "$1" "$2" "${@:4}" --discard --dsm-join="$3" --stats=e.json
	jq .result.elapsed_s e.json
}
# adds WANTED BASE NOW: so many seconds more, within 2 %.
adds() { awk -v w="$1" -v b="$2" -v n="$3" 'BEGIN { print b, n; exit !(n - b >= 0.98 * w && n - b < 1.02 * w + 1e-9) }'; }

@test "joins of the columns of dsm take virtual time, value by value or vector by vector" {
	needs jq
	sed 's/^ "kind"/ "host": {"compare_ns": 500000, "record_ns": 500000, "value_ns": 0, "copy_ps": 0},\n&/' \
		"$BATS_TEST_DIRNAME/../../lib/dev/models/cheetah36es-like.json" >slow.json
	printf 'a i32\nb i32\nc i32\n' >three
	"$xtable" create d --no-data --schema=three --records=20480 --layout=dsm --volume="sim:$PWD/slow.json"
	none=$(elapsed scan d none)
	adds 40.96 "$none" "$(elapsed scan d tuple)"
	adds 0.04 "$none" "$(elapsed scan d vector)"
	adds 20.48 "$(elapsed scan d none --columns=a,b)" "$(elapsed scan d tuple --columns=a,b)"
	adds 0 "$(elapsed scan d none --columns=c)" "$(elapsed scan d tuple --columns=c)"
	adds 0.004 "$(elapsed get d none 1 9000)" "$(elapsed get d tuple 1 9000)"

	# A predicate joins its columns for all records, the others for those that it chooses.
	seq 0 999 | awk '{ print $1 "|" $1 % 10 "|" $1 "|" $1 }' >text
	printf 'a i32\nb i32\nc i32\nd i32\n' >four
	"$xtable" load e text -t'|' --schema=four --layout=dsm --volume="sim:$PWD/slow.json"
	# An SI-scan joins all columns of the chosen records.
	for pair in s-scan:1.2 si-scan:1.3; do
		chosen=("--access=${pair%:*}" --where='b = 1 and a >= 0')
		adds "${pair#*:}" "$(elapsed scan e none "${chosen[@]}")" "$(elapsed scan e tuple "${chosen[@]}")"
	done
}

@test "joins of columns are refused where nothing is joined, or there is no virtual time" {
	seq 9 | awk '{ print $1 "|" $1 }' >text
	"$xtable" load file text -t'|' --layout=dsm
	run -2 "$xtable" scan file --dsm-join=tuple
	[[ $output == *"file: joins of columns need a simulated volume"*"--volume=sim:MODEL"* ]]
	for how in --layout=csm --layout=nsm "--layout=dsm --together=c1,c2"; do
		"$xtable" load t text -t'|' --overwrite $how
		run -2 "$xtable" get t 1 --dsm-join=vector --volume=sim:cheetah36es-like
		[[ $output == *"t: only the layout dsm, with no columns together, joins columns"* ]]
		echo 'get 1 c1' >w
		run -2 "$xtable" run t --workload=w --dsm-join=tuple --volume=sim:cheetah36es-like
		[[ $output == *"only the layout dsm"* ]]
	done
}
