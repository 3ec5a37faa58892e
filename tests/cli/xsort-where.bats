#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xsort --where: the result is that of the records that awk selects, from a file and a pipe, whatever
# the memory and the number of threads.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	export LC_ALL=C
}

# selects CONDITION AWK [OPTION]...: compares the result with that of the lines that awk selects.
selects()
{
	local condition=$1 program=$2 memory threads

	shift 2
	awk -F, "$program" in | "$xsort" -t, "$@" >want
	[ -s want ]
	for memory in 64K 1M 1G; do
		for threads in $(few 1 2 8); do
			"$xsort" -t, --where "$condition" -S $memory --parallel=$threads "$@" in | cmp - want
		done
		cat in | "$xsort" -t, --where "$condition" -S $memory "$@" | cmp - want
	done
}

@test "the result has the records for which the condition is true" {
	awk 'BEGIN { srand(5); for (i = 0; i < 60000; i++)
		printf "%d,k%d,%.2f,%s\n", i, rand() * 500, rand() * 100, rand() < 0.1 ? "" : "x" int(rand() * 9) }' >in
	selects '$3 > 50' '$3 > 50' -k2,2
	selects '$1 % 1000 = 7' '$1 % 1000 == 7' -k3,3nr
	selects "\$4 is null or \$4 like 'x_' and \$3 < 10" '$4 == "" || $3 < 10' -k1,1n
	selects 'not $4 is null' '$4 != ""' -s -k2,2
	selects "\$2 in ('k1', 'k2')" '$2 == "k1" || $2 == "k2"' -u -k2,2
	selects '$1 between 100 and 200' '$1 >= 100 && $1 <= 200' --limit=20 -k3,3n
	selects '$3 > 50' '$3 > 50' -u --keep-order -k2,2
	selects '$3 > 90' '$3 > 90' -u --count -k2,2
}

@test "columns have the names of the header, which is no record" {
	printf 'name,"unit price",day\nb,3,2024-05-01\na,20,2024-06-01\n"c,d",,2024-05-09\n' >in.csv
	"$xsort" --csv --header --where '"unit price" > 2' -k name in.csv >out
	printf 'name,"unit price",day\na,20,2024-06-01\nb,3,2024-05-01\n' | cmp - out
	"$xsort" --csv --header --where 'month(day) = 5' in.csv >out
	printf 'name,"unit price",day\n"c,d",,2024-05-09\nb,3,2024-05-01\n' | cmp - out
	"$xsort" --csv --header --where "name = 'c,d'" in.csv in.csv >out
	printf 'name,"unit price",day\n"c,d",,2024-05-09\n"c,d",,2024-05-09\n' | cmp - out
}

@test "inputs that are empty or have no such record give an empty result" {
	: >none
	printf 'a,b\n1,2\n' >one
	"$xsort" --csv --header --where 'z > 3' none | cmp - none
	printf 'a,b\n' >want
	"$xsort" --csv --header --where 'b > 3' one | cmp - want
	"$xsort" -t, --where '$7 = 3' one | cmp - none
	run -2 "$xsort" -t, --where '$2 = 2' one
	[ "$output" = "xsort: one: line 1: --where: 'b' is not a number" ]
	printf '1,2\0003,4' | "$xsort" -z -t, --where '$1 > 2' | cmp - <(printf '3,4\0')
}

@test "a report counts the records that were left out" {
	seq 1000 >in
	for memory in 64K 1G; do
		"$xsort" --where '$1 > 990' -S $memory --stats=s.json in >out
		[ "$(value filtered s.json) $(value records s.json)" = "990 10" ]
		cat in | "$xsort" -u --keep-order --where '$1 > 990' -S $memory --stats=s.json >out
		[ "$(value filtered s.json) $(value records s.json)" = "990 10" ]
	done
}

@test "a value that is not a number is an error with its line" {
	seq 200000 | sed '150001s/$/x/' >in
	for threads in $(few 1 2 8); do
		for memory in 64K 1G; do
			run -2 "$xsort" --where '$1 > 3' -S $memory --parallel=$threads -o out in
			[ "$output" = "xsort: in: line 150001: --where: '150001x' is not a number" ]
			[ ! -e out ]
		done
	done
	awk 'BEGIN { for (i = 0; i < 50000; i++) printf "\"a\n%d\",%s\n", i, i == 40000 ? "y" : i }' >in.csv
	for threads in $(few 1 2 8); do
		run -2 "$xsort" --csv --where '$2 > 3' -S 1M --parallel=$threads -o out in.csv
		[ "$output" = "xsort: in.csv: line 80001: --where: 'y' is not a number" ]
	done
}

@test "only records that are chosen must have the inferred types" {
	{ echo a,b; seq 200000 | sed 's/.*/&,1/'; echo x,2; echo 7,1; } >in
	"$xsort" --csv --header --infer-types --where 'b = 1' -k a -S 1M in | tail -n 2 | cmp - <(printf '199999,1\n200000,1\n')
	sed -i '190000s/.*/y,1/' in
	run -2 "$xsort" --csv --header --infer-types --where 'b = 1' -k a in
	[[ $output = *"in: line 190000: "* ]]
}

@test "only a header is read if no record is wanted" {
	printf 'h\nx\n' >in
	[ "$("$xsort" --header --limit=0 --where '$1 > 1' in)" = h ]
	: >none
	run -2 "$xsort" --header=1,first --where 'nonsense > 0' none in
	[ "$output" = "xsort: none: there is no header to name columns of --where" ]
}

@test "conditions that cannot be used are refused" {
	# shellcheck disable=SC2154 # its caller sets message
	refused() { run -2 "$xsort" "$@" in && [[ $output = *"$message"* ]]; }

	printf 'a,b\n1,2\n' >in
	message="no column has the name 'c'" refused --csv --header --where 'c > 3'
	message="'a': to name columns, add --header" refused --csv --where 'a > 3'
	message='there is no column $3 in the header' refused --csv --header --where '$3 = 1'
	message="--where needs a condition, such as x > 3, not" refused --csv --header --where 'a'
	message="the end of --where is expected instead of" refused --csv --header --where 'a > 3 b'
	message="incompatible" refused --where '$1 > 3' -m
	message="incompatible" refused --where '$1 > 3' -c
	message="incompatible" refused --where '$1 > 3' --parts=2 -o 'p%d'
	message="incompatible" refused --where '$1 > 3' --resume=r -o out
	message="incompatible" refused --where '$1 > 3' --explain
	message='records of a fixed length have no columns' refused --where '$1 > 3' --record-size=4
}

@test "one carriage return belongs to the end of a record" {
	printf 'k,x\r\r\nk,x\r\nl,x\nk,y\n' | "$xsort" --csv --where "\$2 = 'x'" | cmp - <(printf 'k,x\r\nl,x\n')
}
