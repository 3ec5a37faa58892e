#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xgroup --format=table: a table that has the values of the rows.
# shellcheck disable=SC2154 # run sets output and stderr
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test tmp
	printf '%s\n' city,price,day x,2.50,2026-01-02 y,3,2026-02-01 x,,2026-01-01 '"a, ""b""",1e3,' >in.csv
}

@test "values are those of the rows, NULL has no value, and types are numbers and dates" {
	"$xgroup" --csv --header -k city -a 'count() as n, sum(price) as s, mean(price) as m, min(day) as d' --format=table -o t in.csv
	[ "$("$xtable" scan t --format=csv)" = $'city,n,s,m,d\n"a, ""b""",1,1000,1000,\nx,2,2.5,2.5,2026-01-01\ny,1,3,3,2026-02-01' ]
	[ "$("$xtable" scan t --where "s > 2.7 and d > '2026-01-05'" --columns city | tail -n 1)" = y ]
	[ "$("$xtable" scan t --where 'd is null' --columns n | tail -n 1)" = 1 ]
	[ -z "$(ls tmp)" ]
}

@test "no digit is lost: a sum that no number of a table has is a text" {
	printf '%s\n' k,v a,12345678901234567.89 b,2.5 c,0.1234567890123 d, >in
	"$xgroup" --csv --header -k k -a 'sum(v)' in >rows
	"$xgroup" --csv --header -k k -a 'sum(v)' --format=table -o t in
	"$xtable" scan t --format=csv | cmp - rows
}

@test "many groups, little memory, any number of threads, from a file, a pipe, a table and JSON" {
	seq 200000 | awk 'BEGIN { print "k,v" } { print ($1 * 7919) % 50021 "," $1 % 1000 }' >many
	"$xgroup" --csv --header -k k -a 'sum(v), max(v)' many >rows
	for threads in $(few 1 2 8); do
		"$xgroup" --csv --header -k k -a 'sum(v), max(v)' -S 1M -T tmp --parallel="$threads" --format=table -o t many
		"$xtable" scan t --format=csv | cmp - rows
	done
	cat many | "$xgroup" --csv --header -k k -a 'sum(v), max(v)' --format=table -o t
	"$xtable" scan t --format=csv | cmp - rows
	"$xtable" load --csv --header source many
	"$xgroup" source -k k -a 'sum(v), max(v)' --format=table -o t
	"$xtable" scan t --format=csv | cmp - rows
	"$xgroup" t -k 'k%2' --format=table -o t
	[ "$("$xtable" scan t --columns 'count()')" = $'count()\n25011\n25010' ]
	"$xtable" scan source --format=json >lines
	"$xgroup" --json -k .k -a 'sum(.v)' --format=csv lines | sed 1d >rows
	"$xgroup" --json -k .k -a 'sum(.v)' --format=table -o t lines
	"$xtable" scan t --format=csv | sed 1d | cmp - rows
}

@test "no groups: a table without records" {
	"$xgroup" --csv --header -k city --where 'price > 5000' --format=table -o t in.csv
	[ "$("$xtable" scan t --format=csv)" = 'city,count()' ]
}

@test "an error leaves the file that is there" {
	"$xgroup" --csv --header -k city --format=table -o t in.csv
	cp t kept
	{ cat in.csv && echo 'z,word,'; } >bad
	run -2 "$xgroup" --csv --header -k city -a 'sum(price)' --format=table -o t bad
	[[ $output == *"line 6: sum(price): 'word'"* ]]
	cmp t kept
	run -2 "$xgroup" --csv --header -k city -a "count() as \"$(printf '%0300d' 1)\"" --format=table -o t in.csv
	[[ $output == "xgroup: t: "* ]]
	cmp t kept
	run bash -c "trap '' XFSZ; ulimit -f 1; seq 100000 | '$xgroup' --csv --header -k 1 --format=table -o t -T tmp"
	[ "$status" = 2 ]
	cmp t kept
	[ -z "$(ls tmp)" ]
}

@test "what cannot be a table is refused with the next step" {
	fails_with 'xgroup: --format=table needs -o: a table is a file' "$xgroup" --csv --header --format=table in.csv
	fails_with 'xgroup: --format=table needs names of columns: add --header' "$xgroup" --csv --format=table -o u in.csv
	fails_with 'xgroup: --format=table needs records whose rows can be CSV: --csv and --header, --json, --record-size or a table' \
		"$xgroup" -t, --header -k 1 --format=table -o u in.csv
	fails_with "xgroup: options '--largest' and '--format=table' are incompatible" \
		"$xgroup" --csv --header --largest=1 --format=table -o u in.csv
	fails_with "xgroup: options '--compress-output' and '--format=table' are incompatible" \
		"$xgroup" --csv --header --compress-output=gzip --format=table -o u in.csv
	run -2 "$xgroup" --csv --header --format=table -o /dev/null in.csv
	[[ $output == 'xgroup: /dev/null: '* ]]
	[ ! -e u ]
}
