#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"

@test "--help and --version are answered on standard output" {
	run -0 --separate-stderr "$xgen" --help
	[[ $output == *--bytes=SIZE* && -z $stderr ]]
	run -0 "$xgen" --usage
	run -0 "$xgen" --version
	[[ $output == "xgen (Spindle) "* ]]
}

@test "the same seed gives the same bytes, another seed others" {
	"$xgen" lines -n 1000 > a
	"$xgen" lines -n 1000 --seed=1 > b
	"$xgen" lines -n 1000 --seed=2 > c
	cmp a b
	run -1 cmp -s a c
}

@test "a smaller amount is the beginning of a larger one" {
	"$xgen" records -n 30000 > long
	"$xgen" records -n 1000 | cmp -n 100000 - long
	[ "$(stat -c %s long)" = 3000000 ]
}

@test "--bytes ends with the record that reaches it" {
	[ "$("$xgen" records --bytes 1K | wc -c)" = 1100 ]
	[ "$("$xgen" records --bytes 1000b --binary | wc -c)" = 1000 ]
	run -0 "$xgen" lines --bytes 10
	[ "${#lines[@]}" = 1 ]
}

@test "nothing is asked for, nothing comes" {
	[ "$("$xgen" lines -n 0 | wc -c)" = 0 ]
	[ "$("$xgen" records --bytes 0 | wc -c)" = 0 ]
}

@test "sorted and reverse agree with sort in the C locale" {
	for kind in lines "lines --words=1" "lines --words=2" records; do
		# shellcheck disable=SC2086
		"$xgen" $kind -n 20000 --order sorted | LC_ALL=C sort -c
		# shellcheck disable=SC2086
		"$xgen" $kind -n 20000 --order reverse | LC_ALL=C sort -rc
	done
}

@test "few keys are few" {
	[ "$("$xgen" lines -n 5000 --order few --distinct 7 | sort -u | wc -l)" = 7 ]
}

@test "one-word lines are words of letters" {
	run -1 grep -vE '^[A-Za-z]{2,26}$' <("$xgen" lines -n 5000 --words=1)
}

@test "runs with alpha 0 and --sorted are sorted as a whole" {
	"$xgen" runs -n 10001 --runs 7 --alpha 0 --sorted | cut -c1-10 | LC_ALL=C sort -c
}

@test "a table's rows are the same shuffled" {
	"$xgen" lineitem --scale 0.003 > a
	"$xgen" lineitem --scale 0.003 --shuffle > b
	run -1 cmp -s a b
	cmp <(sort a) <(sort b)
}

@test "r: 15 numbers in each record, the same as text and binary" {
	"$xgen" r -n 1000 > text
	run -1 grep -vE '^(([0-9.e-]+)\|){15}$' text
	"$xgen" r -n 1000 --binary > binary
	[ "$(stat -c %s binary)" = 120000 ]
	cmp <(od -An -v -w8 --endian=little -t f8 binary | awk '{ printf "%.15f\n", $1 }') \
		<(tr -d '\n' < text | tr '|' '\n' | awk '{ printf "%.15f\n", $1 }')
	"$xgen" r -n 10 --binary | cmp -n 1200 - binary
	[ "$("$xgen" r --bytes=1000b --binary | wc -c)" = 1080 ]
	run -1 cmp -s binary <("$xgen" r -n 1000 --binary --seed=2)
}

@test "every order has a customer, every line an order" {
	"$xgen" customer --scale 0.005 | cut -d'|' -f1 | sort > customers
	"$xgen" orders --scale 0.005 > orders
	cut -d'|' -f2 orders | sort -u | comm -23 - customers > none
	"$xgen" lineitem --scale 0.005 | cut -d'|' -f1 | sort -u > lines
	cut -d'|' -f1 orders | sort | cmp - lines
	[ ! -s none ]
}

@test "every line's part and supplier are in partsupp" {
	"$xgen" partsupp --scale 0.005 | cut -d'|' -f1,2 | sort > pairs
	[ "$(sort -u pairs | wc -l)" = 4000 ]
	"$xgen" lineitem --scale 0.005 | cut -d'|' -f2,3 | sort -u | comm -23 - pairs > none
	[ ! -s none ]
}

@test "t1 and t2: every row of t2 has 1 to 7 rows in t1, of the record size" {
	"$xgen" t2 --scale=0.01 | cut -d'|' -f1 > owners
	cmp owners <(seq 1500)
	"$xgen" t1 --scale=0.01 --shuffle > t1
	cmp <(sort t1) <("$xgen" t1 --scale=0.01 | sort)
	cut -d'|' -f1 t1 | sort -n | uniq -c | awk '$1 > 7 { exit 1 } { print $2 }' | cmp - owners
	run -1 grep -vE '^[0-9]+(\|[0-9]+){2}\|[A-Za-z0-9_-]{88}$' t1
	run -1 grep -vE '^[0-9]+(\|[0-9]+){2}\|[A-Za-z0-9_-]{1}$' <("$xgen" t2 -n 20 --record-size=13)
	run -1 cmp -s t1 <("$xgen" t1 --scale=0.01 --shuffle --seed=2)
	[ "$("$xgen" t2 --scale=0.000001 | wc -l)" = 1 ]
}

@test "g1: the columns have as many values as groups, and lose a share of them" {
	run -0 "$xgen" g1 -n 0
	[ -z "$output" ]
	"$xgen" g1 -n 20000 --groups=40 > all
	"$xgen" g1 -n 20000 --groups=40 --missing=5 > some
	[ "$(head -n 1 some)" = id1,id2,id3,id4,id5,id6,v1,v2,v3 ]
	counts='NR > 1 { for (i = 1; i <= 9; i++) if ($i == "") none[i]++; else if (!seen[i, $i]++) n[i]++ }
		END { for (i = 1; i <= 8; i++) printf "%d ", n[i]
		print NR - 1, (none[1] > 0), none[7] + 0, none[8] + 0, none[9] + 0 }'
	[ "$(awk -F, "$counts" all)" = "40 40 500 40 40 500 5 15 20000 0 0 0 0" ]
	[ "$(awk -F, "$counts" some)" = "38 38 475 38 38 475 5 15 20000 1 1000 1000 1000" ]
	# The remaining values are those of the complete table.
	paste -d, all some | awk -F, '{ for (i = 1; i <= 9; i++) if ($(i + 9) != "" && $(i + 9) != $i) exit 1 }'
	[ "$("$xgen" g1 --bytes=1K | wc -l)" -lt 30 ]
}

@test "g1: xsort makes the ordered variant, with missing values first" {
	"$xgen" g1 -n 5000 --groups=1001 --missing=5 > g1
	LC_ALL=C "$xsort" --csv --header -k id1 -k id2 -k id3 -k id4:n -k id5:n -k id6:n g1 > ordered
	[ "$(head -n 1 ordered)" = "$(head -n 1 g1)" ]
	cmp <(tail -n +2 ordered) \
		<(tail -n +2 g1 | LC_ALL=C sort -t, -k1,1 -k2,2 -k3,3 -k4,4n -k5,5n -k6,6n)
	[[ $(sed -n 2p ordered) == ,* ]]
}

@test "-o makes the file, and leaves an old one alone until it is complete" {
	"$xgen" part --scale 0.01 -o out
	"$xgen" part --scale 0.01 | cmp - out
	chmod 640 out
	"$xgen" part -n 10 -o out
	[ "$(wc -l < out)" = 10 ]
	[ "$(stat -c %a out)" = 640 ]
	(ulimit -f 8; run -2 "$xgen" records -n 100000 -o out
		[ "$output" = "xgen: write error: File too large" ])
	[ "$(wc -l < out)" = 10 ]
	[ "$(ls)" = out ]
}

@test "-o through a symbolic link keeps the link" {
	ln -s target link
	echo old > target
	"$xgen" lines -n 3 -o link
	[ -L link ]
	[ "$(wc -l < target)" = 3 ]
}

@test "a signal removes the incomplete output file" {
	"$xgen" records --bytes 1T -o out 2> /dev/null &
	until [ -n "$(find . -name 'out.*'; find "/proc/$!/fd" -lname "$PWD/#*")" ]; do :; done
	kill -TERM $!
	status=0
	wait $! || status=$?
	[ "$status" = 143 ]
	[ -z "$(ls)" ]
}

@test "a full device is a write error" {
	[ -c /dev/full ] || skip "no /dev/full"
	run -2 --separate-stderr "$xgen" records -n 10 -o /dev/full
	[ "$stderr" = "xgen: write error: No space left on device" ]
	run -2 bash -c "'$xgen' records -n 10 > /dev/full"
}

@test "a closed standard output is a write error" {
	run -2 bash -c "'$xgen' records -n 10 >&-"
	[ "$output" = "xgen: write error: Bad file descriptor" ]
}

@test "a closed pipe ends it quietly" {
	run -0 bash -c "'$xgen' records --bytes 1T | head -c 10000000 | wc -c; exit \$((PIPESTATUS[0] - 141))"
	[ "$output" = 10000000 ]
}

@test "a file that cannot be made is named" {
	run -2 "$xgen" lines -n 1 -o no/such/dir
	[ "$output" = "xgen: no/such/dir: No such file or directory" ]
}

@test "wrong use is refused with status 2" {
	run -2 "$xgen"
	[[ $output == "xgen: missing kind of data"* ]]
	run -2 "$xgen" nonsense
	[[ $output == "xgen: invalid argument 'nonsense' for 'KIND'"*"- 'lines'"*"- 'part'"*"- 'r'"* ]]
	run -2 "$xgen" parts -n 1
	[[ $output == "xgen: the name of a kind of data cannot be abbreviated: 'partsupp'"$'\n'* ]]
	run -2 "$xgen" lines --order=best
	[[ $output == "xgen: invalid argument 'best' for '--order'"*"- 'uniform'"*"- 'nearly'"* ]]
	run -2 "$xgen" lines --bytes=4KB
	[[ $output == "xgen: invalid suffix in --bytes argument '4KB': valid sizes are such as 512b, 4K, "* ]]
	run -2 "$xgen" lines --theta=two
	[[ $output == "xgen: invalid --theta argument 'two': valid are numbers such as 8 and 0.5"* ]]
	run -2 "$xgen" lines
	[[ $output == "xgen: lines: -n or --bytes is needed"* ]]
	run -2 "$xgen" lines records -n 1
	run -2 "$xgen" lines -n 1x
	run -2 "$xgen" lines -n -1
	run -2 "$xgen" lines -n 99999999999999999999
	run -2 "$xgen" lines --bytes 1Q
	run -2 "$xgen" lines -n 1 --order sideways
	run -2 "$xgen" lines -n 1 --order zipf --theta nan
	run -2 "$xgen" runs -n 1 --alpha 1.5
	run -2 "$xgen" runs -n 1 --record-size 3
	run -2 "$xgen" t1 --record-size 12
	[ "$output" = "xgen: t1: the bytes of a record must be from 13 to 32768" ]
	run -2 "$xgen" t2 --record-size 32769
	[ "$output" = "xgen: t2: the bytes of a record must be from 13 to 32768" ]
	run -2 "$xgen" t1 --record-size 0
	run -2 "$xgen" t1 --scale 14317
	[ "$output" = "xgen: t1: the scale must be at most 14316: a1 has 4 bytes" ]
	run -2 "$xgen" t1 --binary
	run -2 "$xgen" lineitem --record-size 100
	run -2 "$xgen" part --scale 0
	run -2 "$xgen" part --binary
	[[ $output == "xgen: --binary does not apply to part"* ]]
	run -2 "$xgen" r --scale 2
	[[ $output == "xgen: --scale does not apply to r"* ]]
	run -2 "$xgen" g1 -n 99
	[ "$output" = "xgen: g1: the number of groups must be from 1 to the number of rows" ]
	run -2 "$xgen" g1 --missing 100
	[ "$output" = "xgen: g1: the percentage of missing values must be from 0 to 99" ]
	run -2 "$xgen" g1 --shuffle
	run -2 "$xgen" part --missing 5
}
