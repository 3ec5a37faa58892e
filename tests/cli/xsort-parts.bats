#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# A result is merged in ranges by several threads, with the same bytes.
# SP_TEST_FULL=1: each number of threads with each kind of output.
. "$BATS_TEST_DIRNAME/suite.bash"

setup() { begin_test tmp; }

sorted() { "$xsort" -S 4M --run-size=256K --page-size=8K -T tmp --stats=stats "$@"; }
parts() { sed -n 's/.*"merge_parts": *\([0-9]*\).*/\1/p' stats; }
# The result was merged in ranges, or in one.
ranged() { [ "$(parts)" -gt 1 ]; }
whole() { [ "$(parts)" = 0 ]; }

# turn K N: the K-th of N ways is due in this round.
round=0
turn() { [ -n "${SP_TEST_FULL:-}" ] || [ $((round % $2)) = "$1" ]; }

# Keys of which there are many equal ones.
keyed() { "$xgen" records --seed=7 --bytes="${1:-5M}" | tr ' ' _ | sed 's/^..\(.\)\(.\)/\1 \2/'; }

@test "parts by the number of threads, and the same result" {
	keyed >in
	sort in >want
	for threads in $(few 1 2 3 8); do
		sorted --parallel=$threads -o out in
		cmp out want
		if [ $threads = 1 ]; then whole; elif [ $threads != 8 ]; then ranged; fi
	done
	[ "$(ls -A tmp)" = '' ]
}

@test "-o and standard output: at its place, behind other bytes, and a pipe" {
	keyed >in
	sort in >want
	sorted --parallel=2 in >out
	cmp out want
	ranged
	{ echo before && sorted --parallel=3 in && echo after; } >out
	{ echo before && cat want && echo after; } | cmp - out
	ranged
	# A file that is longer stays so.
	cat want want want >out
	{ sorted --parallel=2 in && echo after; } 1<>out
	ranged
	{ cat want && echo after; } >start
	cmp -n "$(wc -c <start)" start out
	[ "$(wc -c <out)" = $((3 * $(wc -c <want))) ]
	echo before >out
	sorted -S 16M --parallel=2 in >>out
	{ echo before && cat want; } | cmp - out
	ranged
	sorted -S 16M --parallel=2 in | cmp - want
	ranged
	# The output is the input.
	sorted --parallel=2 -o in in
	cmp in want
	ranged
}

@test "equal keys keep their order, and no group is in two parts" {
	keyed >in
	for order in '-s -k1,1' '-s -r -k1,1' '-k2,2' '-k1,1r -k2,2'; do
		# shellcheck disable=SC2086
		sort $order in >want
		for threads in $(few 2 3 8); do
			# shellcheck disable=SC2086
			sorted --parallel=$threads $order -o out in
			cmp out want
		done
	done
}

@test "one key only, few keys: one part, and the result is right" {
	yes 'same key' | head -c 3M | sed 'n;s/$/ /' >in
	sort -s -k1,1 in >want
	sorted --parallel=3 -s -k1,1 -o out in
	cmp out want
	whole
}

@test "-u in ranges, with keys that are repeated in other runs" {
	"$xgen" records --seed=7 --bytes=5M >distinct
	sort -u distinct >want
	# Again, but not in the same run: of the first part, of all, of the last.
	head -n 25000 distinct | sort | head -n 300 >low
	head -n 25000 distinct | awk 'NR % 100 == 1' >all
	head -n 25000 distinct | sort -r | head -n 300 >high
	for more in /dev/null low all high distinct; do
		cat distinct $more >in
		for threads in $(few 2 3 8); do
			if turn 0 2; then
				sorted -S 16M --parallel=$threads -u -o out in
				cmp out want
				[ $threads = 8 ] || ranged
			fi
			if turn 1 2; then
				{ echo before && sorted -S 16M --parallel=$threads -u <in && echo after; } >out
				{ echo before && cat want && echo after; } | cmp - out
			fi
			round=$((round + 1))
		done
	done
	# By key; the first of equals is kept.
	sed 's/^\(..........\)./\1A/' distinct | cat distinct - >in
	sort -s -u -k1.1,1.10 in >want
	sorted -S 16M --parallel=3 -u -k1.1,1.10 -o out in
	cmp out want
	ranged
	# The result takes only the space of what is left.
	cat distinct distinct >in
	sort -u in >want
	(ulimit -f 9000 && sorted -S 16M --parallel=3 -T . -T "$PWD" -u -o out in)
	cmp out want
	# What is behind the result stays.
	cat want want >out
	sorted -S 16M --parallel=2 -u -k1.1,1.10 in 1<>out
	ranged
	cat want want | cmp - out
}

@test "-u --count in parts in the same way, with the numbers of what repeats later" {
	"$xgen" records --seed=7 --bytes=5M >distinct
	head -n 25000 distinct | sort | head -n 300 >low
	head -n 25000 distinct | awk 'NR % 100 == 1' >all
	head -n 25000 distinct | sort -r | head -n 300 >high
	for more in /dev/null low all high distinct; do
		cat distinct $more >in
		sort in | uniq -c >want
		for threads in $(few 1 2 3 8); do
			if turn 0 2; then
				sorted -S 16M --parallel=$threads -u --count -o out in
				cmp out want
				if [ $threads = 1 ]; then whole; elif [ $threads != 8 ]; then ranged; fi
			fi
			if turn 1 2; then
				{ echo before && sorted -S 16M --parallel=$threads -u --count <in; } >out
				{ echo before && cat want; } | cmp - out
			fi
			round=$((round + 1))
		done
		round=$((round + 1))
	done
	"$xsort" -u --count -S 100M --stats=stats --parallel=3 -o out distinct
	sort distinct | uniq -c | cmp - out
	ranged
	# The first of equals is kept; short records, long ones, and those of other forms.
	sed 's/^\(..........\)./\1A/' distinct | cat distinct - >in
	sorted -S 16M --parallel=3 -s -u --count -k1.1,1.10 -o out in
	ranged
	sort -s -u -k1.1,1.10 in | cmp - <(cut -c9- out)
	[ "$(cut -c1-8 out | sort -u)" = '      2 ' ]
	seq 100000 400000 | shuf --random-source=distinct >in
	"$xsort" -u --count -S 100M --stats=stats --parallel=3 -o out in
	ranged
	seq 100000 400000 | sed 's/^/      1 /' | cmp - out
	{ cat distinct && for i in 9 z 3 1 5; do echo "$i$(head -c 100000 /dev/zero | tr '\0' m)"; done; } >in
	sorted -S 16M --parallel=3 -u --count -o out in
	ranged
	sort in | uniq -c | cmp - out
	tr '\n' '\0' <distinct >nul
	sorted -S 16M -z --parallel=3 -u --count -o out nul
	ranged
	sort distinct | uniq -c | tr '\n' '\0' | cmp - out
	sorted -S 16M --spill-compression=lz4 --parallel=3 -u --count -o out distinct
	ranged
	sort distinct | uniq -c | cmp - out
}

@test "-u of keys that repeat, and --limit in ranges until there are enough" {
	keyed >in
	for threads in $(few 2 3 8); do
		sorted -S 16M --parallel=$threads -u -k1.1,1.4 -o out in
		sort -s -u -k1.1,1.4 in | cmp - out
		ranged
		sorted -S 16M --parallel=$threads --limit=20000 -o out in
		sort in | head -n 20000 | cmp - out
		ranged
		sorted -S 16M --parallel=$threads --limit=20000 in | cmp - <(sort in | head -n 20000)
		sorted -S 16M --parallel=$threads -u --count -k1.1,1.4 -o out in
		sort -s -u -k1.1,1.4 in | cmp - <(cut -c9- out)
		ranged
	done
	# A small part of the result is merged as one range.
	sorted -S 16M --parallel=3 --limit=100 -o out in
	sort in | head -n 100 | cmp - out
	whole
}

@test "packed pages, all engines, direct or not" {
	keyed >in
	sort in >want
	for option in --spill-compression=lz4 --spill-compression=zstd --engine=sync --engine=libaio \
		--direct=always --direct=never; do
		sorted --parallel=3 $option -o out in
		cmp out want
		# Without the page cache, a disk that turns merges in order.
		[ $option = --direct=always ] || ranged
	done
}

@test "all in memory" {
	keyed >in
	sort in >want
	"$xsort" -S 100M --stats=stats --parallel=2 -o out in
	cmp out want
	ranged
}

@test "lines without end, ended by NUL, CSV, binary records, a header" {
	keyed >in
	head -c -1 in >unended
	sort unended >want
	sorted --parallel=2 -o out unended
	cmp out want
	tr '\n' '\0' <in >nul
	sort -z nul >want
	sorted -z --parallel=2 -o out nul
	cmp out want
	ranged
	{ echo head && cat in; } >headed
	{ echo head && sort in; } >want
	sorted --header --parallel=2 -o out headed
	cmp out want
	ranged
	sed 's/^\(.\) \(.*\)/"\1\n,""",\2/' in >csv
	sorted --csv -k2,2 --parallel=1 -o want csv
	sorted --csv -k2,2 --parallel=3 -o out csv
	cmp out want
	ranged
	"$xgen" records --binary --bytes=5M >bin
	sorted --record-size=100 --bkey=0:10 --parallel=1 -o want bin
	sorted --record-size=100 --bkey=0:10 --parallel=3 -o out bin
	cmp out want
	ranged
}

@test "records larger than pages" {
	{ keyed && for i in 9 z 3 1 5; do echo "$i$(head -c 100000 /dev/zero | tr '\0' m)"; done; } >in
	sort in >want
	sorted --parallel=3 -o out in
	cmp out want
	ranged
}

@test "sizes set by hand, a simulated machine and a program keep one part" {
	keyed 2M >in
	for option in --readahead=double --merge-buffer=2M --volume=sim:linear --compress-program=gzip; do
		sorted --parallel=4 $option -o out in
		whole
	done
}

@test "few descriptors, a full device, a file that may not grow" {
	keyed >in
	sort in >want
	(ulimit -n 9 && sorted --parallel=4 -o out in)
	cmp out want
	(ulimit -n 14 && sorted --parallel=4 -o out in)
	cmp out want
	echo old >out
	(ulimit -f 1000 && ! sorted --parallel=4 --direct=never -S 100M -o out in)
	[ "$(cat out)" = old ]
	(ulimit -f 1000 && ! sorted --parallel=4 -S 100M in >part)
	[ "$(wc -c <part)" -le 1024000 ]
}

# Sorted files 0 to n-1 of the input, by these options.
sorted_files() {
	local n=$1 i
	shift
	keyed >in
	split -n "l/$n" -d -a 4 in part.
	for i in part.*; do sort "$@" -o "$i" "$i"; done
}

merged() { "$xsort" -m -S 32M -T tmp --stats=stats "$@"; }

@test "-m of sorted files in ranges" {
	for order in '' '-s -k1,1' '-k1,1' '-r' '-u' '-u -k2,2' '-k2,2n'; do
		# shellcheck disable=SC2086
		sorted_files 16 $order
		# The last record has no end.
		head -c -1 part.0003 >end && mv end part.0003
		: >part.0007
		# shellcheck disable=SC2086
		sort -m $order part.* >want
		for threads in $(few 2 3 8); do
			if turn 0 2; then
				# shellcheck disable=SC2086
				merged --parallel=$threads $order -o out part.*
				cmp out want
				[ $threads = 8 ] || ranged
			fi
			# shellcheck disable=SC2086
			! turn 1 2 || merged --parallel=$threads $order part.* | cmp - want
			round=$((round + 1))
		done
	done
	sorted_files 40
	merged --parallel=3 -o out part.*
	sort in | cmp - out
	ranged
	merged --parallel=3 --limit=30000 part.* | cmp - <(sort in | head -n 30000)
	ranged
}

@test "-m of files that are not sorted: the result of one thread" {
	sorted_files 8
	awk 'NR == 2000 { held = $0; next } { print } NR == 2100 { print held }' part.0002 >late
	tac part.0005 >down
	cut -c1 in | paste - in | tr '\t' ' ' >doubled
	for case in late down both unsorted; do
		case $case in
		late) files=(part.000[0134567] late) ;;
		down) files=(part.000[0123467] down) ;;
		both) files=(late part.000[01] down part.000[3467]) ;;
		unsorted) files=(in doubled) ;;
		esac
		for order in '' '-u' '-r' '-s -k1,1'; do
			# shellcheck disable=SC2086
			sort -m $order "${files[@]}" >want
			for threads in $(few 1 2 3 8); do
				if turn 0 3; then
					# shellcheck disable=SC2086
					merged --parallel=$threads $order -o out "${files[@]}"
					cmp out want
				fi
				# shellcheck disable=SC2086
				! turn 1 3 || merged --parallel=$threads $order "${files[@]}" | cmp - want
				if turn 2 3; then
					cat want want >out
					# shellcheck disable=SC2086
					merged --parallel=$threads $order "${files[@]}" 1<>out
					cmp out <(cat want want)
				fi
				round=$((round + 1))
			done
		done
	done
}

@test "a closed pipe, and a device without space" {
	sorted_files 8
	local statuses
	for threads in $(few 1 3 8); do
		sorted -S 16M --parallel=$threads in | head -c 1000 >one && statuses=("${PIPESTATUS[@]}")
		[ "${statuses[0]}" = 141 ]
		merged --parallel=$threads part.* | head -c 1000 >one && statuses=("${PIPESTATUS[@]}")
		[ "${statuses[0]}" = 141 ]
	done
	[ -c /dev/full ] || skip "there is no /dev/full"
	for threads in $(few 1 3 8); do
		run -2 bash -c "'$xsort' -S 16M --parallel=$threads -T tmp in >/dev/full"
		[[ $output == *'No space left on device'* ]]
		run -2 bash -c "'$xsort' -m --parallel=$threads part.* >/dev/full"
		[[ $output == *'No space left on device'* ]]
	done
}
