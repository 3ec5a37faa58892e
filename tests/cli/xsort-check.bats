#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# -c: the first disorder, for any number of threads, from files, pipes and compressed files.
# SP_TEST_FULL=1: each of these from each of them.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	needs zstd
	begin_test tmp
	export LC_ALL=C
	seq 120000 | awk '{ printf "%06d %d\n", ($1 * 7919) % 100003, $1 }' | sort >sorted
}

teardown()
{
	[ -z "$(ls tmp)" ]
}

way=0 # of reading
# checks WANT FILE OPTION...: status and message as WANT, a file with the message of GNU sort
checks()
{
	local want=$1 file=$2 n from status

	shift 2
	zstd -q -f -B65536 "$file" -o packed 2>/dev/null || zstd -q -f "$file" -o packed
	for n in $(few 1 3 16); do
		way=$((way + 1))
		for from in file input pipe packed; do
			way=$((way + 1))
			[ -n "${SP_TEST_FULL:-}" ] || [ $((way % 2)) = 0 ] || continue
			status=0
			case $from in
			file) "$xsort" -c --parallel=$n "$@" "$file" ;;
			input) "$xsort" -c --parallel=$n "$@" <"$file" ;;
			pipe) cat "$file" | "$xsort" -c --parallel=$n "$@" ;;
			packed) "$xsort" -c --decompress --parallel=$n "$@" packed ;;
			esac 2>err || status=$?
			sed 's/^xsort: [^:]*: *\([0-9]\)/sort: FILE:\1/; s/^xsort: [^:]*:/sort: FILE:/' err >message
			[ "$status $(<message)" = "$want" ] || {
				echo "# $from, $n threads, $*: $status $(<message), not $want"
				return 1
			}
		done
	done
}

# gnu FILE OPTION...: what GNU sort says
gnu()
{
	local status=0

	sort -c "${@:2}" "$1" 2>err || status=$?
	echo "$status $(sed 's/^sort: [^:]*:/sort: FILE:/' err)"
}

@test "a disorder at the first, the last, and any record" {
	records=$(wc -l <sorted)
	checks "0 " sorted
	for at in 2 3 60001 $((records - 1)) "$records" $((RANDOM * 3 + 4)); do
		awk -v at="$at" 'NR == at { print "000000 0" } { print }' sorted >in
		checks "$(gnu in)" in
		awk -v at="$at" 'NR == at { print $0 " again" } { print }' sorted >in
		checks "$(gnu in)" in
	done
	{ cat sorted; printf '%s' 000000; } >in
	checks "$(gnu in)" in
}

@test "several disorders: the first one in the file" {
	awk 'NR % 20011 == 0 { print "0" NR } { print }' sorted >in
	checks "$(gnu in)" in
	checks "$(gnu in -k1,1n)" in -k1,1n
	sort -r sorted >in
	checks "$(gnu in)" in
	checks "0 " in -r
}

@test "equal keys, at each record near the borders of parts" {
	checks "$(gnu sorted -u -k1,1)" sorted -u -k1,1
	sort -u -k1,1 sorted >unique
	checks "0 " unique -u -k1,1
	for at in 262144 524288 1048576; do
		line=$(head -c $at unique | wc -l)
		for i in 0 1 2; do
			awk -v at=$((line + i)) '{ print } NR == at { print $1 " 0" }' unique >in
			checks "$(gnu in -u -k1,1)" in -u -k1,1
			checks "$(gnu in -s -k1,1)" in -s -k1,1
		done
	done
}

@test "records that end with NUL, of fixed length, and longer than a part" {
	tr '\n' '\0' <sorted >in
	checks "$(gnu in -z)" in -z
	awk 'NR == 90000 { print "0 \n" } { print }' ORS='\0' RS='\0' in >bad
	"$xsort" -c -z in
	run -1 "$xsort" -c -z --parallel=8 bad
	[ "$output" = "$(sort -c -z bad 2>&1 | sed s/^sort/xsort/)" ]
	cut -c1-6 sorted >fixed
	for n in $(few 1 3 16); do
		"$xsort" -c --record-size=7 --parallel=$n fixed
		{ cat fixed; printf 000000X; cat fixed; } >bad
		run -1 "$xsort" -c --record-size=7 --parallel=$n bad
		[[ $output == "xsort: bad:120001: disorder: 000000X"* ]]
		{ cat fixed; printf 00; } >bad
		run -2 "$xsort" -c --record-size=7 --parallel=$n bad
	done
	{ printf '%03000000d\n' 0; cat sorted; } >in
	checks "$(gnu in)" in
	{ cat sorted; printf '%03000000d\n' 0; } >in
	"$xsort" -c --parallel=8 in 2>err || true
	sort -c in 2>want || true
	cmp <(sed 's/^x//' err) want
}

# A field with newlines and quotes: each record has three lines.
@test "CSV: line numbers, quoted newlines, headers and a mark" {
	awk 'BEGIN { printf "\357\273\277\"na\nme\",b\n" } { printf "%s,\"%d\n\"\"x\"\",\n\"\n", $1, $2 }' sorted >in.csv
	checks "0 " in.csv --csv --header -k 1,1
	for at in 2 3 70000 120000; do
		awk -v at=$at 'NR == 1 { printf "a,b\n" } NR == at { printf "\"000\n\",1\n" } { printf "%s,\"%d\n\"\"x\"\",\n\"\n", $1, $2 }' sorted >in.csv
		checks "1 sort: FILE:$((1 + 3 * (at - 1) + 1)): disorder: \"000"$'\n'"\",1" in.csv --csv --header -k 1,1
	done
	# Within quotes are lines that look like records in disorder.
	{ echo 'a,"'; seq 300000 -1 1 | awk '{ print $1 ",\"" $1 "\"\"" }'; echo '"'; seq 100000 | sort | sed 's/.*/b&,1/'; } | sed 's/"""/""/; s/,"\([0-9]*\)""$/,""\1""/' >in.csv
	"$xsort" -c --csv -k1,1 --parallel=1 in.csv
	checks "0 " in.csv --csv -k1,1
	printf 'a,"open' >>in.csv
	want=$("$xsort" -c --csv -k1,1 --parallel=1 in.csv 2>&1) || true
	[ -n "$want" ]
	run -2 "$xsort" -c --csv -k1,1 --parallel=8 in.csv
	[ "$output" = "$want" ]
}

@test "a disorder before an error is reported, and an error before a disorder" {
	{ head -n 1000 sorted; echo 0; tail -n +1000 sorted; } >in
	zstd -qc in | head -c -5 >short
	run -1 "$xsort" -c --decompress --parallel=8 short
	[ "$output" = "xsort: short:1001: disorder: 0" ]
	zstd -qc sorted | head -c -5 >short
	run -2 "$xsort" -c --decompress --parallel=8 short
	[[ $output == *"ends before its zstd data does" ]]
	run -2 "$xsort" -c --parallel=8 missing
	[ "$output" = "xsort: open failed: missing: No such file or directory" ] ||
		[[ $output == *"missing: No such file"* ]]
}

@test "a disorder is reported although the pipe stays open" {
	mkfifo p
	{ echo 2; echo 1; exec sleep 20; } >p &
	for n in 1 8; do
		[ $n = 1 ] || { { echo 2; echo 1; exec sleep 20; } >p & }
		run -1 timeout 10 "$xsort" -c --parallel=$n p
		[ "$output" = "xsort: p:2: disorder: 1" ]
	done
	kill %1 %2 2>/dev/null || true
}
