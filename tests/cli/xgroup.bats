#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xgroup: totals by key.  SP_TEST_FULL=1: 1500 random cases.
. "$BATS_TEST_DIRNAME/suite.bash"

full=${SP_TEST_FULL:-}
setup()
{
	begin_test tmp
	printf '%s\n' region,year,price,name north,2024,1.50,a south,2024,2,b 'north,2023,,"c, d"' \
		'"no ""q""",2023,1e3,x' north,2024,3.25,a >s.csv
}

@test "random records have the totals of exact fractions, in any memory and any number of threads" {
	needs python3
	python3 "$BATS_TEST_DIRNAME/xgroup_random.py" "$xgroup" $((full ? 1500 : 60)) "${SEED:-1}"
}

@test "all aggregates of a file that one can check by eye" {
	run -0 "$xgroup" --csv --header -k region --agg 'count(), count(price), sum(price), mean(price) as m, min(price),
		max(name), median(price), p25(price), var(price), stddev(price)' s.csv
	[ "${lines[0]}" = 'region,count(),count(price),sum(price),m,min(price),max(name),median(price),p25(price),var(price),stddev(price)' ]
	[ "${lines[1]}" = '"no ""q""",1,1,1000,1000,1000,x,1000,1000,,' ]
	[ "${lines[2]}" = 'north,3,2,4.75,2.375000,1.50,"c, d",2.375000,1.937500,1.53125,1.2374368670764582' ]
	[ "${lines[3]}" = 'south,1,1,2,2.000000,2,b,2,2,,' ]
	run -0 "$xgroup" --csv --header -k region --agg 'list(name), mode(name), distinct(name), first(name), last(year)' s.csv
	[ "${lines[2]}" = 'north,"a;c, d;a",a,2,a,2024' ]
	run -0 "$xgroup" --csv --header --agg 'corr(year, price), slope(year, price), r2(year, price)' s.csv
	[ "${lines[1]}" = -0.9999989117769403,-997.75,0.999997823555065 ]
}

@test "keys with letters are one group if sort would call them equal" {
	printf '%s\n' 7 007 a B b ' 7' >k
	run -0 "$xgroup" -t, -k 1n k
	[ "$output" = $'a,3\n7,3' ]
	run -0 "$xgroup" -t, -k 1f k
	[ "$output" = $' 7,1\n007,1\n7,1\na,1\nB,2' ]
	run -0 "$xgroup" -t, -k 1r k
	[ "$output" = $'b,1\na,1\nB,1\n7,1\n007,1\n 7,1' ]
}

@test "the rows in other orders" {
	run -0 "$xgroup" --csv --header -k region --agg 'sum(price) as s' --order=s:r s.csv
	[ "$output" = $'region,s\n"no ""q""",1000\nnorth,4.75\nsouth,2' ]
	run -0 "$xgroup" --csv --header -k region --agg 'sum(price) as s' --order=s --limit=1 s.csv
	[ "$output" = $'region,s\nsouth,2' ]
	run -0 "$xgroup" --csv --header -k region --order=first s.csv
	[ "$output" = $'region,count()\nnorth,3\nsouth,1\n"no ""q""",1' ]
	seq 3000 | "$xgroup" -k 1 -S 1b --order=first | cut -d' ' -f1 | cmp - <(seq 3000)
	seq 3000 | "$xgroup" -k 1 -S 1b --order=1:r | cut -d' ' -f1 | cmp - <(seq 3000 -1 1)
	# --limit counts rows, not the header.
	run -0 "$xgroup" --csv --header -k region --limit=0 s.csv
	[ "$output" = "region,count()" ]
}

@test "inputs without records, lines without fields, odd ends" {
	run -0 "$xgroup" -k 1 /dev/null
	[ -z "$output" ]
	run -0 "$xgroup" --agg 'count(), sum(1), list(1)' /dev/null
	[ "$output" = "0 - -" ]
	run -0 "$xgroup" --csv --header -k any --agg 'sum(thing)' /dev/null
	[ "$output" = "any,sum(thing)" ]
	run -0 "$xgroup" --csv --header -k region <(head -n 1 s.csv)
	[ "$output" = "region,count()" ]
	# a missing field is an empty one; a last line without its end is a line
	printf 'a 1\nb\na 2' >r
	run -0 "$xgroup" -k 1 --agg 'sum(2), count(2)' r
	[ "$output" = $'a 3 2\nb - 0' ]
	printf 'a\r\na,1\r\n"a\r\n' >cr
	printf 'k,v\r\na,1\r\nb,2\r\na,3\r\n' >crlf
	run -0 "$xgroup" --csv --header -k k --agg 'sum(v)' crlf
	[ "$output" = $'k,sum(v)\na,4\nb,2' ]
	printf 'a\0b\0a\0' | "$xgroup" -z -k 1 | tr '\0' '\n' | cmp - <(printf 'a 2\nb 1\n')
	# a column that is alone and empty is not an empty line
	printf '""\nx\n' | "$xgroup" --csv --agg 'min(2)' | cmp - <(echo '""')
}

@test "a result in lines has as many fields in each line" {
	printf 'a 1\nb\na 2\n' >r
	run -0 "$xgroup" -k 1 --agg 'sum(2), list(2)' r
	[ "$output" = $'a 3 1;2\nb - -' ]
	run -0 "$xgroup" -k 1 --agg 'sum(2)' --null=NA r
	[ "$output" = $'a 3\nb NA' ]
	run -0 "$xgroup" -t, -k 1 --agg 'sum(2)' <(tr ' ' , <r)
	[ "$output" = $'a,3\nb,' ]
	run -0 "$xgroup" -t';' -k 1 --agg 'list(2)' <(tr ' ' ';' <r)
	[ "$output" = $'a;1,2\nb;' ]
	printf 'k v w\na 1 2\na 2 4\n' >named
	fails_with "xgroup: the name 'corr(v, w)' has a separator of fields in it: add 'as NAME' to that function" \
		"$xgroup" --header -k k --agg 'corr(v, w)' named
	run -0 "$xgroup" --header -k k --agg 'corr(v,w)' named
	[ "$output" = $'k corr(v,w)\na 1' ]
	run -0 "$xgroup" --header -k k --agg 'corr(v, w) as c' named
	[ "$output" = $'k c\na 1' ]
	run -2 "$xgroup" -t, --header -k k --agg 'corr(v,w)' <(tr ' ' , <named)
	run -0 "$xgroup" -t: --header -k k --agg 'corr(v, w)' <(tr ' ' : <named)
	[ "${lines[0]}" = 'k:corr(v, w)' ]
}

@test "wrong keys, aggregates, orders and values are refused with the reason" {
	fails_with "xgroup: no column has the name 'regon'; the nearest one is 'region'" \
		"$xgroup" --csv --header -k regon s.csv
	fails_with "xgroup: 'region': to name columns, add --header" "$xgroup" --csv -k region s.csv
	fails_with "xgroup: the header has only 4 columns '5'" "$xgroup" --csv --header -k 5 s.csv
	fails_with "xgroup: columns count from 1 '0'" "$xgroup" -k 0 s.csv
	fails_with "xgroup: a key is one column, as in 3, 3n, name or name:nr '1,2'" "$xgroup" -k 1,2 s.csv
	fails_with "xgroup: ')' is expected" "$xgroup" --agg 'sum(1' s.csv
	fails_with "xgroup: ',' is expected between functions 'count()'" "$xgroup" --agg 'count() count()' s.csv
	fails_with "xgroup: a column is expected between '(' and ')'" "$xgroup" --agg 'sum()' s.csv
	fails_with "xgroup: corr, slope and r2 need two columns: corr(x, y)" "$xgroup" --agg 'corr(1)' s.csv
	fails_with "xgroup: the result has no column 'count'; the nearest one is 'count()'" \
		"$xgroup" -k 1 --order=count:r s.csv
	run -2 "$xgroup" --agg 'p101(1)' s.csv
	[[ $output == "xgroup: there is no function 'p101'"* ]]
	for threads in $(few 1 2 8); do
		fails_with "xgroup: s.csv: line 3: sum(name): 'b' is not a number; --null=TEXT names a text that stands for no value, --skip-invalid leaves such records out" \
			"$xgroup" --csv --header --parallel=$threads --null=a --agg 'sum(name)' s.csv
	done
	run -2 "$xgroup" --csv --header --agg 'sum(name)' -o out s.csv
	[ ! -e out ]
	fails_with "xgroup: -t 'ab': a separator is one byte" "$xgroup" -t ab s.csv
}

@test "values that are not numbers can be left out" {
	run -0 --separate-stderr "$xgroup" --csv --header --skip-invalid --agg 'count(), sum(name)' s.csv
	[ "$output" = $'count(),sum(name)\n0,' ]
	# shellcheck disable=SC2154 # run sets it
	[ "$stderr" = "xgroup: 5 records left out: a value is not a number or a date" ]
	run -0 "$xgroup" --csv --header --null=a --agg 'count(name), distinct(name)' s.csv
	[ "$output" = $'count(name),distinct(name)\n3,3' ]
}

@test "the input can be the output, compressed, a pipe, or several files" {
	needs gzip
	"$xgroup" --csv --header -k region s.csv >want
	gzip -k s.csv
	"$xgroup" --csv --header -k region --decompress s.csv.gz | cmp - want
	"$xgroup" --csv --header -k region <s.csv | cmp - want
	"$xgroup" --csv --header -k region --agg 'count() as n' s.csv s.csv - <s.csv >three
	[ "$(tail -n 1 three)" = south,3 ]
	"$xgroup" --csv --header -k region -o s.csv s.csv
	cmp s.csv want
	"$xgroup" --csv --header -k region --compress-output=gzip -o o.gz want
	gzip -t o.gz
}

@test "more groups than memory: sorted runs, and the numbers of uniq -c" {
	# 200,000 keys, each one to three times
	{ seq 200000; seq 2 2 200000; seq 3 3 200000; } | sort -R --random-source=/dev/zero >many
	sort many | uniq -c | awk '{ print $2, $1 }' >want
	for threads in $(few 1 2 3 8); do
		"$xgroup" -k 1 -S 2M --parallel=$threads --stats=r.json many | cmp - want
		[ "$(value spilled_runs)" -gt 0 ]
		[ "$(value tables_emptied)" -gt 0 ]
		[ "$(value groups) $(value records)" = "200000 366666" ]
		# A sanitizer needs memory of its own.
		[ -n "${SP_TEST_VARIANT:-}" ] || [ "$(value peak_bytes)" -le $((18 << 20)) ]
	done
	"$xgroup" -k 1 -S 2M <many | cmp - want
	[ -z "$(ls tmp)" ]
}

@test "tables that are full before the end, and a sort that needs no runs" {
	seq 60000 | awk '{ print $1 * 7919 % 997, $1 % 100 / 4, $1 * 31 % 10007 }' >n
	"$xgroup" -k 1 --parallel=1 --agg 'count(), sum(2), median(3)' n >want
	cut -d' ' -f1,2 want | cmp - <(cut -d' ' -f1 n | LC_ALL=C sort | uniq -c | awk '{ print $2, $1 }')
	for memory in 16M 32M 64M 128M; do
		for threads in $(few 2 4 8); do
			"$xgroup" -k 1 -S $memory --parallel=$threads --agg 'count(), sum(2), median(3)' n | cmp - want
		done
	done
}

@test "a text that looks like records, so that cuts are wrong" {
	{ printf 'k,v\na,1\nb,"'; yes 'no,number' | head -n 200000; printf '"\na,2\n'; } >odd
	for threads in $(few 1 2 8); do
		for memory in 1M 64M; do
			"$xgroup" --csv --header -k k -S $memory --parallel=$threads --agg 'count(), min(v)' odd | cut -c1-9 >got
			[ "$(head -n 2 got)" = $'k,count()\na,2,1' ]
			run -2 "$xgroup" --csv --header -k k -S $memory --parallel=$threads --agg 'sum(v)' odd
			[[ $output == *"line 3: sum(v): 'no,number"* ]]
			"$xgroup" --csv --header -k k -S $memory --parallel=$threads --skip-invalid --agg 'sum(v)' odd 2>err |
				cmp - <(printf 'k,sum(v)\na,3\n')
			[ "$(wc -l <err)" -eq 1 ]
		done
	done
	# numbers inside the text are none
	{ printf 'k,n,v\na,1,x\nb,2,"'; yes 'no,number,x' | head -n 200000; printf '"\na,2,y\n'; } >odd
	for threads in $(few 1 2 8); do
		"$xgroup" --csv --header -k k -S 4M --parallel=$threads --agg 'sum(n)' odd | cmp - <(printf 'k,sum(n)\na,3\nb,2\n')
	done
}

@test "one key with nearly all records, long keys, and keys of any bytes" {
	{ yes x | head -n 50000; seq 1000; } | "$xgroup" -k 1 -S 1M --parallel=2 >got
	[ "$(tail -n 1 got) $(wc -l <got)" = "x 50000 1001" ]
	# keys of 1 MB
	for i in 1 2; do head -c 1000000 /dev/zero | tr '\0' k; echo "$i"; done >long
	cat long long | "$xgroup" -t, -k 1 -S 1M --agg 'count(), list(1), max(1)' >got
	[ "$(wc -c <got)" -eq $((2 * (1000001 * 4 + 6))) ]
	# all bytes but the separator and the line's end
	printf '\1\2\3\0\377 5\n\1\2\3 5\n\1 5\n\2 5\n' >bytes
	"$xgroup" -k 1 --agg 'sum(2), mode(1), max(1)' bytes >got
	printf '\1 5 \1 \1\n\1\2\3 5 \1\2\3 \1\2\3\n\1\2\3\0\377 5 \1\2\3\0\377 \1\2\3\0\377\n\2 5 \2 \2\n' | cmp - got
}

@test "a report, a trace, a simulated machine" {
	needs jq
	"$xgroup" --csv --header -k region --stats=r.json s.csv >/dev/null
	jq -e '.schema == "spindle.group/1" and .result.groups == 3 and .result.records == 5 and .result.output_records == 3' r.json
	seq 100000 >n
	"$xgroup" -k 1 -S 1M --volume=sim:cheetah36es-like --stats=r1.json n >a
	"$xgroup" -k 1 -S 1M --volume=sim:cheetah36es-like --stats=r2.json n >b
	cmp a b
	[ "$(value elapsed_s r1.json)" = "$(value elapsed_s r2.json)" ]
	[ "$(jq -c .phases r1.json)" = "$(jq -c .phases r2.json)" ]
	jq -e '[.phases[].elapsed_s] | length == 2 and min > 0 and (add - $s | fabs < 1e-6)' \
		--argjson s "$(jq .result.elapsed_s r1.json)" r1.json
	[ "$(wc -l <a)" -eq 100000 ]
}

@test "no output that looks whole: a full disk, a closed pipe, a signal" {
	seq 300000 >n
	run -2 bash -c "'$xgroup' -k 1 n >/dev/full"
	[[ $output == *"No space left"* ]]
	run -2 "$xgroup" -k 1 -o /dev/full n
	[[ $output == *"No space left"* ]]
	run bash -c "'$xgroup' -k 1 n | head -n 1"
	[ "$output" = "1 1" ]
	run timeout -s INT 0.05 "$xgroup" -k 1 -S 1M --parallel=2 -o out n
	[ ! -e out ] || [ "$(wc -l <out)" -eq 300000 ]
	[ -z "$(ls tmp)" ]
}
