#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

# value KEY: of the text report on standard input.
value()
{
	awk -v key="$1" '{ sub(/^ +/, "") } index($0, key "  ") == 1 { print $NF }'
}

@test "--help and --version are answered on standard output" {
	run -0 --separate-stderr "$blockseq" --help
	[[ $output == *--compare* && -z $stderr ]]
	run -0 "$blockseq" --version
	[[ $output == "blockseq (Spindle) "* ]]
}

@test "requests of a trace are counted, from a file and from standard input" {
	cat > t <<-END
		# spindle-trace/1
		R in 0 8192 0 1 2 8192
		R in 8192 8192 0 3 4 4096
		R in 12288 8192 0 5 6 0
		W tmp 0 4096 0 7 8 4096
		W tmp 4096 4096 0 9 10 -5
		W tmp 0 4096 0 11 12 4096
	END
	run -0 "$blockseq" t
	[ "$(value requests <<<"$output")" = 6 ]
	[ "$(value failed <<<"$output")" = 1 ]
	[ "$(value empty <<<"$output")" = 1 ]
	[ "$(value seeks <<<"$output")" = 3 ]
	[ "$(value merges <<<"$output")" = 1 ]
	[ "$(value regions <<<"$output")" = 1 ]
	[ "$(value "cluster reads" <<<"$output")" = 1 ]
	[[ $output == *"overwritten               4.0 KiB"* && $output != *cache* ]]
	[ "$("$blockseq" - < t)" = "$output" ]
}

@test "the order of completion is another than that of submission" {
	printf '%s\n' "R v 4096 4096 0 2 3 4096" "R v 0 4096 0 1 4 4096" > t
	[ "$("$blockseq" t | value seeks)" = 1 ]
	[ "$("$blockseq" --order=done t | value seeks)" = 2 ]
}

@test "a cache is given in pages or in bytes" {
	for i in 1 2 3 1 2 3; do
		echo "R v $((i * 4096)) 4096 0 $((++n)) $n 4096"
	done > t
	[ "$("$blockseq" --cache=2 t | value transfers)" = 6 ]
	[ "$("$blockseq" --cache=2 --policy=opt t | value transfers)" = 4 ]
	[ "$("$blockseq" --cache=12K t | value transfers)" = 3 ]
	[ "$("$blockseq" --cache=12K --page=8K t | value transfers)" = 4 ]
	[ "$("$blockseq" --cache=2 --first=2 t | value transfers)" = 2 ]
}

@test "a sequence is refined before it is counted" {
	for i in 0 1 2 3; do
		printf '%s\n' "W a $((i * 4096)) 4096 0 $i $i 4096" "W b $((i * 4096)) 4096 0 $i $i 4096"
	done > t
	[ "$("$blockseq" t | value "device seeks")" = 8 ]
	run -0 "$blockseq" --refine=file t
	[ "$(value "device seeks" <<<"$output")" = 2 ]
	[ "$("$blockseq" --refine=file --window=3 --stats=s.json t | value "device seeks")" = 3 ]
	grep -q '"refined": "file"' s.json && grep -q '"window": 3' s.json
	[ "$("$blockseq" --refine=none t | value "device seeks")" = 8 ]
	printf '%s\n' "R v 0 4096 0 1 1 4096" "R v 8192 4096 0 2 2 4096" "R v 4096 4096 0 3 3 4096" > t
	[ "$("$blockseq" --refine=offset t | value seeks)" = 1 ]
	printf '%s\n' "W v 0 4096 0 1 1 4096" "R v 8192 4096 0 2 2 4096" "R v 0 4096 0 3 3 4096" > t
	[ "$("$blockseq" --cache=1 t | value transfers)" = 3 ]
	[ "$("$blockseq" --cache=1 --refine=block t | value transfers)" = 2 ]
}

@test "--stats writes the report as JSON" {
	needs jq
	echo "W v 0 4096 0 1 2 4096" > t
	run -0 "$blockseq" --cache=1 --stats=s.json t
	[ "$(jq -r '.schema, .total.write_bytes, .volumes[0].name, .cache.dirty' s.json | tr '\n' ' ')" = \
		"spindle.sequence/1 4096 v 1 " ]
	run -0 --separate-stderr "$blockseq" --stats=- t
	[ "$(jq -c .cache <<<"$stderr")" = null ]
	run -1 --separate-stderr "$blockseq" --compare --stats=- t /dev/null
	[ "$(jq -r '.schema, .verdict, .first.op, .second' <<<"$stderr" | tr '\n' ' ')" = \
		"spindle.sequence-comparison/1 missing W null " ]
	run -2 "$blockseq" --stats=/nosuch/file t
	[[ $output == *"/nosuch/file: No such file or directory"* ]]
}

@test "the keys of a report are those that are promised" {
	echo "W v 0 4096 0 1 2 4096" > t
	"$blockseq" --cache=1 --stats=s.json t
	has_keys s.json volumes[] cache
	printf '%s\n' "W v 0 4096 0 1 1 4096" "R v 0 4096 0 2 2 4096" > a
	printf '%s\n' "R v 0 4096 0 1 1 4096" "W v 0 4096 0 2 2 4096" > b
	run -1 "$blockseq" --compare --stats=s.json a b
	has_keys s.json first second
}

@test "legal and illegal permutations are distinguished" {
	printf '%s\n' "W v 0 4096 0 1 1 4096" "R v 0 4096 0 2 2 4096" "R u 0 4096 0 3 3 4096" > a
	printf '%s\n' "R u 0 4096 0 1 1 4096" "W v 0 4096 0 2 2 4096" "R v 0 4096 0 3 3 4096" > b
	printf '%s\n' "R v 0 4096 0 1 1 4096" "R u 0 4096 0 2 2 4096" "W v 0 4096 0 3 3 4096" > c
	printf '%s\n' "W v 0 4096 0 1 1 4096" "R v 0 4096 0 2 2 4096" "R u 1 4095 0 3 3 4095" > d
	run -0 "$blockseq" --compare a b
	[ "$output" = "legal, requests moved: 3" ]
	run -1 "$blockseq" --compare a c
	[ "${lines[0]}" = "read after write, the other way round in c:" ]
	[ "${lines[1]}" = "  W v 0 4096  a:1  c:3" ]
	[ "${lines[2]}" = "  R v 0 4096  a:2  c:1" ]
	run -1 "$blockseq" --compare a d
	[ "$output" = "missing: R u 0 4096  a:3" ]
	head -n 2 a > e
	run -1 "$blockseq" --compare e a
	[ "$output" = "too many: R u 0 4096  a:3" ]
}

@test "bad traces and bad options are refused with a reason" {
	printf '# spindle-trace/1\nR v 0 1\n' > bad
	run -2 "$blockseq" bad
	[ "$output" = "blockseq: bad: line 2: prio is not an I/O priority" ]
	seq 3 > numbers
	run -2 "$blockseq" numbers
	[ "$output" = "blockseq: numbers: line 1: op is neither R nor W; xsort, xjoin and others write a trace with --trace=FILE" ]
	run -2 "$blockseq" nosuch
	[ "$output" = "blockseq: nosuch: No such file or directory" ]
	run -2 "$blockseq"
	[[ $output == *"missing trace"* ]]
	run -2 "$blockseq" --compare bad
	[[ $output == *"missing trace"* ]]
	run -2 "$blockseq" bad bad
	[[ $output == *"extra operand: 'bad'"* ]]
	run -2 "$blockseq" --policy=opt bad
	[[ $output == *"need --cache"* ]]
	run -2 "$blockseq" --cache=1K bad
	[[ $output == *"less than a page"* ]]
	run -2 "$blockseq" --cache=4KB bad
	[[ $output == *"argument '4KB': valid sizes are such as 512b, 4K, "* ]]
	run -2 "$blockseq" --cache=1 --policy=fifo bad
	[[ $output == *"invalid argument"*"opt"* ]]
	run -2 "$blockseq" --compare --cache=1 bad bad
	[[ $output == *"--compare and --cache are incompatible"* ]]
	run -2 "$blockseq" --compare --refine=file bad bad
	[[ $output == *"--compare and --refine are incompatible"* ]]
	run -2 "$blockseq" --window=3 bad
	[[ $output == *"--window needs --refine"* ]]
}

@test "a full disk is an error" {
	[ -w /dev/full ] || skip "there is no /dev/full"
	echo "W v 0 4096 0 1 2 4096" > t
	run -2 bash -c '"$0" t > /dev/full' "$blockseq"
	[[ $output == *"write error"* ]]
}

# Four runs of one page, merged two at a time: tables 1 and 2 of Wang & Cherniack.
# The count ends with the last write of temporary data, before the final merge.
sort_four_runs()
{
	local i

	for i in 4 3 2 1; do
		printf '%d%4095s' "$i" "" > "run$i"
	done
	"$xsort" --record-size=4096 --page-size=4K --run-size=8K --fan-in=2 --run-formation=load \
		--merge-policy="$1" --recycle="$2" --readahead=none --engine=sync --parallel=1 \
		--trace="$1" -T . -o sorted run4 run3 run2 run1
	counted=$(awk '!/^#/ && $8 > 0 { n++ } /^W \. / { last = n } END { print last }' "$1")
}

@test "wc06.tab1, tab2: xsort's requests are those the paper counts" {
	sort_four_runs lazy none
	[ "$("$blockseq" --cache=3 --first="$counted" lazy | value transfers)" = 14 ]
	[ "$("$blockseq" --cache=3 --first="$counted" --policy=opt lazy | value transfers)" = 7 ]
	sort_four_runs eager all
	[ "$("$blockseq" --cache=3 --first="$counted" eager | value transfers)" = 6 ]
	[ "$("$blockseq" --cache=3 --first="$counted" --policy=opt eager | value transfers)" = 5 ]
	[[ $("$blockseq" eager) == *"overwritten               16.0 KiB"* ]]
}

@test "a trace without requests is an error" {
	: >empty
	printf '# spindle-trace/1\n' >bare
	echo 'R v 0 4096 0 0 10 4096' >one
	for trace in empty bare; do
		run -2 "$blockseq" $trace
		[ "$output" = "blockseq: $trace: has no requests" ]
		run -1 "$blockseq" --compare one $trace
		run -2 "$blockseq" --compare $trace empty
		[ "$output" = "blockseq: $trace: neither trace has requests" ]
	done
	run -2 "$blockseq" - </dev/null
	[ "$output" = 'blockseq: standard input: has no requests' ]
}

# A gnuplot that keeps its script, and makes a picture of one line.
fake_gnuplot()
{
	mkdir -p fake
	printf '#!/bin/sh\ncat >>"%s/script"\necho picture\n' "$PWD" >fake/gnuplot
	chmod +x fake/gnuplot
}

@test "a picture has every request, or a limited number of points, and the outstanding requests" {
	needs python3
	fake_gnuplot
	for n in 1000 30000; do
		rm -f script
		python3 "$BATS_TEST_DIRNAME/traceplot.py" make t $n
		PATH=$PWD/fake:$PATH run -0 "$blockseq" --plot=p.png t
		[ "$(cat p.png)" = picture ]
		run -0 python3 "$BATS_TEST_DIRNAME/traceplot.py" check script t
	done
	grep -q 'points$' <<<"$(sed -n "s/^what = '\(.*\)'/\1/p" script)"
}

@test "a picture of a trace with one request has its axes, units and legend" {
	needs gnuplot
	printf '%s\n' "R /dev/it's 4096 8192 0 1000 250000 8192" "R v 0 1 0 1 2 -5" >t
	for suffix in png svg pdf; do
		run -0 --separate-stderr "$blockseq" --plot=p.$suffix t
		[ -z "$stderr" ]
	done
	[ "$(head -c 4 p.png | tail -c 3)" = PNG ]
	[ "$(head -c 4 p.pdf)" = %PDF ]
	for text in 't: 1 request, and 1 that failed or moved no bytes, which are not drawn' \
		'>read<' 'position, KB' 'time, µs' 'Outstanding requests' '>requests<' '>maximum<' '>mean<'; do
		grep -qF "$text" p.svg || { echo "$text"; false; }
	done
	run -1 grep '>write<' p.svg
}

@test "volumes beyond the sixth share a plot" {
	needs gnuplot
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "W v$i $((i * 4096)) 4096 0 $i $((i + 10)) 4096"
	done >t
	echo "R v9 0 4096 0 5 15 4096" >>t
	"$blockseq" --plot=p.svg t >/dev/null
	[ "$(grep -c 'position, ' p.svg)" = 6 ]
	grep -q '>v9: 1 read, 1 write<' p.svg
	grep -q '4 other volumes: 0 reads, 4 writes' p.svg
}

@test "a picture is neither drawn of a comparison nor of other times, nor over the trace" {
	needs gnuplot
	echo "R v 0 4096 0 1 2 4096" >t
	run -2 "$blockseq" --compare --plot=p.png t t
	[[ $output == *"--compare does not draw"* ]]
	run -2 "$blockseq" --refine=file --plot=p.png t
	[[ $output == *"--plot draws the times of the trace"* ]]
	cp t t.svg
	run -2 "$blockseq" --plot=t.svg t.svg
	[ "$output" = "blockseq: t.svg: --plot would overwrite it" ]
	cmp t t.svg
	run -2 "$blockseq" --plot=p.jpg t
	[[ $output == *"does not end in .png, .svg or .pdf" ]]
	[ ! -e p.png ]
}
