#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Any number of threads gives the same bytes: tables that are loaded and appended to, from files and
# pipes, and the output of scans, to files and pipes.  SP_TEST_FULL=1: more numbers of threads.
. "$BATS_TEST_DIRNAME/suite.bash"

types=orderkey:u32,partkey:u32,suppkey:u32,linenumber:u8,quantity:u8,extendedprice:dec32\(2\)
types+=,discount:dec8\(2\),tax:dec8\(2\),returnflag:char\(1\),linestatus:char\(1\),shipdate:date
types+=,commitdate:date,receiptdate:date,shipinstruct:dict8,shipmode:dict8,comment:text
# shellcheck disable=SC2207 # words
counts=($(few 1 3 16))
[ -z "${SP_TEST_FULL:-}" ] || counts=(1 2 3 8 16 64)

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return
	"$xgen" lineitem -n 60000 -o lineitem
	"$xtable" load t -t '|' --types "$types" --parallel=1 lineitem
}

# load TABLE OPTION...: with the id of the seed, which is in each cell.
load() { "$xtable" load --seed=1 --overwrite -t '|' --types "$types" "$@"; }

# same_output FILE OPTION...: scans with these options give the file, however many threads there are.
same_output()
{
	local want=$1 threads

	shift
	for threads in "${counts[@]}"; do
		"$xtable" scan "$BATS_FILE_TMPDIR/t" --parallel="$threads" "$@" >to_file
		cmp "$want" to_file
		"$xtable" scan "$BATS_FILE_TMPDIR/t" --parallel="$threads" "$@" | cmp "$want" -
	done
}

@test "the text of all columns, and of three, is the same" {
	same_output "$BATS_FILE_TMPDIR/lineitem"
	cut -d '|' -f 1,6,11 "$BATS_FILE_TMPDIR/lineitem" | sed 's/$/|/' >want
	same_output want --columns orderkey,extendedprice,shipdate
	awk -F '|' '$5 < 25 { print $1 "|" $5 "|" }' "$BATS_FILE_TMPDIR/lineitem" >want
	same_output want --columns orderkey,quantity --where 'quantity < 25'
	head -n 12345 want >first
	same_output first --columns orderkey,quantity --where 'quantity < 25' --limit 12345
}

@test "a pool and little memory change nothing" {
	same_output "$BATS_FILE_TMPDIR/lineitem" -S 512K
	same_output "$BATS_FILE_TMPDIR/lineitem" --pool=S --pool-size=4M
}

@test "aggregates are the same" {
	awk -F '|' '$5 < 25 { n++; q += $5 } END { print n "|" q "|" }' \
		"$BATS_FILE_TMPDIR/lineitem" >want
	same_output want --agg 'count(),sum(quantity)' --where 'quantity < 25'
}

@test "output goes to the offset of its file, or behind what is appended to" {
	local want="$BATS_FILE_TMPDIR/lineitem"

	{ echo first; "$xtable" scan "$BATS_FILE_TMPDIR/t" --parallel=8; echo last; } >out
	cmp out <(echo first; cat "$want"; echo last)
	echo first >out
	"$xtable" scan "$BATS_FILE_TMPDIR/t" --parallel=8 >>out
	cmp out <(echo first; cat "$want")
	yes | head -n 4000000 >out
	"$xtable" scan "$BATS_FILE_TMPDIR/t" --parallel=8 1<>out
	cmp -n "$(stat -c %s "$want")" out "$want"
	[ "$(stat -c %s out)" = 8000000 ]
}

@test "a file that cannot be written does not look whole" {
	run bash -c "trap '' XFSZ; ulimit -f 1000
		'$xtable' scan '$BATS_FILE_TMPDIR/t' --parallel=8 >out"
	[ "$status" = 2 ]
	[ "$output" = 'xtable: write error: File too large' ]
	[ "$(stat -c %s out)" -le 1024000 ]
	cmp -n "$(stat -c %s out)" out "$BATS_FILE_TMPDIR/lineitem"
}

@test "the first damaged cell ends a scan, behind the records before it" {
	cp "$BATS_FILE_TMPDIR/t" t
	printf X | dd of=t bs=1 seek=1500000 conv=notrunc status=none
	printf X | dd of=t bs=1 seek=2500000 conv=notrunc status=none
	"$xtable" scan t --parallel=1 >want 2>error && return 1
	for threads in "${counts[@]}"; do
		run "$xtable" scan t --parallel="$threads"
		[ "$status" = 2 ]
		"$xtable" scan t --parallel="$threads" >out 2>said && return 1
		cmp error said
		cmp -n "$(stat -c %s out)" out "$BATS_FILE_TMPDIR/lineitem"
	done
}

@test "tables that are loaded are the same" {
	local in="$BATS_FILE_TMPDIR/lineitem" layout threads

	for layout in $(fewer "csm nsm pax dsm" "csm pax"); do
		load want --layout $layout --parallel=1 "$in"
		for threads in "${counts[@]}"; do
			load t --layout $layout --parallel="$threads" "$in"
			cmp want t
			load t --layout $layout --parallel="$threads" < <(cat "$in")
			cmp want t
		done
	done
}

@test "little memory, several inputs, and inferred types load the same table" {
	local in="$BATS_FILE_TMPDIR/lineitem" threads

	split -n l/3 "$in" part.
	"$xtable" load want --seed=1 --overwrite -t '|' --parallel=1 -S 1M part.a?
	for threads in "${counts[@]}"; do
		"$xtable" load t --seed=1 --overwrite -t '|' --parallel="$threads" -S 1M part.a?
		cmp want t
	done
	"$xtable" scan t | cmp "$in" -
}

@test "CSV whose texts look like records is cut again, and loads the same table" {
	local threads

	{
		seq -f '%.0f,"text ""1"""' 20000
		echo '0,"'
		yes 'x,""y""' | head -n 300000
		echo '"'
		seq -f '%.0f,"last"' 20000
	} >in.csv
	"$xtable" load want --seed=1 --csv --types a:u32,b:text --parallel=1 <in.csv
	for threads in "${counts[@]}"; do
		"$xtable" load t --seed=1 --overwrite --csv --types a:u32,b:text \
			--parallel="$threads" in.csv
		cmp want t
	done
	"$xtable" scan t | cmp in.csv -
}

@test "the first wrong record is named, and no table is left" {
	local threads

	{ seq 200000; echo x; seq 200000; echo y; } >bad
	for threads in "${counts[@]}"; do
		run -2 "$xtable" load t --types a:u32 --parallel="$threads" bad
		[[ $output == "xtable: bad: line 200001: column 'a': 'x' is not u32"* ]]
		[ ! -e t ]
	done
}

@test "records that are appended make the same table" {
	local in="$BATS_FILE_TMPDIR/lineitem" threads

	for threads in "${counts[@]}"; do
		head -n 20000 "$in" | load t
		tail -n +20001 "$in" | head -n 10 | "$xtable" append t
		tail -n +20011 "$in" >rest
		"$xtable" append t --parallel="$threads" rest
		"$xtable" scan t | cmp "$in" -
		"$xtable" check t
	done
}
