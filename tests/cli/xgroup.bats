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

@test "a sum of exact and other numbers is rounded once" {
	printf '9007199254740993\n0.0000000001\n' >in
	[ "$("$xgroup" -a 'sum(1)' in)" = 9007199254740994 ]
	[ "$("$xgroup" -k 1 -a 'sum(1)' --cumulative in | tail -n 1)" = '9007199254740993 9007199254740993 9007199254740994' ]
}

@test "deviations of numbers whose squares are too small for f64" {
	for memory in 64K 1G; do
		printf '%s\n' 1e-200 3e-200 >in
		[ "$("$xgroup" -S $memory -a 'var(1), stddev(1)' in)" = '0 1.4142135623730953e-200' ]
		printf '%s\n' 1e-160 -3e-160 0 >in
		[ "$("$xgroup" -S $memory -a 'stddev(1)' in)" = 2.0816659994661327e-160 ]
		printf '%s\n' 1e-200 3e-200 0.5 0.5 >in
		[ "$("$xgroup" -S $memory -a 'var(1)' in)" = 0.08333333333333333 ]
		printf '%s\n' 1e-200 3e-200 5e300 >in
		[ "$("$xgroup" -S $memory -a 'stddev(1)' in)" = 2.886751345948129e+300 ]
	done
	# Partial totals of many groups.
	awk 'BEGIN { for (i = 0; i < 60000; i++) printf "%d %de-200\n", i % 10000, i < 30000 ? 1 : 3 }' >in
	for threads in 1 3; do
		[ "$("$xgroup" -S 64K --parallel=$threads -k 1 -a 'stddev(2)' in | cut -d' ' -f2 | sort -u)" = 1.0954451150103321e-200 ]
	done
}

@test "deviations of numbers whose squares are too large for f64" {
	for memory in 1M 1G; do
		printf '%s\n' 1e200 2e200 4e200 7 >in
		[ "$("$xgroup" -S $memory -a 'var(1), stddev(1)' in)" = 'inf 1.707825127659933e+200' ]
		printf '%s\n' 1e308 1.5e308 1e308 -1.7e308 >in
		[ "$("$xgroup" -S $memory -a 'stddev(1)' in)" = 1.4525839046333951e+308 ]
		printf '%s\n' 1e120 1e120 -1e120 0.5 1e-12 >in
		[ "$("$xgroup" -S $memory -a 'var(1)' in)" = 6.999999999999999e+239 ]
	done
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
	# one carriage return belongs to the end of a record
	printf 'a,1\r\n\r\r\n\r\r\n' | "$xgroup" --csv -k 1 | cmp - <(printf '"\r",2\na,1\n')
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

@test "records and rows for which a condition is true" {
	run -0 "$xgroup" --csv --header -k region --where 'price < 3' --agg 'count(), sum(price)' s.csv
	[ "$output" = $'region,count(),sum(price)\nnorth,1,1.50\nsouth,1,2' ]
	# no value is not true
	run -0 "$xgroup" --csv --header --where 'not price < 3' s.csv
	[ "$output" = $'count()\n2' ]
	run -0 "$xgroup" --csv --header --where "price is null and name like '%, d'" s.csv
	[ "$output" = $'count()\n1' ]
	run -0 "$xgroup" --csv --header -k region --where "region in ('south', 'no \"q\"') or year = 2023" s.csv
	[ "$output" = $'region,count()\n"no ""q""",1\nnorth,1\nsouth,1' ]
	run -0 "$xgroup" --csv --header -k region --agg 'count(), sum(price) as s' --having '"count()" > 1 or s = 2' s.csv
	[ "$output" = $'region,count(),s\nnorth,3,4.75\nsouth,1,2' ]
	run -0 "$xgroup" --csv --header -k region --agg 'sum( price )' --having 'sum( price ) between 4 and 5' s.csv
	[ "$output" = $'region,sum( price )\nnorth,4.75' ]
	run -0 "$xgroup" --csv --header -k region --agg 'p99.9(price)' --having 'round(p99.9(price)) = 2 and $1 like $1' s.csv
	[ "${lines[1]} ${#lines[@]}" = "south,2 2" ]
	# conditions, then --order and --limit
	run -0 "$xgroup" --csv --header -k region --having 'count() > 0 and region != '"'south'" --order=region:r --limit=1 s.csv
	[ "$output" = $'region,count()\nnorth,3' ]
	# without a key there is one row, unless the condition is not true
	run -0 "$xgroup" --agg 'count(), sum($1 * 2)' --where '$1 > 5' /dev/null
	[ "$output" = "0 -" ]
	run -0 "$xgroup" --agg 'count()' --having '$1 > 0' /dev/null
	[ -z "$output" ]
	# columns that a line does not have
	run -0 "$xgroup" -t, -k 4000000000 --where '$9 is null' s.csv
	[ "$output" = ",6" ]
}

@test "expressions as keys and as arguments of aggregates" {
	printf '%s\n' day,item,price,qty 2024-05-31,a,1.50,2 2024-06-01,b,2,3 '2024-05-02 10:00,a,,1' 2024-06-30,c,0.10,5 >o.csv
	run -0 "$xgroup" --csv --header -k 'substr(day,1,7)' --agg 'sum(price*qty)' o.csv
	[ "$output" = $'"substr(day,1,7)",sum(price*qty)\n2024-05,3.00\n2024-06,6.50' ]
	run -0 "$xgroup" --csv --header -k 'substr(day,1,7)' --having "substr(day,1,7) > '2024-05' and count() = 2" o.csv
	[ "${lines[1]} ${#lines[@]}" = "2024-06,2 2" ]
	run -0 "$xgroup" --csv --header -k 'month(day) as m:nr' -k 'price > 1 as dear' --agg 'count() as n' --order=m o.csv
	[ "$output" = $'m,dear,n\n5,,1\n5,true,1\n6,false,1\n6,true,1' ]
	run -0 "$xgroup" -t, -k 'floor($4 / 2) * 2:n' --where '$1 != '"'day'" --agg "max(\$3), distinct(if(\$3 > 1, \$2))" o.csv
	[ "$output" = $'0,,0\n2,2,2\n4,0.10,0' ]
	run -0 "$xgroup" --csv --header --agg 'corr(price * 2, qty + 1) as c, mean(if(qty > 2, 1, 0)), count(if(qty > 2, 1))' o.csv
	[ "${lines[1]}" = "$("$xgroup" --csv --header --agg 'corr(price, qty)' o.csv | tail -n 1),0.500000,2" ]
	# a column's name is preferred to an expression
	run -0 "$xgroup" --csv --header --agg 'sum(a-b), sum("a-b" * 2), sum(a - b)' <(printf 'a-b,a,b\n1,20,3\n')
	[ "${lines[1]}" = 1,2,17 ]
	run -0 "$xgroup" --csv --header --agg 'sum(-"a-b") as x, sum(-(a + b)) as y, max(- a) as z' <(printf 'a-b,a,b\n1,20,3\n')
	[ "${lines[1]}" = -1,-23,-20 ]
	run -0 "$xgroup" --header -t: -k 'upper(k) as K' <(printf 'k\nx\nX\n')
	[ "$output" = $'K:count()\nX:2' ]
	# lines that end with NUL; fields with newlines
	printf 'a 1\0b\n2\0a 5\0' | "$xgroup" -z -k 'upper($1)' --where '$2 < 5' | tr '\0' '\n' | cmp - <(printf 'A 1\nB 1\n')
	# an input without a header line has every column
	run -0 "$xgroup" --csv --header -k 'unit price' -k 'day as d' --agg 'sum(price * qty), max(a b)' --where 'x > 1' /dev/null
	[ "$output" = 'unit price,d,sum(price * qty),max(a b)' ]
}

@test "a text without a value is one of fields, not one of calculated values and counts" {
	printf '%s\n' k,v a,1.5 a,2 b,0 0,7 >z.csv
	run -0 "$xgroup" --csv --header --null=0 -k k --agg 'count(v), sum(v * 0), count(v - v)' --having 'count(v) >= 0' z.csv
	[ "$output" = $'k,count(v),sum(v * 0),count(v - v)\n0,1,0,1\na,2,0.0,2\nb,0,,0' ]
	run -0 "$xgroup" --csv --header --null=0 -k k --having 'k is null' z.csv
	[ "$output" = $'k,count()\n0,1' ]
	run -0 "$xgroup" --csv --header --null=0 -k 'k || '"''"' as j' --having 'j is null' --where 'v is null' z.csv
	[ "$output" = "j,count()" ]
}

@test "conditions and expressions in any number of threads, from a pipe, with values that are left out" {
	needs jq
	seq 60000 | awk '{ print $1 * 7919 % 997 "," ($1 % 1000 ? $1 % 100 / 4 : "x") ",k" $1 % 37 }' >n
	args=('-t,' -k 'upper($3)' -k 'floor($1 / 100) * 100:n' --where '$1 % 2 = 1 and $3 not in ('"'k3', 'k5'"')'
		--agg 'count(), sum($2 * 2 + 1), median(round($2)), list(if($1 < 3, $3 || $2))'
		--having '$3 > 40 and $1 != '"'K7'" --skip-invalid)
	awk -F, '$1 % 2 && $3 != "k3" && $3 != "k5" && $2 != "x" { k = toupper($3) "," int($1 / 100) * 100; n[k]++; s[k] += $2 * 2 + 1 }
		END { for (k in n) if (n[k] > 40 && k !~ /^K7,/) print k "," n[k] "," s[k] }' n | LC_ALL=C sort -t, -k1,1 -k2,2n >want
	for threads in $(few 1 2 3 8); do
		for memory in 1M 64M; do
			"$xgroup" "${args[@]}" -S $memory --parallel=$threads --stats=r.json n >got 2>err
			cmp err <(echo "xgroup: 28 records left out: a value is not a number or a date")
			[ "$(value records) $(value skipped) $(value filtered)" = "60000 28 31650" ]
			[ -e first ] || cp got first
			cmp got first
			"$xgroup" "${args[@]}" -S $memory <n 2>/dev/null | cmp - first
		done
	done
	awk -F, '{ printf "%s,%s,%s,%g\n", $1, $2, $3, $4 }' first | cmp - want
}

@test "wrong conditions and expressions are refused with the reason" {
	fails_with "xgroup: no column has the name 'prise'; the nearest one is 'price'" \
		"$xgroup" --csv --header --where 'prise > 3' s.csv
	fails_with "xgroup: 'price': to name columns, add --header" "$xgroup" --csv --where 'price > 3' s.csv
	fails_with "xgroup: there is no column \$5 in the header" "$xgroup" --csv --header --where '$5 > 3' s.csv
	fails_with "xgroup: --where needs a condition, such as x > 3, not 'price'" "$xgroup" --csv --header --where price s.csv
	fails_with "xgroup: 'and', 'or' or the end of --where is expected instead of '&& year > 3'" \
		"$xgroup" --csv --header --where 'price > 1 && year > 3' s.csv
	fails_with "xgroup: --having needs a condition, such as x > 3, not 'count()'" "$xgroup" --csv --header --having 'count()' s.csv
	fails_with "xgroup: the result has no column 'sum(prise)'; the nearest one is 'sum(price)'" \
		"$xgroup" --csv --header --agg 'sum(price)' --having 'sum(prise) > 3' s.csv
	fails_with "xgroup: the result has no column 'region'" "$xgroup" --csv --header --having "region = 'x'" s.csv
	fails_with "xgroup: there is no function 'lenght' (the nearest is 'length') in expressions: 'lenght(name) > 1'" \
		"$xgroup" --csv --header --where 'lenght(name) > 1' s.csv
	fails_with "xgroup: in an expression a column's number has a '\$', as in \$3 * \$4, '3*4)'" "$xgroup" --agg 'sum(3*4)' s.csv
	fails_with "xgroup: a condition is not a number: write if(CONDITION, 1, 0) instead of it at 'price > 1)'" \
		"$xgroup" --csv --header --agg 'sum(price > 1)' s.csv
	fails_with "xgroup: ':' and letters, 'as NAME' or the end of a key is expected instead of 'r'" \
		"$xgroup" --csv --header -k 'price r' s.csv
	fails_with "xgroup: several columns have the name 'a': use a number" "$xgroup" --csv --header --where 'a > 1' <(echo a,a)
	fails_with "xgroup: the name 'substr(k,1)' has a separator of fields in it: add 'as NAME' to that key" \
		"$xgroup" --header -t, -k 'substr(k,1)' <(echo k)
	for threads in $(few 1 2 8); do
		fails_with "xgroup: s.csv: line 2: --where: 'a' is not a number; --null=TEXT names a text that stands for no value, --skip-invalid leaves such records out" \
			"$xgroup" --csv --header --parallel=$threads --where 'name > 1' s.csv
		fails_with "xgroup: s.csv: line 2: month(name): 'a' is not a date, such as 2024-05-31 or 2024-05-31 12:30:00; --null=TEXT names a text that stands for no value, --skip-invalid leaves such records out" \
			"$xgroup" --csv --header --parallel=$threads -k 'month(name)' s.csv
	done
	# --where comes first
	run -0 "$xgroup" --csv --header --where "name in ('1', 'zz')" --agg 'sum(name * 2)' s.csv
	fails_with "xgroup: --having: 'no \"q\"' of the row '\"no \"\"q\"\"\",1' is not a number; values in single quotes are compared as texts" \
		"$xgroup" --csv --header -k region --having 'region > 3' -o out s.csv
	[ ! -e out ]
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

@test "copies of long records are freed when they are not needed" {
	local threads

	[ -z "${SP_TEST_VARIANT:-}" ] || skip 'a sanitizer needs memory of its own'
	awk 'BEGIN { t = "x"; while (length(t) < 6e6) t = t t
		print "k,v,t"; for (i = 0; i < 16; i++) print i % 3 "," i "," t }' >long.csv
	# peak LIMIT ARGUMENT...
	peak()
	{
		"$xgroup" --csv --header -S 40M --parallel="$threads" --stats=r.json -o out "${@:2}" long.csv
		[ "$(value peak_bytes)" -le "$1" ]
	}
	for threads in $(few 1 3 8); do
		peak 62000000 -k k --largest=1 -k v:nr
		[ "$(cut -c1-5 out)" = $'k,v,t\n0,15,\n1,13,\n2,14,' ]
		peak 62000000 -k t -a 'sum(v)'
		[ "$(tail -c 5 out)" = ,120 ]
		peak 76000000 -k k -a 'max(t)'
		[ "$(wc -c <out)" -eq $((3 * 8388611 + 9)) ]
	done
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

@test "values that come once do not go through the table, until they repeat" {
	{ seq 1060000; yes 7 | head -n 500000; } >n
	for threads in $(few 1 2); do
		for memory in $(fewer '2M 256M' 256M); do
			run -0 "$xgroup" -S $memory --parallel=$threads --stats=r.json --agg 'median(1), distinct(1), mode(1)' n
			[ "$output" = '280000.500000 1060000 7' ]
		done
	done
	run -0 "$xgroup" --parallel=1 --stats=r.json --agg 'median(1), distinct(1), mode(1)' n
	[ "$output" = '280000.500000 1060000 7' ]
	# two lists, each without the table for 2^20 values
	[ "$(value partials)" -gt 2097152 ]
	[ "$(value partials)" -lt 2200000 ]
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
