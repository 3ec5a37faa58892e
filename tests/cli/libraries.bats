#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Libraries that are loaded when they are needed: what a run needs, and what it says without it.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	mkdir lost
	seq 2000 | awk '{ print ($1 * 7919) % 2003, $1 }' >in
	sort in >sorted
	# shellcheck disable=SC2154 # $build is of suite.bash
	sonames=$build/gen/lib/stubs/sonames.h
}

# lose NAME...: the loader finds files with the names of these libraries that are no libraries.
lose()
{
	local name

	rm -f lost/*
	for name; do
		: >"lost/$(sed -n "s/^#define SP__SONAME_$name \"\(.*\)\"/\1/p" "$sonames")"
	done
}

without() { LD_LIBRARY_PATH=$PWD/lost${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"; }

# refused LIBRARY PACKAGE COMMAND...: one line names the library and the package.
refused()
{
	local message

	lose "$1"
	message="$(ls lost): cannot be loaded (*): install the package $2 (*"
	shift 2
	run without "$@"
	[[ $status -eq 2 || ($1 = "$xjoin" && $status -eq 1) ]] || { echo "# $*: status $status, $output"; return 1; }
	# shellcheck disable=SC2053 # a pattern
	[[ $output == "$(basename "$1"): "$message && ${#lines[@]} -eq 1 ]] || { echo "# $*: $output"; return 1; }
}

all() { sed -n 's/^#define SP__SONAME_\([a-z0-9]*\) .*/\1/p' "$sonames" | grep -vxE 'm|c|asan|ubsan|tsan'; }

@test "programs start with the C library and nothing else" {
	[ -z "${SP_TEST_VARIANT:-}" ] || skip "sanitizers have libraries of their own"
	for tool in "$xsort" "$xjoin" "$xgen" "$xindex" "$xtable" "$aiobench" "$cube" "$blockseq" "$diskprobe" "$dbmbench"; do
		run -0 ldd "$tool"
		[[ $output == *libc.so* ]]
		run -1 grep -vE 'linux-vdso|libspindle\.so|libc\.so|/ld-linux' <<<"$output"
	done
}

@test "sorting and joining need no library" {
	# shellcheck disable=SC2046 # words are wanted
	lose $(all)
	[ "$(find lost -type f | wc -l)" -ge 7 ]
	without "$xsort" in | cmp - sorted
	without "$xsort" -S 1M <(cat in) | cmp - sorted
	without "$xjoin" sorted sorted >out
	[ "$(wc -l <out)" -eq 2000 ]
	without "$xgen" --version
}

@test "without io_uring and xxhash, others do the same" {
	"$xgen" --bytes=4M -o large records
	sort large >sorted
	for name in uring xxhash "uring aio xxhash"; do
		# shellcheck disable=SC2086 # words are wanted
		lose $name
		without "$xsort" -S 1M large | cmp - sorted
	done
}

@test "engines" {
	"$xgen" --bytes=4M -o large records
	refused uring liburing2 "$xsort" -S 1M --engine=io_uring -o out large
	refused aio libaio1 "$xsort" -S 1M --engine=libaio -o out large
	[ ! -e out ]
}

@test "formats of compressed files" {
	needs gzip xz zstd lz4
	for f in gzip xz zstd lz4; do $f -c <in >"in.$f"; done
	for f in "z gzip zlib1g" "lzma xz liblzma5" "zstd zstd libzstd1" "lz4 lz4 liblz4-1"; do
		read -r name format package <<<"$f"
		refused "$name" "$package" "$xsort" --decompress -o out "in.$format"
		refused "$name" "$package" "$xjoin" --decompress "in.$format" sorted
		refused "$name" "$package" "$xsort" --compress-output="$format" -o out in
	done
	[ ! -e out ]
}

@test "compressed temporary data" {
	"$xgen" --bytes=4M -o large records
	refused zstd libzstd1 "$xsort" -S 1M --spill-compression=zstd -o out large
	refused lz4 liblz4-1 "$xsort" -S 1M --spill-compression=lz4 -o out large
	[ ! -e out ]
}

@test "random order" {
	refused md libmd0 "$xsort" -R -o out in
	[ ! -e out ]
}

@test "reports, before any work, models and geometries" {
	refused jansson libjansson4 "$xsort" --stats=r.json -o out in
	refused jansson libjansson4 "$xsort" --stats -o out in
	refused jansson libjansson4 "$xsort" --explain in
	refused jansson libjansson4 "$xjoin" --stats=r.json in in
	refused jansson libjansson4 "$xsort" --volume=sim:atlas10k3-like -o out in
	echo '{}' >g.json
	refused jansson libjansson4 "$xsort" --geometry=g.json -o out in
	refused jansson libjansson4 "$aiobench" run --runtime=0.1s in
	refused jansson libjansson4 "$diskprobe" in
	refused jansson libjansson4 "$blockseq" in
	refused jansson libjansson4 "$dbmbench" run -o results
	[ ! -e out ] && [ ! -e r.json ]
}

@test "a library without a function that is needed is too old" {
	needs cc
	lose zstd
	name=$(ls lost)
	echo 'int nothing;' | cc -shared -o "lost/$name" -x c -
	run -2 without "$xsort" --compress-output=zstd -o out in
	[[ $output == "xsort: $name: is too old, it lacks ZSTD_"*": install a newer package libzstd1 ("* ]]
	[ ! -e out ]
}
