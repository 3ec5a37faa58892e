#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xjoin, except the cases of xjoin-gnu.t, which are compared with GNU join.
# no threads
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

setup()
{
	export LOCPATH=$BATS_TEST_DIRNAME/../../build/locale
	begin_test
}

@test "-t takes a character of several bytes" {
	export LC_ALL=C.UTF-8
	for s in × – 𐏐; do
		printf "0${s}A\n1${s}a\n2${s}b\n4${s}c\n" >a
		printf "0${s}B\n1${s}d\n3${s}e\n4${s}\n" >b
		run -0 "$xjoin" --algorithm=merge -t "$s" -a1 -a2 -e none -o 0,1.2,2.2 a b
		[ "$output" = "0${s}A${s}B
1${s}a${s}d
2${s}b${s}none
3${s}none${s}e
4${s}c${s}none" ]
	done
	run -1 "$xjoin" -t ×× a b
	[[ $output == *"multi-character tab"* ]]
}

@test "key fields beyond any number are fields that are not there" {
	echo a >a
	echo b >b
	run -0 "$xjoin" -1 18446744073709551616 -2 2 a b
	[ "$output" = " a b" ]
}

@test "groups that go over many reads" {
	seq -f 'k %g' 200000 >a
	{ echo "k x"; echo "k y"; } >b
	"$xjoin" --algorithm=merge a b >pairs
	seq 200000 | awk '{ print "k", $1, "x"; print "k", $1, "y" }' | cmp - pairs
	"$xjoin" --algorithm=merge b a >pairs
	{ seq -f 'k x %g' 200000; seq -f 'k y %g' 200000; } | cmp - pairs
}

@test "lines longer than any buffer" {
	head -c 3000000 /dev/zero | tr '\0' x >long
	{ printf 'a '; cat long; echo; printf 'b '; cat long; echo; } >a
	printf 'a 1\nb 2\n' >b
	"$xjoin" --algorithm=merge a b >pairs
	{ printf 'a '; cat long; echo ' 1'; printf 'b '; cat long; echo ' 2'; } | cmp - pairs
}

@test "inputs that come slowly" {
	run -0 "$xjoin" --algorithm=merge <(sleep 0.2; echo a 1; sleep 0.2; echo b 2) <(echo a x; sleep 0.1; echo b y)
	[ "$output" = $'a 1 x\nb 2 y' ]
}

@test "pipes may be opened and filled in any order" {
	mkfifo a b
	seq 10 >few
	seq -f '%g x' 0 3 300000 >many
	for way in "a few b many" "a many b few" "b few a many" "b many a few"; do
		read -r one its _ theirs <<<"$way"
		{
			exec 3>a 4>b
			[ "$one" = a ] || { exec 5>&3 3>&4 4>&5 5>&-; }
			cat "$its" >&3
			exec 3>&-
			sleep 0.3 # it is seen before the other one ends, on a busy machine too
			cat "$theirs" >&4
		} &
		timeout 30 "$xjoin" --stats=r.json -o 0 a b >out
		wait $!
		printf '3\n6\n9\n' | cmp - <(sort out)
		# The one that ends first builds.
		grep -q "\"build_input\": $([ "$one" = a ] && echo 1 || echo 2)," r.json
	done
	{ exec 3>a 4>b; echo k 1 >&3; echo k 2 >&4; } &
	run -0 timeout 30 "$xjoin" --algorithm=merge a b
	[ "$output" = "k 1 2" ]
	wait $!
}

@test "nothing goes to temporary space for an empty file" {
	seq -f '%g some text behind the key' 100000 >big
	: >empty
	for files in "big empty" "empty big" "big /dev/null"; do
		# shellcheck disable=SC2086
		"$xjoin" -S 512K -a1 -a2 --stats=r.json $files | sort -n | cmp - big
		grep -A9 '"spill"' r.json | grep -q '"write_bytes": 0'
	done
}

# Lines of both files by GNU sort and join, sorted.
expected() # OPTIONS... FILE1 FILE2, keys in the first field
{
	local n=$(($# - 2))

	join --nocheck-order "${@:1:n}" <(sort -t'|' -k1,1 "${@:n+1:1}") \
		<(sort -t'|' -k1,1 "${@:n+2:1}") | sort
}

tables()
{
	seq 0 7 300000 | awk '{ print ($1 * 7919) % 50000 "|" $1 "|left side of the pair" }' >l
	seq 0 3 150000 | awk '{ print ($1 * 104729) % 60000 "|right " $1 "|" }' >r
}

@test "inputs in no order, in any memory" {
	tables
	expected -t'|' l r >want
	[ -s want ]
	for options in "-S 512K" "-S 1M --build=1" "-S 4M --build=2" "-S 64M" "-S 1M --algorithm=grace" \
		"-S 1M --algorithm=shj" "-S 512K --algorithm=shj --direct" "-S 64M --algorithm=shj --build=2" \
		"-S 512K --algorithm=nested" "-S 64M --algorithm=nested --build=1" \
		"-S 1M --page-size=4K --join-memory=256K" "-S 2M --seed=5 --engine=sync --direct=never"; do
		# shellcheck disable=SC2086
		"$xjoin" $options -t'|' l r | sort | cmp - want
	done
	"$xjoin" -S 1M -t'|' <(cat l) <(cat r) | sort | cmp - want
	"$xjoin" -S 1M -t'|' - r <l | sort | cmp - want
}

@test "lines without partner, with little memory and much" {
	tables
	for type in "-a1" "-a2" "-a1 -a2" "-v1" "-v2" "-v1 -v2"; do
		# shellcheck disable=SC2086
		expected -t'|' $type -o 0,1.2,2.2 -e none l r >want
		[ -s want ]
		for memory in 512K 64M; do
			for build in 1 2; do
				# shellcheck disable=SC2086
				"$xjoin" -S "$memory" --build="$build" -t'|' $type -o 0,1.2,2.2 -e none l r |
					sort | cmp - want
			done
		done
	done
}

@test "--type" {
	printf '1 a\n2 b\n2 c\n3 d\n' >l
	printf '2 x\n2 y\n3 z\n4 w\n' >r
	run -0 bash -c '"$0" --type=inner l r | sort' "$xjoin"
	[ "$output" = $'2 b x\n2 b y\n2 c x\n2 c y\n3 d z' ]
	run -0 bash -c '"$0" --type=left -o 0,2.2 l r | sort' "$xjoin"
	[ "$output" = $'1 \n2 x\n2 x\n2 y\n2 y\n3 z' ]
	run -0 bash -c '"$0" --type=right -o 0,1.2 l r | sort' "$xjoin"
	[ "$output" = $'2 b\n2 b\n2 c\n2 c\n3 d\n4 ' ]
	run -0 bash -c '"$0" --type=full -o 0 l r | sort' "$xjoin"
	[ "$output" = $'1\n2\n2\n2\n2\n3\n4' ]
	for build in 1 2; do
		run -0 bash -c '"$0" --type=semi --build="$1" l r | sort' "$xjoin" "$build"
		[ "$output" = $'2 b\n2 c\n3 d' ]
		run -0 bash -c '"$0" --type=anti --build="$1" l r | sort' "$xjoin" "$build"
		[ "$output" = "1 a" ]
	done
	run -1 "$xjoin" --type=outer l r
	[[ $output == *"invalid argument"* ]]
}

@test "a key of which there is more than memory" {
	seq -f 'k %06g some text that makes the line longer' 20000 >l
	{ echo "k x"; echo "other y"; seq -f 'n%g z' 30000; } >r
	seq -f 'k %06g' 20000 >want
	for build in 1 2; do
		"$xjoin" -S 512K --build="$build" -o 0,1.2 l r | sort | cmp - want
		"$xjoin" -S 512K --build="$build" -v1 -v2 -o 2.2 l r | sort | uniq -c | awk '{ print $1, $2 }' >alone
		printf '1 y\n30000 z\n' | cmp - alone
		"$xjoin" -S 512K --build="$build" --type=semi -o 0,1.2 l r | sort | cmp - want
	done
	"$xjoin" -S 512K --algorithm=grace -v1 -o 0 l r | cmp - /dev/null
}

@test "one key whose lines fill memory only with the gaps between them" {
	awk 'BEGIN { while (n++ < 100) printf "7 %02100d\n", n }' >one
	awk 'BEGIN { while (n++ < 200) printf "7 %02100d\n", n }' >two
	for how in hybrid grace shj; do
		"$xjoin" -o 0 --algorithm=$how --page-size=4K --join-memory=256K --build=1 one two >got
		[ "$(wc -l <got)" -eq 20000 ]
	done
}

@test "keys of several fields" {
	printf 'a:b:1\nab::2\na:c:3\n' >l
	printf 'x:b:a\ny::ab\nz:c:a\nw:ab:\n' >r
	run -0 bash -c '"$0" -t: -1 1,2 -2 3,2 l r | sort' "$xjoin"
	[ "$output" = $'a:b:1:x\na:c:3:z\nab::2:y' ]
	run -0 bash -c '"$0" -t: -1 1,2 -2 3,2 -o 2.1,0 l r | sort' "$xjoin"
	[ "$output" = $'x:a:b\ny:ab:\nz:a:c' ]
	run -1 "$xjoin" -1 1,2 -2 3 l r
	[[ $output == *"different numbers of fields"* ]]
	run -1 "$xjoin" --algorithm=merge -j 1,2 l r
	[[ $output == *"invalid field number: '1,2'" ]]
	run -1 "$xjoin" -1 1, -2 1,2 l r
}

@test "--ignore-case and --csv" {
	printf 'ABC 1\nxyz 2\n' >l
	printf 'abc 3\nXYZ 4\n' >r
	run -0 bash -c '"$0" -i l r | sort' "$xjoin"
	[ "$output" = $'ABC 1 3\nxyz 2 4' ]
	printf '"a,b",1,"x, y"\nplain,2,"say ""hi"""\n' >l
	printf '1,"a,b"\n2,"plain"\n3,"""hi"\n' >r
	run -0 bash -c '"$0" --csv -2 2 l r | sort' "$xjoin"
	[ "$output" = $'"a,b",1,"x, y",1\nplain,2,"say ""hi""",2' ]
	run -0 bash -c '"$0" --csv -1 3 -2 2 -v2 l r | sort' "$xjoin"
	[ "${#lines[@]}" = 3 ]
	run -1 "$xjoin" --csv --algorithm=merge l r
}

@test "--header and -o auto without sorting" {
	printf 'id name\n2 b\n1 a\n' >l
	printf 'id colour size\n1 red\n3 blue 4\n' >r
	run -0 "$xjoin" --header l r
	[ "$output" = $'id name colour size\n1 a red' ]
	run -0 bash -c '"$0" --header -o auto -e - -a1 -a2 l r | sort' "$xjoin"
	[ "$output" = $'1 a red -\n2 b - -\n3 - blue 4\nid name colour size' ]
	run -0 "$xjoin" --header l /dev/null
	[ "$output" = "id name" ]
}

@test "--output appears whole or not at all, and may be an input" {
	tables
	cp l in
	"$xjoin" -t'|' l r | sort >want
	"$xjoin" -t'|' --output=in in r
	sort in | cmp - want
	run -1 "$xjoin" -t'|' --output=new l nowhere
	[ ! -e new ]
	run -1 "$xjoin" --algorithm=merge --output=new <(printf 'a\nc\nb\n') <(echo b)
	[ ! -e new ]
	[ -z "$(find . -name 'new.*')" ]
	# In place, an input would be emptied before it is read.
	ln in other
	for way in "in r" "r other" "--algorithm=merge --nocheck-order in r"; do
		# shellcheck disable=SC2086
		run -1 "$xjoin" -t'|' --output=in $way
		[ "$output" = "xjoin: in: an input cannot be written in place" ]
		sort other | cmp - want
	done
	"$xjoin" -t'|' --output=in l r
	sort other | cmp - want
	run -1 "$xjoin" --output=nowhere/new l r
	[[ $output == *"nowhere/new: No such file or directory" ]]
}

@test "a signal leaves no file" {
	tables
	mkfifo in
	sleep 30 >in &
	writer=$!
	"$xjoin" --output=new in r &
	joiner=$! status=0
	begun() { find . -name 'new*'; find "/proc/$joiner/fd" -lname "$PWD/#*"; }
	for ((i = 0; i < 100; i++)); do
		[ -z "$(begun)" ] || break
		sleep 0.1
	done
	[ -n "$(begun)" ]
	kill -TERM $joiner
	wait $joiner || status=$?
	kill $writer
	[ "$status" = 143 ]
	[ -z "$(find . -name 'new*')" ]
}

@test "texts that the locale calls equal are equal keys where l follows" {
	[ -d "$LOCPATH/en_US.UTF-8" ] || skip "needs the locale en_US.UTF-8 in build/locale"
	# Code points that are not assigned weigh alike; the last two lines have NULs inside.
	printf 'a\315\270 1\nb 2\na\315\270\0b 3\na\315\270\0c 4\n' >l
	printf 'a\315\271 x\nB y\na\315\271\0b z\n' >r
	printf 'a\315\270\0b 3 z\na\315\270 1 x\n' >want
	LC_ALL=en_US.UTF-8 "$xjoin" --algorithm=hybrid -t' ' -1 1l l r | sort | cmp - want
	LC_ALL=en_US.UTF-8 "$xjoin" -t' ' -1 1,1l -2 1,1l l r | wc -l | grep -qx 0
	LC_ALL=C "$xjoin" -t' ' -1 1l l r | wc -l | grep -qx 0
	run -1 "$xjoin" -1 1nl l r
	[[ $output == *"'l' applies to text only"* ]]
	run -1 "$xjoin" --algorithm=merge -1 1l l r
}

@test "memory that cannot do is refused" {
	run -1 "$xjoin" --join-memory=1K /dev/null /dev/null
	[[ $output == *"join memory must be at least 64 pages"* ]]
	for size in 0 5000 32M 4G; do
		run -1 "$xjoin" --page-size=$size /dev/null /dev/null
		[ "$output" = "xjoin: --page-size must be a multiple of 4096 bytes and at most 16 MiB" ]
	done
	run -1 "$xjoin" --check-order --algorithm=hybrid /dev/null /dev/null
	[[ $output == *incompatible* ]]
}

@test "an engine that is none is refused, even if no request would be made" {
	run -1 "$xjoin" --engine=steam /dev/null /dev/null
	[ "${lines[0]}" = "xjoin: invalid argument 'steam' for '--engine'" ]
	[[ $output == *"- 'io_uring'"* ]]
	for name in io_uring libaio sync null auto; do
		run -0 "$xjoin" --engine=$name /dev/null /dev/null
	done
}

@test "abbreviations that GNU join accepts have its meaning" {
	printf 'a 1\n' >f
	for word in --i --c --n --z --header --hea; do
		run -0 "$xjoin" "$word" f f
	done
	run -1 "$xjoin" --he f f
	[[ $output == *"possibilities: '--header' '--help'"* ]]
	ln -s "$(realpath "$xjoin")" join
	LD_LIBRARY_PATH=$(dirname "$(realpath "$xjoin")")/../lib run -1 ./join --type=left f f
	[[ $output == *"unrecognized option '--type=left'"* ]]
	LD_LIBRARY_PATH=$(dirname "$(realpath "$xjoin")")/../lib run -1 ./join -S 1M f f
	[[ $output == *"invalid option -- 'S'"* ]]
}

@test "the keys of a real report are those of the golden list" {
	needs python3
	tables
	"$xjoin" -S 1M -t'|' --max-outstanding=9 --stats=r.json l r >out
	python3 - r.json <<'P'
import json, sys

d = json.load(open(sys.argv[1]))
assert d["result"]["records_1"] == 42858 and d["result"]["records_2"] == 50001
assert d["result"]["output_records"] == len(open("out").readlines())
assert d["spill"]["write_bytes"] > 0 and d["result"]["partitions"] > 1
parted = d["phases"][0]["elapsed_s"] + d["phases"][1]["elapsed_s"]
assert parted < d["prediction"]["elapsed_s"] < 60
assert parted < d["prediction"]["revised_elapsed_s"] < 60
P
	has_keys r.json prediction result.no_effect[]
}

@test "repeated passes of nested loops are predicted: bytes at the pace of partitioning" {
	needs jq
	for side in 7919 104729; do
		seq 150000 | awk -v m=$side '{ printf "%d|%060d\n", $1 * m % 150011, $1 }' >n$side
	done
	reported()
	{
		"$xjoin" -S 1536K -t'|' --algorithm=nested --direct=never --stats=r.json n7919 n104729 >out &&
			jq -e '.phases as $p | .prediction.revised_elapsed_s - $p[0].elapsed_s - $p[1].elapsed_s |
				. > $p[2].elapsed_s / 2' r.json
	}
	# One of three is not stopped in the middle.
	reported || reported || reported
	# Time in which it was stopped, or others ran, can only make them more.
	python3 - r.json <<'P'
import json, sys

d = json.load(open(sys.argv[1]))
r, s, phases = d["result"], d["spill"], d["phases"]
parted = phases[0]["elapsed_s"] + phases[1]["elapsed_s"]
pace = parted / (r["input_1_bytes"] + r["input_2_bytes"] + s["write_bytes"])
reported = (d["prediction"]["elapsed_s"] - parted) / pace
assert r["nested_blocks"] > 8
assert reported > 0.8 * (s["read_bytes"] + r["output_bytes"]), reported
P
}

@test "--explain prints the plan and does nothing" {
	seq 300000 >big
	seq 10 >small
	run -0 --separate-stderr "$xjoin" --explain --details --algorithm=hybrid -S 1M --build=1 big small
	[ -z "$output" ]
	# shellcheck disable=SC2154 # run sets it
	[[ $stderr == "Estimates, made before the join:"*"File 1, big, is read first"*"partitions go to temporary files"* ]]
	# shellcheck disable=SC2154 # run sets it
	[[ $stderr == *"build input"*1* && $stderr == *"partitions"* ]]
	run -0 "$xjoin" --explain --algorithm=hybrid --stats=plan.json -S 1M big big
	grep -q '"schema": "spindle.join-plan/1"' plan.json
	has_keys plan.json plan.threads plan.max_threads
	run -0 --separate-stderr "$xjoin" --explain --details --algorithm=merge --page-size=16M -S 1M big small
	[[ $stderr == *"algorithm"*merge* && $stderr != *elapsed* ]]
}

@test "--explain tells of threads without enough memory" {
	seq -w 300000 >sorted
	shuf sorted >mixed
	# threads SOURCE OPTION...: those of the plan, which a join of one stage uses, its own among them
	threads()
	{
		local source=$1 planned

		"$xjoin" --parallel=64 --explain --stats=plan.json "${@:2}"
		planned=$(jq '.plan | select(.max_threads == 64) | .threads' plan.json)
		"$xjoin" --parallel=64 --trace-tasks=log "${@:2}" >/dev/null
		[ $(($(grep -c "\"kind\":\"join/$source:work" log) + 1)) -eq "$planned" ]
		echo "$planned"
	}
	[ "$(threads hash/workers.c -S 1M --algorithm=hybrid mixed mixed)" = 1 ]
	[ "$(threads hash/workers.c -S 64M --algorithm=hybrid mixed mixed)" = 4 ]
	[ "$(threads hash/workers.c -S 256M --algorithm=hybrid mixed mixed)" = 21 ]
	[ "$(threads hash/workers.c -S 1G --algorithm=hybrid mixed mixed)" = 64 ]
	[ "$(threads merge/ranges.c -S 12M --algorithm=merge sorted sorted)" = 4 ]
	# the input is too small for more
	[ "$(threads merge/ranges.c -S 1G --algorithm=merge sorted sorted)" = 4 ]
	run -0 --separate-stderr "$xjoin" --parallel=64 --explain -S 64M mixed mixed
	[[ $stderr == *"Threads: at most 4 of 64"* ]]
	run -0 --separate-stderr "$xjoin" --parallel=64 --explain -S 1G mixed mixed
	[[ $stderr != *"Threads:"* ]]
	# one thread suffices by design
	for option in --limit=3 --volume=sim:linear; do
		"$xjoin" --parallel=64 --explain --stats=plan.json -S 1M $option mixed mixed
		jq -e '.plan | .threads == 1 and .max_threads == 1' plan.json
		fits_schema plan.json
	done
}

@test "--explain predicts the time on a simulated machine, and the plan of what does not fit on it" {
	seq 300000 | awk '{ print $1, "a line of some length", $1 * 7 }' >big
	run -0 "$xjoin" --explain --volume=sim:linear,files=both --algorithm=merge --stats=plan.json big big
	grep -q '"elapsed_s": [1-9]' plan.json
	run -0 "$xjoin" --explain --volume=sim:linear,files=both -S 1M --stats=plan.json big big
	grep -q '"elapsed_s": [1-9]' plan.json
	fits_schema plan.json
	run -0 "$xjoin" --explain --volume=sim:linear -S 1M --limit=5 --stats=plan.json big big
	grep -q '"elapsed_s": null' plan.json
	"$xjoin" --explain --volume=sim:tiny,files=both -S 1M --stats=plan.json big big
	grep -q '"elapsed_s": null' plan.json
	# Sparse files: a dry run record by record, or block by block, would take hours.
	truncate -s 1T huge
	timeout 60 "$xjoin" --explain --volume=sim:flash --algorithm=nested -S 1M --record-size=1 \
		--stats=plan.json huge huge
	grep -q '"elapsed_s": [1-9]' plan.json
}

@test "keys by value" {
	printf '1.50 a\n007 b\n-0 c\nx d\n' >l
	printf '1.5 A\n7 B\n0.0 C\n8 D\n' >r
	run -0 bash -c '"$0" -j 1n l r | sort' "$xjoin"
	[ "$output" = $'-0 c C\n007 b B\n1.50 a A' ]
	printf '1e3 a\n0x10 b\n' >l
	printf '1000 A\n16.0 B\n' >r
	run -0 bash -c '"$0" -j 1g l r | sort' "$xjoin"
	[ "$output" = $'0x10 b B\n1e3 a A' ]
	printf '2K,Jan,x\n' >l
	printf 'X,2K,JANUARY\nX,2000,january\n' >r
	run -0 "$xjoin" -t, -1 1h,2M,3f -2 2,3,1 l r
	[ "$output" = "2K,Jan,x" ]
	run -0 "$xjoin" --csv -1 3f -2 1 -o 1.3,2.3 l r
	[ "${#lines[@]}" = 2 ]
	run -1 "$xjoin" -1 1n -2 1M l r
	[[ $output == *"different types"* ]]
	run -1 "$xjoin" -1 1q l r
	[[ $output == *"invalid field number: '1q'" ]]
	run -1 "$xjoin" -1 1nM l r
	[[ $output == *incompatible* ]]
	run -1 "$xjoin" --algorithm=merge -1 1n l r
	[[ $output == *"invalid field number: '1n'" ]]
}

@test "keys by value: other texts pair with the same bytes only" {
	printf '0,a\nN/A,b\nabc,c\n,d\n.0,e\n-,f\n x,g\n' >l
	printf '0,A\nN/A,B\nxyz,C\n,D\n.,E\n-,F\nx,G\n' >r
	for letter in n h g M; do
		run -0 bash -c '"$0" -t, -j "1$1" -a1 -a2 l r | LC_ALL=C sort' "$xjoin" $letter
		value=.0,e,A
		[ $letter != M ] || value=.0,e
		[ "$output" = "$(printf '%s\n' ',d,D' '0,a,A' 'N/A,b,B' '-,f,F' '.,E' 'abc,c' ' x,g' \
			'x,G' 'xyz,C' $value | LC_ALL=C sort)" ]
		run -0 bash -c '"$0" -t, -j "1$1" -v2 --algorithm=nested l r | LC_ALL=C sort' \
			"$xjoin" $letter
		[ "$output" = $'.,E\nx,G\nxyz,C' ]
	done
	# Any depth of partitions, another key behind it, and folded texts.
	seq 40000 | sed 's/.*/n&,&/' >l
	seq 40000 -1 1 | sed 's/.*/&,n&/' >r
	[ "$("$xjoin" -t, -S 512K -1 1n,2n -2 2n,1n l r | wc -l)" = 40000 ]
	printf 'n/a\n' >l
	printf 'N/A\n0\n' >r
	[ "$("$xjoin" -j 1nf l r)$("$xjoin" -i -j 1n l r)$("$xjoin" -j 1n l r)" = n/an/a ]
}

@test "the default of -S is within the process's limits, also for small files" {
	[ -z "${SP_TEST_VARIANT:-}" ] || skip "sanitizers need terabytes of addresses"
	for n in 10000 100000; do
		seq $n | LC_ALL=C sort >s
		for limit in "-v 200000" "-d 200000"; do
			# shellcheck disable=SC2086
			(ulimit $limit && "$xjoin" --output=out s s)
			cmp s <(LC_ALL=C sort out)
		done
	done
}

# within BYTES: the memory of the report is at most -S, 16 MiB and these bytes.
within()
{
	jq -e --argjson more "$1" '.memory | .peak_bytes <= .limit_bytes + 16777216 + $more' r.json ||
		{ jq .memory r.json; return 1; }
}

@test "memory stays within -S and 16 MB" {
	[ -z "${SP_TEST_VARIANT:-}" ] || skip "a sanitizer needs memory of its own"
	needs jq
	seq -f '%g some text behind the key' 400000 >l
	{ seq -f '%g other' 0 2 600000; yes 'k the same key' | head -n 200000; } >r
	yes 'k' | head -n 3 >>l
	for options in "-S 512K" "-S 4M" "-S 4M --build=2" "-S 8M --algorithm=grace" "-S 8M --algorithm=shj" "-S 24M" "-S 64M --build=2"; do
		# shellcheck disable=SC2086
		"$xjoin" $options -a1 -o 0 --stats=r.json l r | wc -l >lines
		[ "$(cat lines)" = "$((400000 + 600000))" ]
		within 0
	done
}

@test "a huge line takes at most three times its length more" {
	[ -z "${SP_TEST_VARIANT:-}" ] || skip "a sanitizer needs memory of its own"
	needs jq
	seq -f 'k%05g other' 20000 >r
	{ seq -f 'k%05g x' 10000; printf 'k10001 '; head -c 24M /dev/zero | tr '\0' H; echo; seq -f 'k%05g x' 10002 20000; } >l
	sed -n 10001p l >h
	for options in "l r" "r l" "- r" "r -" "--ordered=1 l r" "--ordered=2 - r" "--algorithm=grace l r" "--build=1 l r" \
		"--algorithm=shj - r" "--algorithm=merge l r" "-v1 r l" "-1 2 -2 2 l h" "-S 12M --ordered=2 r l"; do
		# shellcheck disable=SC2086
		"$xjoin" -S 1M --stats=r.json $options <l >/dev/null
		within $((3 * (24 << 20) + 100)) || { echo "$options"; return 1; }
	done
}

# The flags of the temporary file of a join that waits for the reader of its result.
temporary_flags() # ARGUMENT...
{
	local pid fd flags=''

	mkfifo result
	"$xjoin" -S 16M --join-memory=4M -T . "$@" >result &
	pid=$!
	exec 8<result
	while [ -z "$flags" ] && kill -0 $pid; do
		for fd in /proc/"$pid"/fd/*; do
			[[ $(readlink "$fd") != *deleted* ]] || flags=$(grep ^flags "/proc/$pid/fdinfo/${fd##*/}")
		done
	done
	exec 8<&-
	wait $pid || true
	rm result
	echo "$flags"
}

@test "temporary data that the page cache would hold is left to it" {
	[ -d /proc/self/fdinfo ] || skip "no /proc"
	seq -f '%07g some words that make the line a longer one' 1 150000 | shuf --random-source=<(yes) >a
	run -0 temporary_flags --direct=never a a
	[[ $output == *flags* ]]
	never=$output
	run -0 temporary_flags a a
	[ "$output" = "$never" ]
}

@test "sorted files of any size are merged, and unsorted ones are not" {
	local bytes

	seq -w 20000 >all
	for bytes in 600 4002 6000 8190 12000 30000 66000 120000; do
		head -c $bytes all >sorted
		run -0 --separate-stderr "$xjoin" --explain sorted sorted
		[[ $stderr == *"Algorithm: merge"* ]] || { echo "$bytes: $stderr"; false; }
		tac sorted >reversed
		run -0 --separate-stderr "$xjoin" --explain sorted reversed
		[[ $stderr == *"Algorithm: hybrid"* ]] || { echo "$bytes, reversed: $stderr"; false; }
	done
}
