#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xgroup --largest: the first records of each group, whole, as a sort and awk find them; --format=json.
. "$BATS_TEST_DIRNAME/suite.bash"

setup() { begin_test tmp; }

@test "whole records come in the order of the groups, and in each in that of the keys" {
	awk 'BEGIN { srand(8); for (i = 0; i < 40000; i++)
		printf "u%d,%d,%.1f,%s\n", rand() * 900, i, rand() * 50, i % 7 ? "text " i : "" }' >in
	sort -s -t, -k1,1 -k3,3nr in | awk -F, 'n[$1]++ < 3' >want
	for memory in 1M 3M 1G; do
		for threads in $(few 1 2 8); do
			"$xgroup" -t, -k 1 --largest=3 -k 3:nr -S $memory -T tmp --parallel=$threads in | cmp - want
		done
		cat in | "$xgroup" -t, -k 1 --largest=3 -k 3:nr -S $memory -T tmp | cmp - want
	done
	sort -s -t, -k1,1 -k4,4r -k2,2n in | awk -F, 'n[$1]++ < 1' >want
	"$xgroup" -t, -k 1 --largest=1 -k 4:r -k 2:n -S 1M in | cmp - want
	sort -s -t, -k1,1 in >want
	"$xgroup" -t, -k 1 --largest=100000 -S 1M in | cmp - want
	[ -z "$(ls tmp)" ]
}

@test "records that cannot be among the first ones are left out early: ties, and long equal beginnings" {
	local n threads

	awk 'BEGIN { srand(7); for (i = 0; i < 30000; i++)
		printf "%d,%s%d,%d\n", rand() * 40, rand() < .5 ? "a-long-text-that-many-have-" : "", rand() * 9, rand() * 1e6 }' >in
	for n in 1 2 16 17 40; do
		sort -s -t, -k1,1 -k2,2r in | awk -F, -v n="$n" '$1 != key { key = $1; seen = 0 } seen++ < n' >want
		for threads in $(few 1 2 5); do
			"$xgroup" -t, -k 1 --largest="$n" -k 2:r -S 1M --parallel="$threads" in | cmp - want
		done
		"$xgroup" -t, -k 1 --largest="$n" -k 2:r <in | cmp - want
	done
	"$xgroup" -t, -k 1 --largest=2 -k 3:nr --parallel=1 --stats=r.json in >/dev/null
	[ "$(value partials)" -lt 3000 ]
}

@test "records of CSV keep their quotes and lines, and the header is that of the input" {
	printf 'name,"a b"\r\nx,"1\n2"\r\n"y",2\r\nx,9' >in.csv
	"$xgroup" --csv --header -k name --largest=1 -k 2:r in.csv >out
	printf 'name,"a b"\r\nx,9\n"y",2\r\n' | cmp - out
	"$xgroup" --csv --header -k name --largest=9 in.csv in.csv >out
	printf 'name,"a b"\r\nx,"1\n2"\r\nx,9\nx,"1\n2"\r\nx,9\n"y",2\r\n"y",2\r\n' | cmp - out
	"$xgroup" --csv --header --largest=1 -k '"a b":n' --where '"a b" > 2' <(printf 'name,a b\nq,1\nr,3\ns,4\n') >out
	printf 'name,a b\nr,3\n' | cmp - out
	: >none
	"$xgroup" --csv --header -k 1 --largest=1 none | cmp - none
	printf '1 b\0002 a\0001 a' | "$xgroup" -z -k 1 --largest=1 -k 2 | cmp - <(printf '1 a\0002 a\0')
}

@test "a limit counts records" {
	seq 100 >in
	"$xgroup" -k 'floor($1/10):n' --largest=2 -k 1:n --limit=5 in >out
	printf '%s\n' 1 2 10 11 20 | cmp - out
}

@test "what whole records have no use for is refused" {
	seq 3 >in
	for options in "-a count()" "--having=\$1>1" --order=first; do
		run -2 "$xgroup" -k 1 --largest=1 $options in
		[[ $output = *"exclude each other"* ]]
	done
	run -2 "$xgroup" -k 1 --largest=0 in
	[[ $output = *--largest* ]]
	run -2 "$xgroup" -t, -k 1 --largest=1 -k 2q in
	[[ $output = *"a key is one column"* ]]
}

@test "--format=json writes objects whose members are texts, numbers or null" {
	printf 'k,v,"a ""b"\nx,1.50,q\n"tab\there",,"é \\\\"\n007,-3,\n' >in.csv
	needs jq
	"$xgroup" --csv --header -k k -a 'sum(v) as s, count(), list("a ""b")' --format=json in.csv >out
	jq -c . out >normal
	printf '%s\n' '{"k":"007","s":-3,"count()":1,"list(\"a \"\"b\")":null}' \
		'{"k":"tab\there","s":null,"count()":1,"list(\"a \"\"b\")":"é \\\\"}' \
		'{"k":"x","s":1.50,"count()":1,"list(\"a \"\"b\")":"q"}' >want
	jq -c . want | cmp - normal
	grep -q '"s":1.50,' out
	printf 'NA 1\nx NA\n' | "$xgroup" -k 1 -a 'sum(2) as s' --null=NA --format=json |
		cmp - <(printf '{"1":null,"s":1}\n{"1":"x","s":null}\n')
	seq 30 | "$xgroup" -k '$1 % 3' -a 'sum(1) as s' --order=s:r --having 's > 150' --format=json |
		cmp - <(printf '{"$1 %% 3":0,"s":165}\n{"$1 %% 3":2,"s":155}\n')
}

@test "what JSON cannot have is refused" {
	printf 'a\xff 1\n' >in
	run -2 "$xgroup" -k 1 --format=json in
	[[ $output = *"is not UTF-8, so JSON cannot have it; leave out --format=json"* ]]
	run -2 "$xgroup" -k 2 -a 'count(), count()' --format=json in
	[[ $output = *"two columns of the result have the name 'count()'"* ]]
	[ "$("$xgroup" -k 2 --format=json </dev/null | wc -c)" = 0 ]
	[ "$("$xgroup" --format=json </dev/null)" = '{"count()":0}' ]
}

@test "calculated numbers are groups by their values, in the order of these" {
	printf '1.5\n1.50\n-3\n-3.0\n100\n1e30\n\n' >in
	"$xgroup" -t, -k '$1 * 2 as double' in | cmp - <(printf ',1\n-6,2\n3,2\n200,1\n2e+30,1\n')
	"$xgroup" -t, -k '$1 * 2:nr' in | cmp - <(printf '2e+30,1\n200,1\n3,2\n-6,2\n,1\n')
	seq 5000 >in
	for threads in $(few 1 2 8); do
		"$xgroup" -k '$1 % 100' -k 'floor($1 / 1000):r' -S 1M --parallel=$threads in >out
		awk '{ n[$1 % 100 " " int($1 / 1000)]++ } END { for (k in n) print k, n[k] }' in |
			sort -k1,1n -k2,2nr | cmp - out
	done
}

@test "a message names the line and the input, whatever blank lines and headers there are" {
	# shellcheck disable=SC2154 # its caller sets where
	says() { run -2 "$xgroup" "$@" && [[ $output = *"$where"* ]]; }

	printf 'a,b\n1,2\n\n\n2,x\n' >blank
	where='blank: line 5: ' says --csv --header -a 'sum(b)' blank
	where='-: line 5: ' says --csv --header -a 'sum(b)' <blank
	printf '"a\nz",b\n1,2\n2,x\n' >lines
	where='lines: line 4: ' says --csv --header -a 'sum(b)' lines
	printf 'a\n1\n\n' >one
	printf 'a\n2\nx\n' >two
	where='two: line 3: ' says --header -a 'sum(1)' one two
	{ printf 'a,b\n\n\n\n'; seq 300000 | sed 's/.*/&,1/'; echo 1,y; } >long
	for threads in $(few 1 2 8); do
		where='long: line 300005: ' says --csv --header --where 'b > 0' --parallel=$threads long
	done
	where='-: line 300005: ' says --csv --header --where 'b > 0' <long
}

@test "a newline is a byte as any other where records end with NUL" {
	printf '\n\t2\0x\t1\0' >in
	"$xgroup" -z -t$'\t' --largest=9 in | cmp - in
	"$xgroup" -z -t$'\t' -k 1 in | tr '\0' '|' | cmp - <(printf '\n\t1|x\t1|')
}
