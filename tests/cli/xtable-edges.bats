#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Answers at the ends of types: literals beyond them, NaN and -0, sums of more than 64 bits, times
# before 1970, texts of 0 bytes and of megabytes, dictionaries that are full.
. "$BATS_TEST_DIRNAME/suite.bash"

# column TYPE VALUE...: a table t with one column, a.
column()
{
	local type=$1

	shift
	printf '%s\n' "$@" | "$xtable" load t --csv --types "a:$type" --overwrite
}

# selects WHERE VALUE...: the predicate selects these records, by each way of reading them.
selects()
{
	local where=$1 access

	shift
	for access in s-scan si-scan; do
		[ "$("$xtable" scan t --where "$where" --access "$access")" = "$(printf '%s\n' "$@")" ] || {
			"$xtable" scan t --where "$where" --access "$access"
			return 1
		}
	done
}

# gives AGGREGATES TEXT: the last line of a scan.
gives()
{
	[ "$("$xtable" scan t --agg "$1" | tail -n 1)" = "$2" ]
}

@test "unsigned numbers above 2^63 are ordered, summed and compared exactly" {
	column u64 18446744073709551614 9223372036854775808 9223372036854775807 0
	selects 'a > 9223372036854775807' 18446744073709551614 9223372036854775808
	selects 'a >= 18446744073709551615' ''
	selects 'a < 9223372036854775807.5' 9223372036854775807 0
	selects '-1 < a < 9.3e18' 9223372036854775808 9223372036854775807 0
	selects 'a in (9223372036854775808,1,2,3,4,5,6,7,8,9)' 9223372036854775808
	selects 'not a in (1.5, 1e30)' 18446744073709551614 9223372036854775808 9223372036854775807 0
	gives 'sum(a),avg(a),min(a),max(a)' \
		36893488147419103229,9223372036854775807.250000,0,18446744073709551614
}

@test "sums have 128 bits, and averages six decimals more than their column" {
	for _ in {1..3000}; do echo 92233720368547758.07; done |
		"$xtable" load t --types 'a:dec(2)'
	gives 'sum(a),avg(a)' $'276701161105643274210.00\t92233720368547758.07000000'
	column 'dec(18)' 0.000000000000000001 -0.000000000000000002
	gives 'avg(a),sum(a)' -0.000000000000000000500000,-0.000000000000000001
	column i64 -9223372036854775807 -9223372036854775807 -9223372036854775806
	gives 'sum(a),avg(a)' -27670116110564327420,-9223372036854775806.666667
	column i8 -1 -2 -2
	gives 'avg(a)' -1.666667
}

@test "decimals are compared with literals that have more digits" {
	column 'dec8(2)' 1.27 -1.27 0.00
	selects 'a > 1.265' 1.27
	selects 'a < -1.2699999999999999999999999999' -1.27
	selects 'a = 1.2700000' 1.27
	selects 'a != 1.275' 1.27 -1.27 0.00
	selects '-1e-300 < a < 1e-300' 0.00
}

@test "NaN is behind all numbers, and -0 is 0" {
	column f64 nan -0 0 inf -inf 5e-324 ''
	selects 'a > 0' nan inf 5e-324
	selects 'a = 0' -0 0
	selects 'a = nan' nan
	selects 'a != nan' -0 0 inf -inf 5e-324
	selects 'a > inf' nan
	selects 'nan > a' -0 0 inf -inf 5e-324
	selects 'a in (nan, 5e-324)' nan 5e-324
	selects 'a > 1e400' nan inf
	selects 'a >= -1e400' nan -0 0 inf 5e-324
	gives 'count(a),sum(a),avg(a),min(a),max(a)' 6,nan,nan,-inf,nan
	[ "$("$xtable" scan t --where '-1 < a < 1' --agg 'sum(a),min(a),max(a)' | tail -n 1)" = 5e-324,0,5e-324 ]
}

@test "a predicate is neither true nor false where a value is NULL" {
	printf '1,1\n2,\n,3\n,\n' | "$xtable" load t --csv
	selects 'c1 = 1 or c2 = 3' 1,1 ,3
	selects 'not (c1 = 1 and c2 = 3)' 1,1 2,
	selects 'not (c1 = 2 and c2 = 9)' 1,1 ',3'
	selects 'c1 = c2 or c1 is null' 1,1 ,3 ,
	selects 'c1 not in (7)' 1,1 2,
	selects 'c1 is null and not c2 is null' ,3
	selects 'not (c1 > 0 or c2 > 0)' ''
	selects 'c1 < c2 or not c1 < c2' 1,1
}

@test "days and times before 1970, and the first and last ones" {
	column date 1969-12-31 0000-01-01 9999-12-31 1970-01-01
	selects "a < '1970-01-01'" 1969-12-31 0000-01-01
	selects "'1969-12-30' < a <= '1970-01-01'" 1969-12-31 1970-01-01
	gives 'min(a),max(a)' 0000-01-01,9999-12-31
	column 'time(1)' '1969-12-31 23:59:59.5' '1970-01-01 00:00:00.0' '0000-01-01 00:00:00.0'
	selects "a < '1970-01-01'" '1969-12-31 23:59:59.5' '0000-01-01 00:00:00.0'
	selects "a = '1969-12-31T23:59:59.5'" '1969-12-31 23:59:59.5'
}

@test "times are compared with literals that have more decimals" {
	column time '2026-11-27 13:05:00' '2026-11-27 13:05:01'
	selects "a < '2026-11-27 13:05:00.000001'" '2026-11-27 13:05:00'
	selects "a >= '2026-11-27 13:05:00.5'" '2026-11-27 13:05:01'
	selects "a = '2026-11-27 13:05:00.5'" ''
	selects "a in ('2026-11-27 13:05:00.5', '2026-11-27 13:05:01.000')" '2026-11-27 13:05:01'
}

@test "the empty text is none of the others, and not NULL" {
	for type in 'char(3)' text dict8; do
		printf 'a,b\n"",1\n,2\nx,3\n' >in
		"$xtable" load t --csv --header --types "a:$type" --overwrite in
		"$xtable" scan t | cmp - in
		selects "a = ''" a,b '"",1'
		selects "a is null" a,b ,2
		selects "a ^= ''" a,b '"",1' x,3
		selects "a < 'x'" a,b '"",1'
		gives 'min(a),max(a),count(a)' '"",x,2'
		"$xtable" index t a -o t.index
		[ "$("$xtable" get t --by=a --index t.index '')" = '"",1' ]
		"$xtable" update t --set "a=''" 1
		"$xtable" update t --set a=null 0
		[ "$("$xtable" scan t | tr '\n' ' ')" = 'a,b ,1 "",2 x,3 ' ]
		"$xtable" check t
	done
}

@test "a zero byte inside char(N) is a byte, and one at its end is refused" {
	printf 'ab\nab\0c\n\0\0d\n' >in
	"$xtable" load t --types 'a:char(5)' in
	"$xtable" scan t | cmp - in
	selects "a = 'ab'" ab
	[ "$("$xtable" scan t --where "a > 'ab'" | od -An -c | tr -d ' ')" = 'ab\0c\n' ]
	"$xtable" index t a
	[ "$("$xtable" get t --by=a ab)" = ab ]
	printf 'ab\0\n' >in
	run -2 "$xtable" load u --types 'a:char(5)' in
	[[ $output == *"is not char(5); type text would do" ]]
}

@test "a dictionary of 255 words is full, and a table that is converted takes more" {
	seq 255 | sed 's/^/w/' >in
	"$xtable" load t --types a:dict8 in
	"$xtable" scan t | cmp - in
	run -2 "$xtable" append t <<<more
	[[ $output == *"'more' exceeds the capacity of the dictionary of dict8; type dict16 would do: xtable convert --types="* ]]
	run -2 "$xtable" update t --set a=more 0
	[[ $output == *"dictionary of column a is full: convert the table"* ]]
	printf 'w1\n\nw255\n' | "$xtable" append t
	gives 'min(a),max(a),count(a)' $'w1\tw99\t257'
	[ "$("$xtable" scan t --where "a != 'w255'" --agg 'count()')" = 255 ]
	[ "$("$xtable" scan t --where "not a = 'none'" --agg 'count()')" = 257 ]
	"$xtable" convert t u
	"$xtable" append u <<<more
	[ "$("$xtable" get u 258)" = more ]
	"$xtable" check u
	seq 65535 | sed 's/^/w/' >in
	"$xtable" load v --types a:dict16 in
	"$xtable" scan v | cmp - in
	run -2 "$xtable" append v <<<more
	[[ $output == *"exceeds the capacity of the dictionary of dict16; type text would do: xtable convert --types="* ]]
}

@test "texts of megabytes are read, changed and appended" {
	awk 'BEGIN { for (x = "x"; length(x) < 3000000;) x = x x; print "1|\n2|" x "\n3|y" }' >in
	"$xtable" load t -t'|' --types k:i8,s:text in
	for memory in 4M 64M; do
		"$xtable" scan t -S "$memory" | cmp - in
		[ "$("$xtable" get t 1 -S "$memory" | wc -c)" = "$(sed -n 2p in | wc -c)" ]
		[ "$("$xtable" scan t --where "s ^= 'xx'" --columns k -S "$memory")" = 2 ]
	done
	gives 'max(s),count(s)' 'y|2'
	"$xtable" update t --set s=short 1
	[ "$("$xtable" get t 1)" = '2|short' ]
	sed -n 2p in | "$xtable" append t
	"$xtable" get t 3 | cmp - <(sed -n 2p in)
	"$xtable" check t
	run -2 "$xtable" load u -t'|' -S 4M in
	[[ $output =~ "a record of "[0-9]+" bytes is too long for the memory: choose -S "([0-9]+)" or more" ]]
	"$xtable" load u -t'|' -S "${BASH_REMATCH[1]}" in
	"$xtable" scan u | cmp - in
}

@test "record numbers and limits beyond the ends" {
	seq 10 | "$xtable" load t
	[ -z "$("$xtable" scan t --lo 10)" ]
	[ "$("$xtable" scan t --lo 9 --hi 18446744073709551615)" = 10 ]
	[ -z "$("$xtable" scan t --limit 0)" ]
	[ "$("$xtable" scan t --limit 18446744073709551615 | wc -l)" = 10 ]
	[ "$("$xtable" scan t --where 'c1 > 3' --limit 2 --hi 4 | wc -l)" = 1 ]
	run -2 "$xtable" scan t --lo 5 --hi 3
	[ -z "$("$xtable" scan t --lo 5 --hi 5)$("$xtable" scan t --hi 0)" ]
	[ "$("$xtable" scan t --lo 5 --hi 6)" = 6 ]
	run -0 "$xtable" scan t --hi 0 --agg 'count()'
	[ "${lines[-1]}" = 0 ]
	run -1 "$xtable" get t 10 18446744073709551615
}

@test "aggregates of no records" {
	: | "$xtable" load t --types 'a:f64,b:i8,c:text,d:dec(2),e:dict8,f:date'
	gives 'count(),count(a),sum(a),avg(b),min(c),max(d),max(e),min(f)' $'0\t0\t\t\t\t\t\t'
	column i8 1 2
	[ "$("$xtable" scan t --where 'a > 2' --agg 'count(),sum(a),avg(a),min(a)')" = 0,,, ]
}

@test "texts that lines cannot have are not printed as lines, and not put into lines" {
	printf 'a,b\n1,x\n2,y\tz\n3,"v\nw"\n' >in
	for type in text dict8 'char(9)'; do
		"$xtable" load t --csv --header --types "b:$type" --overwrite in
		[ "$("$xtable" scan t --format=text --where 'a = 1')" = $'a\tb\n1\tx' ]
		[ "$("$xtable" scan t --format=text --columns a | wc -l)" = 4 ]
		run -2 --separate-stderr "$xtable" scan t --format=text
		# shellcheck disable=SC2154 # bats sets stderr
		[[ $stderr == *"record 1: column 'b' has a text with a separator or a newline"* ]]
		run -2 "$xtable" get t --format=text 2
		"$xtable" scan t --format=csv | cmp - in
		printf 'a|b\n1|x\n' | "$xtable" load l -t'|' --header --types "b:$type" --overwrite
		for bad in 'y|z' $'v\nw'; do
			run -2 "$xtable" update l --set "b='$bad'" 0
			[[ $output == *"column b: a separator or a newline in a text cannot be in the lines"* ]]
		done
		"$xtable" update l --set "b='y,z'" 0
		[ "$("$xtable" get l 0)" = '1|y,z' ]
	done
}
