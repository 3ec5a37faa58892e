#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# -u and --count with repeated keys: groups collapse during run formation.
# SP_TEST_FULL=1: each number of threads with each way of merging, by each order.
. "$BATS_TEST_DIRNAME/suite.bash"

# repeats RECORDS GROUPS: lines, in an order that repeats after many.
repeats()
{
	awk -v n="$1" -v g="$2" 'BEGIN { srand(3); for (i = 0; i < n; i++) {
		k = int(rand() * g); printf "%06d the group of these lines, %s\n", k, k % 7 } }'
}

figure() { sed -n "/\"result\"/,/}/s/.*\"$1\": *\([0-9]*\).*/\1/p" stats; }

# Of 60000 records of 3000 groups; each of several threads keeps groups of its own.
collapses() {
	[ "$(figure collapsed)" -le 57000 ]
	[ "$(figure collapsed)" -ge $(($1 > 1 ? 50000 : 57000)) ]
}

@test "groups that fit the memory never reach temporary space" {
	repeats 60000 3000 >in
	sort in | uniq -c >counts
	sort -u in >once
	for parallel in $(few 1 2 3 8); do
		"$xsort" -u -S 1M --parallel=$parallel --stats=stats in | cmp - once
		[ "$(figure spilled_runs)" = 0 ]
		collapses $parallel
		"$xsort" -u --count -S 1M --parallel=$parallel --stats=stats <in | cmp - counts
		[ "$(figure spilled_runs)" = 0 ]
	done
}

@test "where no key is repeated nothing collapses" {
	seq 1000000 1100000 | awk '{ print $1 * 7919 % 1000003 }' >in
	"$xsort" -u -S 1M --stats=stats in | cmp - <(sort in)
	[ "$(figure collapsed)" = 0 ]
	[ "$(figure spilled_runs)" != 0 ]
}

@test "the first record and the number of groups that do not fit survive many merges" {
	repeats 60000 20000 >in
	sort in | uniq -c >counts
	sort -s -k7,7nr -k1.6,1 -u in >firsts
	for parallel in $(few 1 2 3); do
		for options in --fan-in=2 --merge-policy=eager --run-formation=replacement \
			--spill-compression=lz4 "--page-size=4K --fan-in=3" --compress-program=gzip; do
			# shellcheck disable=SC2086 # several options
			"$xsort" -u --count -S 600K --parallel=$parallel $options in | cmp - counts
			# shellcheck disable=SC2086
			"$xsort" -k7,7nr -k1.6,1 -u -S 600K --parallel=$parallel $options in |
				cmp - firsts
		done
	done
}

@test "every kind of record collapses, and its number survives" {
	repeats 60000 20000 >in
	awk '{ printf "%s,\"%s\n\"\n", $7, $1 }' in >csv
	awk '{ n[$0]++ } END { for (l in n) printf "%d %s\n", n[l], l }' in | sort -k2 >want
	squeeze() { sed 's/^ *//'; }
	tr '\n' '\0' <in | "$xsort" -zu --count -S 600K --fan-in=3 | tr '\0' '\n' | squeeze | cmp - want
	"$xsort" --csv -u --count -S 600K --fan-in=3 csv | paste - - | cut -d, -f1 >numbers
	awk '{ print $7 "," $1 }' in | sort | uniq -c | awk '{ print $1 }' | cmp - numbers
	cut -c1-6 in | tr -d '\n' >fixed
	"$xsort" --record-size=6 -u -S 600K --fan-in=3 fixed | cmp - <(cut -c1-6 in | sort -u | tr -d '\n')
}

@test "--limit with -u keeps the first records of the first groups" {
	repeats 60000 20000 >in
	sort -k7,7n -k1,1 -u in | head -n 50 >want
	for parallel in $(few 1 2); do
		"$xsort" -k7,7n -k1,1 -u --limit=50 -S 600K --parallel=$parallel in | cmp - want
		"$xsort" -u --count --limit=50 -S 600K --parallel=$parallel in |
			cmp - <(sort in | uniq -c | head -n 50)
	done
}

@test "files of -m are counted, and runs made of them" {
	repeats 20000 3000 | sort >a
	repeats 30000 5000 | sort >b
	sort a b a | uniq -c >counts
	"$xsort" -m -u --count a b a | cmp - counts
	"$xsort" -m -u --count --batch-size=2 a b a | cmp - counts
}

@test "memory that a slot has taken over is given back" {
	for i in 1 2 3 4 5 6; do
		repeats 20000 $((i * 300))
		seq "$i"00000 "$i"03000
		awk -v n=90000 'BEGIN { printf "%06d", n; while (n--) printf "x"; print "" }'
	done >in
	sort -n -u in >want
	for parallel in $(few 1 2 3 8); do
		for size in 64K 128K 256K; do
			"$xsort" -n -u -S 2M --run-size=$size --parallel=$parallel in | cmp - want
		done
	done
}

@test "identical lines are kept once without -u where the whole line is the key" {
	local round=0 way

	repeats 60000 3000 >in
	# More kinds than fit, and kinds that repeat only at first.
	{ repeats 30000 500 && repeats 60000 20000 && repeats 30000 50000; } >kinds
	{ repeats 30000 500 && seq 100000 190000 && cat in; } >first
	for options in '' -r '-s -r'; do
		# shellcheck disable=SC2086 # several options
		{ sort $options in >want; sort $options kinds >want-kinds; sort $options first >want-first; }
		for parallel in $(few 1 2 3 8); do
			# shellcheck disable=SC2086
			"$xsort" $options -S 1M --parallel=$parallel --stats=stats -o out in
			cmp out want
			[ "$(figure spilled_runs)" = 0 ]
			collapses $parallel
			# shellcheck disable=SC2086
			"$xsort" $options -S 1M --parallel=$parallel <in | cmp - want
			# shellcheck disable=SC2086
			"$xsort" $options -S 100M --parallel=$parallel -o out kinds
			cmp out want-kinds
			way=$round
			round=$((round + 1))
			for how in '' --run-size=64K --fan-in=2 --merge-policy=eager \
				--spill-compression=lz4 --compress-program=gzip; do
				way=$((way + 1))
				[ -n "${SP_TEST_FULL:-}" ] || [ $((way % 3)) = 0 ] || continue
				# shellcheck disable=SC2086
				"$xsort" $options -S 1M --parallel=$parallel $how -o out kinds
				cmp out want-kinds
				# shellcheck disable=SC2086
				"$xsort" $options -S 1M --parallel=$parallel $how first | cmp - want-first
			done
		done
	done
}

@test "a long line before them does not end the search" {
	repeats 60000 3000 >rest
	head -c 600000 /dev/zero | tr '\0' g >in
	{ echo && cat rest; } >>in
	"$xsort" -S 1M --parallel=2 --stats=stats -o out in
	sort in | cmp - out
	collapses 2
}

@test "lines are not collapsed if other keys, --limit or --count need each, or if the input is short" {
	repeats 60000 3000 >in
	for options in -f -k1,1 --limit=60000; do
		"$xsort" $options -S 1M --stats=stats in | cmp - <(sort "${options/--limit=60000/-s}" in)
		[ "$(figure collapsed)" = 0 ]
	done
	head -n 2000 in >short
	"$xsort" -S 1M --stats=stats short | cmp - <(sort short)
	[ "$(figure collapsed)" = 0 ]
}

@test "identical records of other forms, long ones, and checkpoints" {
	repeats 60000 3000 >in
	tr '\n' '\0' <in >nul
	"$xsort" -z -S 1M --stats=stats -o out nul
	sort -z nul | cmp - out
	collapses 2
	yes "$(head -n 500 in | cut -c1-20 | tr -d '\n')" | head -n 300 >long
	cat in long in >mixed
	for parallel in $(few 1 2); do
		"$xsort" -S 1M --parallel=$parallel -o out mixed
		sort mixed | cmp - out
		mkdir -p state
		"$xsort" -S 1M --run-size=100K --parallel=$parallel --resume=state -o out mixed
		sort mixed | cmp - out
	done
}

@test "short lines are kept once only where hardly any is new" {
	seq 400000 | awk '{ print $1 % 2 ? $1 : $1 % 100 }' >half
	seq 400000 | awk '{ print $1 % 100 }' >few
	"$xsort" -S 4M --stats=stats half | cmp - <(sort half)
	[ "$(figure collapsed)" -lt 40000 ]
	"$xsort" -S 4M --stats=stats few | cmp - <(sort few)
	[ "$(figure collapsed)" -gt 390000 ]
}
