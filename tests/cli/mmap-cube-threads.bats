#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# mmap-cube with several threads: the same bytes and messages as with one.
# SP_TEST_FULL=1: more numbers of threads.
. "$BATS_TEST_DIRNAME/suite.bash"

full=${SP_TEST_FULL:-}

# 3.4 MB: 88 x 67 x 145 elements of 4 bytes, in tiles that do not divide the sides.
raw()
{
	"$xgen" records --records=34197 --seed=3 | head -c 3419680 > in.raw
}

# empty NAME [OPTION]...: makes an empty cube
empty()
{
	rm -f "$1"
	"$cube" create "$@" --dims=88x67x145 --dtype=u32 --mapping=naive
}

@test "a load has the same bytes with any number of threads, from a file and from a pipe" {
	raw
	for form in "" --big-endian --order=2,0,1; do
		empty one
		"$cube" load --parallel=1 $form one in.raw
		for threads in $(few 2 3 8 16); do
			empty many
			"$cube" load --parallel=$threads $form many in.raw
			cmp one many
			empty many
			"$cube" load --parallel=$threads $form many - < <(cat in.raw)
			cmp one many
		done
	done
}

@test "a load with little memory has the same bytes" {
	raw
	empty one
	"$cube" load --parallel=1 one in.raw
	for threads in $(few 2 16); do
		empty many
		"$cube" load -S 512K --parallel=$threads many in.raw
		cmp one many
	done
}

@test "several threads find the first damaged extent" {
	raw
	empty one
	"$cube" load --parallel=1 one in.raw
	for at in 900000 2500000; do
		printf x | dd of=one bs=1 seek=$at conv=notrunc status=none
	done
	run -1 "$cube" check --parallel=1 one
	expected=$output
	for threads in ${full:+2} 3 16; do
		run -1 "$cube" check --parallel=$threads one
		[ "$output" = "$expected" ]
	done
	[[ "$output" == *"2 damaged"* ]]
}

@test "an append has the same bytes with any number of threads" {
	raw
	empty start
	"$cube" load --parallel=1 start in.raw
	for threads in 1 $(few 3 16); do
		cp start many$threads
		"$cube" append --parallel=$threads --dim=1 many$threads in.raw
		cmp many1 many$threads
	done
}

# 200,000 lines in random order, 43,000 of which name an element again
lines()
{
	awk 'BEGIN { srand(5); for (i = 0; i < 200000; i++)
		printf "%d,%d,%d,%d\n", rand() * 88, rand() * 67, rand() * 145, i }' > in.csv
}

@test "a load from CSV has the same bytes with any number of threads and any memory" {
	lines
	empty one
	"$cube" load --parallel=1 one in.csv
	awk -F, '{ last[$1 "," $2 "," $3] = $4 } END { for (x in last) print x "," last[x] }' in.csv |
		sort > expected
	"$cube" export --format=csv one | grep -v ',0$' | sort > got
	grep -v ',0$' expected | cmp - got
	for threads in $(few 2 3 8 16); do
		empty many
		"$cube" load --parallel=$threads many in.csv
		cmp one many
		empty many
		"$cube" load -S 3M --parallel=$threads --format=csv many - < <(cat in.csv)
		cmp one many
	done
}

@test "sums of a roll-up do not depend on the number of threads" {
	lines
	for threads in 1 ${full:+2} 16; do
		rm -f many
		"$cube" create many --dims=9x67x15 --dtype=f32 --mapping=naive
		"$cube" load --parallel=$threads --rollup=0:10 --rollup=2:10 many in.csv
		[ -e one ] || cp many one
		cmp one many
	done
}

@test "lines that change a complete cube have the same result with any number of threads" {
	raw
	lines
	for threads in 1 ${full:+2} 16; do
		empty many
		"$cube" load --parallel=$threads many in.raw
		"$cube" load --parallel=$threads many in.csv
		[ -e one ] || cp many one
		cmp one many
	done
}

@test "the first invalid line is reported, with any number of threads" {
	lines
	sed '100,109s/.*/ \t/; 190000s/,/;/; 150000s/^[^,]*/88/' in.csv > bad.csv
	for threads in 1 ${full:+2} 16; do
		empty many
		run -2 "$cube" load --parallel=$threads many bad.csv
		[[ $output == *"bad.csv: line 150000: coordinate 88 of dimension 0 is not below 88" ]]
		run -2 "$cube" load --parallel=$threads --format=csv many - < <(cat bad.csv)
		[[ $output == *"-: line 150000: "* ]]
		sed 149999q bad.csv > good.csv
		run -0 "$cube" load --parallel=$threads many good.csv
		[[ $output == *"10 blank"* ]]
	done
}

@test "a header after many blank lines is skipped, and an unclosed one is refused" {
	lines
	yes "" | head -n 400000 > blank
	for threads in $(few 1 16); do
		empty many
		(cat blank; echo '"x
y",y,z,value'; cat in.csv; printf '1,2,3,4') > good.csv
		"$cube" load --parallel=$threads many good.csv
		[ "$("$cube" get many 1,2,3)" = 4 ]
		(cat blank; echo '"x,y,z,value'; cat in.csv) > bad.csv
		run -2 "$cube" load --parallel=$threads many bad.csv
		[[ $output == *"line 400001: "* ]]
	done
}

# exported THREADS FORMAT FILE [OPTION]...: writes the box to FILE, by a pipe and behind other bytes
exported()
{
	local threads=$1 format=$2 to=$3
	shift 3
	"$cube" range one --parallel="$threads" --format="$format" -o "$to" "$@"
	"$cube" range one --parallel="$threads" --format="$format" "$@" | cmp - "$to"
	echo before > around
	{ "$cube" range one --parallel="$threads" --format="$format" "$@"; echo after; } >> around
	{ echo before; cat "$to"; echo after; } | cmp - around
	echo before > around
	{ cat before; "$cube" range one --parallel="$threads" --format="$format" "$@"; echo after; } > around
	{ cat before "$to"; echo after; } | cmp - around
}

@test "a box is written with the same bytes with any number of threads, to files and pipes" {
	raw
	echo begin > before
	empty one
	"$cube" load one in.raw
	for box in "" "--lo=3,5,7 --hi=81,67,141 --stride=3,1,2" "--lo=5,5,5 --hi=6,6,6"; do
		for format in raw npy csv; do
			rm -f expected
			exported 1 $format expected $box
			for threads in $(few 2 3 8 16); do
				rm -f got
				exported $threads $format got $box
				cmp expected got
				rm -f got
				"$cube" range one -S 512K --parallel=$threads --format=$format -o got $box
				cmp expected got
			done
		done
	done
	"$cube" export --parallel=16 --format=raw one | cmp - in.raw
	"$cube" range one --parallel=16 --format=csv --lo=1,2,3 --hi=2,3,4 > got
	[ "$(cat got)" = "1,2,3,$("$cube" get one 1,2,3)" ]
}

@test "points are written with the same bytes with any number of threads" {
	lines
	"$cube" create one --dims=88x67x145 --dtype=u32 --points --mapping=naive
	"$cube" load --parallel=16 one in.csv
	for format in raw csv; do
		"$cube" export --parallel=1 --format=$format one > expected
		for threads in $(few 2 16); do
			"$cube" export --parallel=$threads --format=$format -o got one
			cmp expected got
			rm got
		done
	done
	sort in.csv > lines
	sort expected | cmp - lines
}

@test "a full device is an error, with any number of threads" {
	raw
	empty one
	"$cube" load one in.raw
	for threads in 1 ${full:+2} 16; do
		for format in raw csv; do
			run -2 bash -c "'$cube' export --parallel=$threads --format=$format one > /dev/full"
			[[ $output == *"No space left on device" ]]
			run -2 bash -c "ulimit -f 1024; '$cube' export --parallel=$threads --format=$format -o big one"
			[[ $output == *"File too large" ]]
			[ ! -e big ]
		done
	done
}
