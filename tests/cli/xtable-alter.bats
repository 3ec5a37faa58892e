#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Columns of tables are added, dropped, renamed, and get other types.
. "$BATS_TEST_DIRNAME/suite.bash"

# loads OPTION...: the table t of 3000 records.
loads()
{
	awk 'BEGIN { print "a,b,c,d"
		for (i = 0; i < 3000; i++)
			printf "%d,%s,%.2f,%s%d\n", i, i % 3 ? "red" : "blue", i * 7 % 100 / 4, substr("abcdefghij", 1, i % 11), i }' >in.csv
	"$xtable" load t in.csv --csv --header --types a:i32,b:dict8,c:dec16\(2\),d:text --overwrite "$@"
}

# refuses PATTERN COMMAND...: the command prints this message alone, and ends with status 2.
refuses()
{
	local pattern=$1

	shift
	run -2 --separate-stderr "$@"
	# shellcheck disable=SC2053,SC2154 # a pattern; run sets it
	[[ -z $output && $stderr == $pattern ]] || { echo "$output$stderr"; return 1; }
}

# gives FILE: a scan, and the check finds nothing.
gives()
{
	"$xtable" scan t | cmp - "$1" && "$xtable" check t >/dev/null
}

@test "columns are added with a value or NULL, in each layout" {
	for layout in csm dsm nsm pax; do
		loads --layout=$layout
		"$xtable" alter t --add 'e:i64,f:text,g:dict8,h:dec8(1) not null' --set "e=-7,h=1.5,f='x, y'"
		awk 'NR == 1 { print $0 ",e,f,g,h"; next } { print $0 ",-7,\"x, y\",,1.5" }' in.csv >right
		gives right
	done
}

@test "columns are dropped, renamed and widened at once, in each layout" {
	for layout in csm dsm nsm pax; do
		loads --layout=$layout --cell=1K
		"$xtable" alter t --drop b --rename a=first --rename 'd="the text"' --types a:i64,c:text --add z:i8
		awk -F, 'NR == 1 { print "first,c,the text,z"; next } { print $1 "," $3 "," $4 "," }' in.csv >right
		gives right
		[ "$("$xtable" scan t --where 'first = 2999' --columns c | tail -n 1)" = 23.25 ]
	done
}

@test "names can be exchanged" {
	loads
	"$xtable" alter t --rename a=c --rename c=a
	sed '1s/.*/c,b,a,d/' in.csv >right
	gives right
}

@test "columns that share cells stay together, and the others are not written" {
	loads --together=a,b --cell=1K
	"$xtable" alter t --types b:dict16 --stats=r.json
	gives in.csv
	"$xtable" info t | grep -q 'columns: 4 in 3 column groups'
	cells=$(value cells_written)
	loads --cell=1K
	"$xtable" alter t --add n:i8 --stats=r.json
	[ "$(value cells_written)" -lt 20 ] && [ "$cells" -lt 40 ]
}

@test "deleted records stay deleted, and numbers stay" {
	loads
	"$xtable" delete t 0 7 2999
	"$xtable" alter t --add n:i32 --set n=1 --types a:i64
	"$xtable" update t --set n=2 8
	run -1 --separate-stderr "$xtable" get t 7 8
	[ "$output" = "8,red,14.00,abcdefgh8,2" ]
	sed '3001d;9d;2d' in.csv | awk -F, 'NR == 1 { print $0 ",n"; next } { print $0 "," ($1 == 8 ? 2 : 1) }' >right
	gives right
}

@test "an altered table takes records, and is converted" {
	loads --layout=dsm --cell=512
	"$xtable" alter t --add n:i32 --set n=4 --drop c
	printf 'a,b,d,n\n3000,green,more,5\n' >more.csv
	"$xtable" append t more.csv
	awk -F, 'NR == 1 { print "a,b,d,n"; next } { print $1 "," $2 "," $4 ",4" } END { print "3000,green,more,5" }' in.csv >right
	gives right
	"$xtable" convert t u --layout=nsm
	"$xtable" scan u | cmp - right
}

@test "indexes of other columns stay valid, and those of changed ones are refused" {
	loads
	for column in a b c d; do "$xtable" index t $column; done
	"$xtable" alter t --rename b=bb --types c:dec64\(2\) --drop d
	[ "$("$xtable" get t --by=a 2000)" = 2000,red,0.00 ]
	refuses "xtable: t.c.index: *" "$xtable" get t --by=c 0.00
	cp t.b.index t.bb.index
	refuses "xtable: t.bb.index: *" "$xtable" get t --by=bb blue
	# A new column with the name of a dropped one.
	"$xtable" alter t --add d:text --set d=x
	refuses "xtable: t.d.index: *" "$xtable" get t --by=d x
}

@test "a table of one column gets more, and goes back to one" {
	seq 5000 | "$xtable" load t --types c1:i32 --cell=1K
	"$xtable" alter t --add n:i8 --set n=3
	gives <(seq 5000 | awk '{ print $1 "\t3" }')
	"$xtable" alter t --drop n
	gives <(seq 5000)
	seq 5001 5100 | "$xtable" append t
	gives <(seq 5100)
}

@test "a value of a deleted record that the new type does not have is named as such" {
	loads
	seq 128 2999 | "$xtable" delete t --keys=-
	refuses "xtable: t: record 128, which is deleted: its value of column 'a' is not one of i8: copy *" "$xtable" alter t --types a:i8
	"$xtable" convert t u
	"$xtable" alter u --types a:i8
	"$xtable" scan u | cmp - <(head -n 129 in.csv)
}

@test "tables without records, of fixed records and of lines of JSON" {
	printf 'a,b\n' | "$xtable" load t --csv --header --types a:i32,b:text
	"$xtable" alter t --add 'c:i8 not null' --drop b
	printf 'a,c\n1,2\n' | "$xtable" append t
	[ "$("$xtable" scan t)" = $'a,c\n1,2' ]
	printf 'abcd' | "$xtable" load t --record-size=2 --types 'a:char(1),b:char(1)' --overwrite
	"$xtable" alter t --add 'c:char(2)' --set c=xy --types 'a:char(2)'
	[ "$("$xtable" scan t | tr '\0' .)" = a.bxyc.dxy ]
	refuses "xtable: t: column 'd': a text has no fixed length: choose char(N)" "$xtable" alter t --add d:text
	echo '{"a":1,"b":{"c":"x"}}' | "$xtable" load t --json --overwrite
	"$xtable" alter t --add 'd:text json' --set "d='[1,{}]'" --rename '"b.c"=e'
	[ "$("$xtable" scan t)" = '{"a":1,"e":"x","d":[1,{}]}' ]
}

@test "what cannot be altered is refused, and the table is as before" {
	loads
	cp t before
	refuses "xtable: alter: --add, --drop, --rename or --types is missing
Try 'xtable alter --help' for more information." "$xtable" alter t
	refuses "xtable: --set needs --add: *" "$xtable" alter t --drop a --set b=1
	refuses "xtable: *'q'*" "$xtable" alter t --drop q
	refuses "xtable: *'q'*" "$xtable" alter t --rename q=r
	refuses "xtable: t: 'a' does not rename a column: *" "$xtable" alter t --rename a
	refuses "xtable: t: 'a=' does not rename a column: *" "$xtable" alter t --rename a=
	refuses "xtable: t: column 'a' is renamed twice" "$xtable" alter t --rename a=x --rename a=y
	refuses "xtable: t: two columns would have the name 'b'" "$xtable" alter t --rename a=b
	refuses "xtable: t: two columns would have the name 'a'" "$xtable" alter t --add a:i8
	refuses "xtable: t: no column would be left" "$xtable" alter t --drop a,b,c,d
	refuses "xtable: t: column 'a' is dropped, and renamed or given another type" "$xtable" alter t --drop a --types a:i64
	refuses "xtable: t: record 128: column 'a': '128' is not exactly a value of i8" "$xtable" alter t --types a:i8
	refuses "xtable: t: column 'n' is not null: *" "$xtable" alter t --add 'n:i8 not null'
	refuses "xtable: *column n has type i8: '300' is out of its range*" "$xtable" alter t --add n:i8 --set n=300
	refuses "xtable: t: column 'n': a record does not fit a cell of 4096 bytes: *" "$xtable" alter t --add 'n:char(5000)'
	many=$(seq -s , -f 'n%.0f:i8' 500)
	refuses "xtable: t: its superblock has no space for 504 columns: *" "$xtable" alter t --add "$many"
	cmp t before
	loads --records-per-page=100
	refuses "xtable: t: one column group would be left, with A-pages of 100 records: *" "$xtable" alter t --drop a,b,c
	gives in.csv
}

@test "a table along tracks has its columns renamed only" {
	loads --placement=semiseq --volume=sim:tiny --cell=512
	refuses "xtable: t: its cells lie along tracks or on a sled, *" "$xtable" alter t --add n:i8
	"$xtable" alter t --rename a=x
	sed '1s/a/x/' in.csv >right
	gives right
	"$xtable" create u --no-data --volume=sim:tiny --records=10 --schema=<(echo 'a i32')
	refuses "xtable: u: the table has no data: *" "$xtable" alter u --rename a=b
}

@test "after random alterations a table has the records of lists in memory" {
	needs python3
	XTABLE=$xtable python3 "$BATS_TEST_DIRNAME/xtable_alter.py" "${SEED:-1}" "${SP_TABLE_HISTORIES:-12}"
}
