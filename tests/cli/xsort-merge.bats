#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# -m merges sorted files.
. "$BATS_TEST_DIRNAME/suite.bash"

# files N: N files, 10 MB in all, in order by their first byte only.
files()
{
	"$xgen" records --seed=5 --bytes=10M | tr ' ' _ | sed 's/^..\(.\)\(.\)/\1 \2/' >all
	split -a 2 -n "l/$1" all part.
	for file in part.*; do sort -s -k1,1 -o "$file" "$file"; done
}

@test "merging waits for inputs that are slow" {
	for options in --parallel=1 --parallel=2; do
		run -0 "$xsort" $options -m <(sleep 0.2; echo b; sleep 0.2; echo d) <(echo a; echo c)
		[ "$output" = $'a\nb\nc\nd' ]
	done
}

@test "large files, with any number of threads" {
	files 11
	# Whole lines are out of order in each: what comes next is the least of all there are.
	for options in '' -s -u -r '-s -k1,1' '-u -k1,1' '-s -k1,1 -r' '-n -k2'; do
		sort -m $options part.* >want
		for threads in $(few 1 2 3 8); do
			"$xsort" -S 16M --parallel=$threads --stats=stats -m $options -o out part.*
			cmp out want
			"$xsort" -S 16M --parallel=$threads -m $options part.* | cmp - want
			[ "$(sed -n '/"result"/,/}/s/.*"input_bytes": *\([0-9]*\).*/\1/p' stats)" = "$(cat part.* | wc -c)" ]
		done
	done
	"$xsort" -S 16M --parallel=4 -m --limit=1000 -k1,1 -s part.* | cmp - <(sort -s -m -k1,1 part.* | head -n 1000)
}

@test "a reader that goes away ends them; a file may be an input twice, or the output" {
	files 11
	"$xsort" -S 16M --parallel=4 -m part.* | head -n 5 | cmp - <(sort -m part.* | head -n 5)
	sort -m part.* part.aa part.ab >want
	"$xsort" -S 16M --parallel=4 -m part.* part.aa part.ab | cmp - want
	sort -s -k1,1 all >want
	"$xsort" -S 16M --parallel=4 -s -k1,1 -m -o part.ab part.*
	cmp part.ab want
}

@test "a file that is not there, or no disk, is reported" {
	files 11
	rm part.ac
	for threads in $(few 1 2 4); do
		run -2 "$xsort" -S 16M --parallel=$threads -m -o out part.aa part.ab part.ac part.a[d-z]
		[ "$output" = "xsort: cannot read: part.ac: No such file or directory" ]
		[ ! -e out ]
		run -2 "$xsort" -S 16M --parallel=$threads -m --stats=stats -o /dev/full part.*
		[[ $output = *'No space left on device'* ]]
	done
}

@test "any error of the device is reported, that of a damaged block too" {
	local shim

	shim=$(realpath "$build/tests/shim/failcall.so") || skip "no shim in this build"
	files 11
	# A short file is not written by a queue.  84 is EILSEQ.
	head -c 6M all >in
	for at in 1 2 3; do
		for input in in "-m part.aa part.ab part.ac part.ad"; do
			run -2 env FAILCALL_CALLS=pwrite FAILCALL_ERRNO=84 FAILCALL_AT=$at LD_PRELOAD="$shim" \
				"$xsort" -S 64M --parallel=2 -s -k1,1 -o out $input
			[[ $output == "xsort: "*" failed: out: Invalid or incomplete multibyte"* ]]
			[ ! -e out ]
		done
	done
}

@test "many files: one merge of as many as memory allows" {
	files 300
	sort -m part.* >want
	"$xsort" -S 16M --stats=stats -m -o out part.*
	cmp out want
	[ "$(sed -n 's/.*"merges": *\([0-9]*\),.*/\1/p' stats)" = 1 ]
	"$xsort" -S 1M --stats=stats -m -o out part.*
	cmp out want
	[ "$(sed -n 's/.*"merges": *\([0-9]*\),.*/\1/p' stats)" -gt 1 ]
}

@test "files that could be read directly, and descriptors for each but not for two" {
	"$xgen" records --seed=7 --bytes=1200K | sort >in
	dd if=/dev/null of=in conv=notrunc,fdatasync oflag=nocache count=0 2>said || skip "no cold files"
	read -ra inputs <<<"$(yes in | head -n 20 | tr "\n" " ")"
	(ulimit -n 32 && "$xsort" -S 16M -m -o out "${inputs[@]}")
	sort -m "${inputs[@]}" | cmp - out
}
