#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xjoin --ordered, and sorted files.
. "$BATS_TEST_DIRNAME/suite.bash"

tables()
{
	seq 0 7 150000 | awk '{ print ($1 * 7919) % 25000 "|" $1 "|left side of the pair" }' >l
	seq 0 3 75000 | awk '{ print ($1 * 104729) % 30000 "|right " $1 "|" }' >r
}

# The result in the order of file $1 by a program that has all in memory.
truth() # 1|2 LEFT-UNPAIRED RIGHT-UNPAIRED, 1: they are wanted
{
	local first=l second=r

	[ "$1" = 1 ] || { first=r second=l; }
	awk -F'|' -v order="$1" -v single="$2$3" '
	function rest(line) { return substr(line, index(line, "|")) }
	function wanted(file) { return substr(single, file, 1) == 1 }
	NR == FNR { line[$1, n[$1]++] = $0; key[NR] = $1; all[NR] = $0; last = NR; next }
	{
		for (i = 0; i < n[$1]; i++)
			print $1 (order == 1 ? rest($0) rest(line[$1, i]) : rest(line[$1, i]) rest($0))
		if (!n[$1] && wanted(order)) print
		had[$1] = 1
	}
	END {
		for (i = 1; i <= last; i++)
			if (!(key[i] in had) && wanted(3 - order)) print all[i]
	}' "$second" "$first"
}

stat_of() # FILE KEY: its value, as JSON has it
{
	sed -n "s/^ *\"$2\": \(.*[^,]\),*\$/\1/p" "$1" | head -n 1
}

@test "--ordered: a small result of each type" {
	printf '2 b\n9 z\n1 a\n2 c\n3 d\n' >l
	printf '3 x\n2 y\n8 v\n2 w\n7 u\n' >r
	run -0 "$xjoin" --ordered=1 l r
	[ "$output" = $'2 b y\n2 b w\n2 c y\n2 c w\n3 d x' ]
	run -0 "$xjoin" --ordered=2 l r
	[ "$output" = $'3 d x\n2 b y\n2 c y\n2 b w\n2 c w' ]
	run -0 "$xjoin" --ordered=1 --type=full l r
	[ "$output" = $'2 b y\n2 b w\n9 z\n1 a\n2 c y\n2 c w\n3 d x\n8 v\n7 u' ]
	run -0 "$xjoin" --ordered=2 --type=full l r
	[ "$output" = $'3 d x\n2 b y\n2 c y\n8 v\n2 b w\n2 c w\n7 u\n9 z\n1 a' ]
	for file in 1 2; do
		for build in 1 2; do
			run -0 "$xjoin" --ordered=$file --build=$build --type=semi l r
			[ "$output" = $'2 b\n2 c\n3 d' ]
			run -0 "$xjoin" --ordered=$file --build=$build --type=anti l r
			[ "$output" = $'9 z\n1 a' ]
			run -0 "$xjoin" --ordered=$file --build=$build -v2 l r
			[ "$output" = $'8 v\n7 u' ]
		done
	done
	run -1 "$xjoin" --ordered=3 l r
}

@test "--ordered: with little memory and much, by each algorithm, from pipes" {
	tables
	for file in 1 2; do
		for single in "0 0" "1 0" "1 1"; do
			# shellcheck disable=SC2086
			truth $file $single >want
			types=()
			case $single in
			"1 0") types=(-a1) ;;
			"1 1") types=(-a1 -a2) ;;
			esac
			for options in "-S 512K" "-S 4M --build=$file" "-S 64M" "-S 64M --build=$file"; do
				# shellcheck disable=SC2086
				"$xjoin" $options --ordered=$file "${types[@]}" -t'|' l r | cmp - want
			done
		done
		truth $file 1 1 >want
		for algorithm in grace nested hybrid; do
			"$xjoin" -S 1M --algorithm=$algorithm --ordered=$file -a1 -a2 -t'|' l r | cmp - want
		done
		"$xjoin" -S 1M --ordered=$file -a1 -a2 -t'|' <(cat l) <(cat r) | cmp - want
		"$xjoin" -S 64M --ordered=$file -a1 -a2 -t'|' - <(cat r) <l | cmp - want
	done
}

@test "--ordered: the filling of missing fields and the separator may be newlines" {
	printf 'b 1\na 2\n' >l
	printf 'a\nb 9\nc\n' >r
	for build in 1 2; do
		run -0 "$xjoin" --ordered=1 --build=$build -a2 -e $'x\ny' -o 0,1.2,2.2 l r
		[ "$output" = $'b 1 9\na 2 x\ny\nc x\ny x\ny' ]
		run -0 "$xjoin" --ordered=1 --build=$build -t '' -o 1.1,2.1 l <(tac l)
		[ "$output" = $'b 1\nb 1\na 2\na 2' ]
		"$xjoin" --ordered=1 --build=$build -z -t '\0' -o 1.1,2.1 <(printf 'b\0a\0') \
			<(printf 'a\0b') | cmp - <(printf 'b\0b\0a\0a\0')
	done
}

@test "--ordered: nothing is sorted if the other file fits into memory" {
	tables
	for file in 1 2; do
		"$xjoin" -S 64M --ordered=$file --stats=r.json -t'|' l r >out
		[ "$(stat_of r.json ordered_by)" = '"probing"' ]
		[ "$(stat_of r.json build_input)" = $((3 - file)) ]
		"$xjoin" -S 64M --ordered=$file --build=$file --stats=r.json -t'|' l r | cmp - out
		[ "$(stat_of r.json ordered_by)" = '"sorting"' ]
	done
	run -0 "$xjoin" --explain --stats=p.json --ordered=1 -S 64M l r
	[ "$(stat_of p.json ordered_by)" = '"probing"' ]
	run -0 "$xjoin" --explain --stats=p.json --ordered=1 -S 512K l r
	[ "$(stat_of p.json ordered_by)" = '"sorting"' ]
}

@test "--ordered: headers, columns, NULs, long lines" {
	tables
	{ echo 'key|n|text'; cat l; } >hl
	{ echo 'key|which|'; cat r; } >hr
	for memory in 512K 64M; do
		"$xjoin" -S $memory --ordered=1 --header -t'|' -o 0,1.2,2.2 hl hr >out
		[ "$(head -n 1 out)" = 'key|n|which' ]
		truth 1 0 0 | cut -d'|' -f 1,2,4 | cmp - <(tail -n +2 out)
		"$xjoin" -S $memory --ordered=2 -a1 -z -t'|' <(tr '\n' '\0' <l) <(tr '\n' '\0' <r) |
			tr '\0' '\n' | cmp - <(truth 2 1 0)
	done
	long=$(head -c 200000 /dev/zero | tr '\0' x)
	{ echo "k 1 $long"; seq -f 'k%g 2' 20000; echo "k 3"; } >l
	{ seq -f 'k%g 4' 20000; echo "k 5"; echo "k 6 $long"; echo "k 7"; } >r
	for memory in 512K 64M; do
		for build in 1 2; do
			"$xjoin" -S $memory --build=$build --ordered=1 l r | cut -c 1-30 >out
			{
				echo "k 1 $long" | cut -c 1-30
				echo "k 1 $long" | cut -c 1-30
				echo "k 1 $long" | cut -c 1-30
				seq -f 'k%g 2 4' 20000
				printf 'k 3 5\n'
				echo "k 3 6 $long" | cut -c 1-30
				printf 'k 3 7\n'
			} | cmp - out
		done
	done
}

@test "--ordered: CSV with newlines, and binary records" {
	seq 0 7 300000 | awk '{ printf "%d,\"left\n%d\"\n", ($1 * 7919) % 50000, $1 }' >l
	seq 0 3 150000 | awk '{ printf "\"%d\",\"right\001\n%d\"\n", ($1 * 104729) % 60000, $1 }' >r
	"$xjoin" -S 64M --csv --ordered=1 -a1 -a2 l r >want
	[ "$(wc -l <want)" -gt 100000 ]
	"$xjoin" -S 512K --csv --ordered=1 -a1 -a2 --stats=r.json l r | cmp - want
	[ "$(stat_of r.json ordered_by)" = '"sorting"' ]
	head -c 400000 /dev/urandom >l
	head -c 300000 /dev/urandom >r
	for file in 1 2; do
		"$xjoin" -S 64M --record-size=8 --bkey=0:2 --ordered=$file -a1 -a2 l r >want
		"$xjoin" -S 512K --record-size=8 --bkey=0:2 --ordered=$file -a1 -a2 l r | cmp - want
	done
}

@test "--ordered: of a merge it is the order of the files" {
	printf 'a 1\nb 2\nb 3\nd 4\n' >l
	printf 'b x\nb y\nc z\n' >r
	run -0 "$xjoin" --algorithm=merge --ordered=1 -a1 l r
	[ "$output" = $'a 1\nb 2 x\nb 2 y\nb 3 x\nb 3 y\nd 4' ]
	run -0 "$xjoin" --algorithm=merge --ordered=2 -a2 l r
	[ "$output" = $'b 2 x\nb 3 x\nb 2 y\nb 3 y\nc z' ]
	run -0 "$xjoin" --algorithm=merge --ordered=2 -v1 l r
	[ "$output" = $'a 1\nd 4' ]
	run -1 "$xjoin" --algorithm=merge --ordered=1 -a2 l r
	[[ $output == *"cannot put lines of file 2 without partner last" ]]
}

sorted_tables()
{
	seq 1 2 100000 | awk '{ print $1 "|" $1 % 7 "|left"; if ($1 % 5 == 0) print $1 "|again" }' >l
	seq 2 3 120000 | awk '{ print $1 "|right" $1 % 11; if ($1 % 4 == 0) print $1 "|twice" }' >r
}

@test "sorted files are found out and merged" {
	sorted_tables
	for order in numbers bytes; do
		for options in "" "-a1 -a2 -S 512K" "-v1 -S 512K" "--type=semi -S 512K" "-v2 -S 512K"; do
			# shellcheck disable=SC2086
			"$xjoin" $options -t'|' --algorithm=hybrid l r | sort >want
			# shellcheck disable=SC2086
			"$xjoin" $options -t'|' --stats=r.json l r | sort | cmp - want
			[ "$(stat_of r.json algorithm | tail -n 1)" = '"auto"' ]
			sed '1,/result/d' r.json >result
			[ "$(stat_of result algorithm)" = '"merge"' ]
			[ "$(stat_of result merged_records_1)" = "$(wc -l <l)" ]
		done
		sort -t'|' -k1,1 -o l l
		sort -t'|' -k1,1 -o r r
	done
	run -0 --separate-stderr "$xjoin" --explain --details -t'|' l r
	# shellcheck disable=SC2154 # run sets it
	[[ $stderr == *algorithm*merge* && $stderr != *partitions* ]]
	run -0 "$xjoin" --header -o auto l /dev/null
}

@test "disorder outside the samples" {
	sorted_tables
	cp r all
	for place in 1 62 98; do
		# A line from far behind comes early, one from the beginning late.
		n=$(($(wc -l <all) * place / 100))
		{ head -n $n all; echo "2|late"; echo "99999|early"; tail -n +$((n + 1)) all; } >r
		for options in "" "-a1 -a2 -S 512K" "-v1 -S 512K" "--type=semi -S 512K" "-v2 -S 512K"; do
			# shellcheck disable=SC2086
			"$xjoin" $options -t'|' --algorithm=hybrid l r | sort >want
			# shellcheck disable=SC2086
			"$xjoin" $options -t'|' --stats=r.json l r | sort | cmp - want
			sed '1,/result/d' r.json >result
			[ "$(stat_of result algorithm)" = '"hybrid"' ]
		done
	done
	[ "$(stat_of result merged_records_1)" -gt 40000 ]
	{ echo 'a|head|er'; cat l; } >hl
	{ echo 'b|er'; cat r; } >hr
	"$xjoin" --header -t'|' hl hr >out
	[ "$(head -n 1 out)" = 'a|head|er|er' ]
	"$xjoin" -t'|' --algorithm=hybrid l r | sort | cmp - <(tail -n +2 out | sort)
}

@test "one key of a sorted file takes more than memory" {
	{ seq 10; seq -f '50 %06g some text that makes the line longer' 20000; seq 51 60; } >l
	{ seq 5 10; echo "50 x"; seq -f '50 y%g' 2; echo 60; } >r
	"$xjoin" -S 512K --algorithm=hybrid l r | sort >want
	for files in "l r" "r l"; do
		# shellcheck disable=SC2086
		"$xjoin" -S 512K -o 0 $files | sort | cmp - <(cut -d' ' -f1 want)
	done
}

@test "memory stays within -S and 16 MB, ordered or merged" {
	[ -z "${SP_TEST_VARIANT:-}" ] || skip "a sanitizer needs memory of its own"
	needs python3
	seq -f '%g some text behind the key' 400000 >l
	seq -f '%g other' 0 2 900000 >r
	shuf --random-source=l l >m
	for options in "-S 512K --ordered=1 m r" "-S 8M --ordered=2 m r" "-S 24M --ordered=1 -a1 m r" \
		"-S 8M l r" "-S 8M -a1 -a2 l r"; do
		# shellcheck disable=SC2086
		"$xjoin" --stats=r.json $options >out
		python3 -c '
import json
m = json.load(open("r.json"))["memory"]
assert m["peak_bytes"] <= m["limit_bytes"] + (16 << 20), m'
	done
}
