#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# xindex with several threads: the same bytes and messages as with one.
. "$BATS_TEST_DIRNAME/suite.bash"

# same_index FILE [OPTION]...: the index is the same with any number of threads and with little memory
same_index()
{
	local file=$1
	shift
	"$xindex" build --parallel=1 "$@" -o one.idx "$file"
	for threads in $(few 2 3 8 16); do
		"$xindex" build --parallel=$threads "$@" -o many.idx "$file"
		cmp one.idx many.idx
		"$xindex" build -S 3M --parallel=$threads "$@" -o many.idx "$file"
		cmp one.idx many.idx
		"$xindex" check --parallel=$threads one.idx
	done
	"$xindex" build -S 512K --parallel=16 "$@" -o many.idx "$file"
	cmp one.idx many.idx
}

@test "an index of lines is the same with any number of threads" {
	"$xgen" lines -n 120000 --words=3 > in
	printf 'the last line has no end' >> in
	same_index in
	same_index in -k2,2
	same_index in --header=3 --page-size=512
}

@test "an index of fixed records is the same with any number of threads" {
	"$xgen" records --bytes=6M --order=few > in
	same_index in --record-size=100 -k0:10
	"$xgen" runs -n 60000 --record-size=64 > in
	same_index in --record-size=64 -k0:8
}

@test "an index of CSV is the same with any number of threads, wherever lines end within quotes" {
	awk 'BEGIN { srand(4); for (i = 0; i < 60000; i++)
		printf "%d,\"a\n%d,b\n\"\"%d\",%s\n", rand() * 9999, i, i, i % 7 ? "x" : "\"\n\n\"" }' > in
	same_index in --csv -k1,1n
	{ echo '"k
ey",text,rest'; cat in; } > headed
	same_index headed --csv --header -k2,2
	# Almost all of it is one field, so that every cut is wrong.
	{ printf '1,"'; yes '"",5,""' | head -n 200000; echo '",1'; cat in; } > odd
	same_index odd --csv -k1,1n
}

@test "a trace has the requests for CSV that is read in order after a wrong cut" {
	{ seq -f '%.0f,"text ""1"""' 20000; echo '0,"'; yes 'x,""y""' | head -n 300000; echo '"'; seq -f '%.0f,"last"' 20000; } > odd
	for threads in $(few 1 16); do
		"$xindex" build --csv -k1,1n --parallel=$threads --trace=trace -o odd.idx odd
		awk '$1 == "R" { bytes += $NF } END { print bytes }' trace | cmp - <(stat -c %s odd)
	done
}

@test "lines of a text, too long for keys, are no records" {
	{ printf '1,"'; yes "$(printf 'x%.0s' {1..1300}),b" | head -n 2000; echo '"'; seq -f '%.0f,c' 2 9; } > odd
	for threads in $(few 1 2 3 8 16); do
		"$xindex" build --csv -k1,1 --parallel=$threads -o odd.idx odd
		"$xindex" lookup odd.idx 9 | cmp - <(echo 9,c)
	done
}

@test "the first record that is too long for an index is reported, with any number of threads" {
	"$xgen" lines -n 120000 --words=3 > in
	sed -i "7000s/^/$(printf 'x%.0s' {1..1200})/; 100000s/^/$(printf 'y%.0s' {1..1300})/" in
	at=$(head -n 6999 in | wc -c)
	for threads in $(few 1 2 16); do
		run -2 "$xindex" build --parallel=$threads -o bad.idx in
		[[ $output == *"record at byte $at has a key of"* ]]
		[ ! -e bad.idx ]
	done
}

@test "several threads find a source that has changed, and an index that does not match it" {
	"$xgen" lines -n 120000 --words=3 > in
	"$xindex" build -k1,1 -o in.idx in
	cp -p in before
	for at in 10 1000000; do
		cp -p before in
		printf x | dd of=in bs=1 seek=$at conv=notrunc status=none
		touch -r before in
		for threads in $(few 1 2 16); do
			run -1 "$xindex" check --parallel=$threads in.idx
			[[ $output == *"has changed, though not its size or time"* ]]
		done
	done
}

@test "several threads report the first damaged page" {
	"$xgen" lines -n 120000 --words=3 > in
	"$xindex" build -k1,1 --page-size=512 -o in.idx in
	pages=$(($(wc -c < in.idx) / 512))
	[ $pages -gt 2000 ]
	for page in $((pages * 2 / 3)) $((pages / 3)); do
		printf '\377' | dd of=in.idx bs=1 seek=$((page * 512 + 300)) conv=notrunc status=none
		run -1 "$xindex" check --parallel=1 in.idx
		expected=$output
		[[ $output == *"$page"* ]]
		for threads in $(few 2 3 16); do
			run -1 "$xindex" check --parallel=$threads in.idx
			[ "$output" = "$expected" ]
		done
	done
}
