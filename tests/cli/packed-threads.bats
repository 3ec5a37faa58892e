#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Compressed inputs and outputs: threads, levels, members of other programs, and memory.
# SP_TEST_FULL=1: each number of threads, and twice as many frames.
# no threads
. "$BATS_TEST_DIRNAME/suite.bash"
load packed

formats='gzip zstd lz4 xz'
full=${SP_TEST_FULL:-}

@test "any number of threads, in memory and spilled" {
	for f in gzip xz; do
		pack "$f" -1 <in >p."$f"
		cat in in | pack "$f" -0 >q."$f" 2>/dev/null || cat in in | pack "$f" >q."$f"
	done
	sort -m sorted sorted >sorted2
	for n in 1 ${full:+2 3} 8; do
		"$xsort" --decompress --parallel=$n p.gzip | cmp - sorted
		"$xsort" --decompress --parallel=$n -S 1M q.gzip -o out
		cmp out sorted2
		cat q.gzip | "$xsort" --decompress --parallel=$n -S 1M | cmp - sorted2
		"$xsort" --decompress --parallel=$n -S 48M q.xz | cmp - sorted2
	done
}

@test "the bytes of a result do not depend on the number of threads; programs show its sizes" {
	if [ "$full" ]; then cp "$BATS_FILE_TMPDIR/sorted4" big.s; else sort -m sorted sorted >big.s; fi
	for f in $formats; do
		"$xsort" --compress-output=$f --parallel=1 -o want big.s
		unpack $f <want | cmp - big.s
		for n in ${full:+2 3 8} 16; do
			"$xsort" --compress-output=$f --parallel=$n big.s | cmp - want
			"$xsort" --decompress --parallel=$n want | cmp - big.s
			cat want | "$xsort" --decompress --parallel=$n | cmp - big.s
		done
		mv want want.$f
	done
	frames=$((($(stat -c %s big.s) - 1) / (1 << 20) + 1))
	[ $frames -gt 2 ]
	zstd -l want.zstd | grep -E "^ +$frames .*XXH64"
	lz4 --list want.lz4 | grep -E "^ +$frames "
	xz --list want.xz | grep -E "^ +$frames .*CRC64"
	xz --test want.xz
}

@test "levels: each is unpacked by its program, a higher one is smaller, and threads change no byte" {
	head -n 60000 in >few && mv few in && sort in >sorted
	sort -m sorted sorted >big.s # two blocks
	for level in gzip:1 gzip:9 zstd:1 zstd:3 zstd:19 lz4:1 lz4:12 xz:1 xz:9; do
		f=${level%:*}
		"$xsort" --compress-output=$level --parallel=1 -o $level big.s
		unpack $f <$level | cmp - big.s
		for n in ${full:+2} 3 ${full:+8}; do
			"$xsort" --compress-output=$level --parallel=$n big.s | cmp - $level
		done
		"$xsort" -S 2M --compress-output=$level -o small in
		unpack $f <small | cmp - sorted
		"$xsort" -S 2M --decompress $level | cmp - big.s
	done
	for pair in gzip:9/gzip:1 zstd:19/zstd:3 zstd:3/zstd:1 lz4:12/lz4:1 xz:9/xz:1; do
		[ "$(stat -c %s "${pair%/*}")" -lt "$(stat -c %s "${pair#*/}")" ] || [ $pair = zstd:3/zstd:1 ]
	done
	"$xsort" --compress-output=zstd:3 big.s | cmp - <("$xsort" --compress-output=zstd big.s)
	"$xsort" --compress-output=gzip:6 big.s | cmp - <("$xsort" --compress-output=gz big.s)
	"$xjoin" --compress-output=xz:2 --ordered=1 in in | xz -dc | cmp - <("$xjoin" --ordered=1 in in)
}

@test "members of other programs: BGZF, frames with and without sizes, members without" {
	needs python3
	cp "$BATS_FILE_TMPDIR/sorted4" big.s
	python3 -c '
import struct, sys, zlib
data = sys.stdin.buffer.read()
for i in list(range(0, len(data), 65280)) + [len(data)]:
    part = data[i:i + 65280]
    z = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = z.compress(part) + z.flush()
    sys.stdout.buffer.write(struct.pack("<4BI2BH2s2H", 31, 139, 8, 4, 0, 0, 255, 6, b"BC", 2, len(body) + 25)
        + body + struct.pack("<2I", zlib.crc32(part), len(part)))' <big.s >p.bgzf
	gzip -dc <p.bgzf | cmp - big.s
	split -n l/7 big.s part.
	for part in part.*; do zstd -qc "$part"; done >p.sized
	for part in part.*; do zstd -qc <"$part"; done >p.zstd
	for part in part.*; do lz4 -qc --content-size "$part"; lz4 -qc -B4 -BX <"$part"; done >p.lz4
	for part in part.*; do gzip -1c <"$part"; done >p.gzip
	{ skippable 5; cat p.sized; skippable 70000; skippable 9; cat p.zstd; skippable 0; } >p.mixed
	for n in 1 ${full:+3} 16; do
		for p in p.bgzf p.sized p.zstd p.gzip; do
			"$xsort" --decompress --parallel=$n $p | cmp - big.s
			cat $p | "$xsort" --decompress --parallel=$n | cmp - big.s
			"$xsort" --decompress --parallel=$n -S 12M $p | cmp - big.s
		done
		"$xsort" --decompress --parallel=$n p.lz4 | cmp - <(sort -m big.s big.s)
		"$xsort" --decompress --parallel=$n p.mixed | cmp - <(sort -m big.s big.s)
	done
	! command -v pzstd || pzstd -qc big.s | "$xsort" --decompress | cmp - big.s
}

@test "a file that needs more memory than -S is refused" {
	xz -9 -c in >big.xz
	run -2 "$xsort" -S 1M --decompress big.xz
	[[ $output == "xsort: big.xz: decompression needs "*" bytes, and -S leaves "*" for it: use -S 260M" ]]
	"$xsort" -S 260M --decompress big.xz | cmp - sorted
	zstd --long=27 -q -c <(cat in) >big.zst
	run -2 "$xsort" -S 1M --decompress big.zst
	[[ $output == "xsort: big.zst: decompression needs "*" bytes, and -S leaves "*" for it: use -S 520M" ]]
	run -2 "$xsort" -S 1M --decompress <(skippable 3; cat big.zst)
	[[ $output == *": use -S 520M" ]]
	"$xsort" -S 520M --decompress big.zst | cmp - sorted
	run -2 bash -c "zstd --long=31 -q -c <in | '$xsort' --decompress -S 1M"
	[[ $output == "xsort: -: "*": use -S 8200M" ]]
	run -1 "$xjoin" -S 1M --decompress big.zst in
	[[ $output == *": use -S 1100M" ]]
}

@test "xsort -S 2M reads what it wrote with any -S" {
	for i in {1..8}; do cat in; done | sort >big.s
	for f in $formats; do
		"$xsort" -S 40M --compress-output=$f -o out big.s
		"$xsort" -S 2M --decompress out | cmp - big.s
	done
}

@test "joins: all formats, both sides, any number of threads" {
	head -n 40000 in >few && mv few in && sort in >sorted
	awk '{ print $2, "r" $1 }' in >other
	sort -k1,1 other >other.s
	"$xjoin" -S 32M in other --ordered=1 >want
	[ -s want ]
	for f in $formats; do
		pack "$f" <in >p
		pack "$f" <other >q
		for n in 1 ${full:+3} 8; do
			"$xjoin" --decompress --parallel=$n -S 100M --ordered=1 p q | cmp - want
			cat p | "$xjoin" --decompress="$f" --parallel=$n -S 100M --ordered=1 - q | cmp - want
		done
	done
	gzip -c in >p
	"$xjoin" --decompress --algorithm=grace -S 1M p other | sort | cmp - <(sort want)
	"$xjoin" --decompress --compress-output --output=out.zst --ordered=1 p other
	zstd -dc out.zst | cmp - want
	"$xjoin" --decompress --algorithm=merge <(gzip -c sorted) other.s | cmp - <(join sorted other.s)
	"$xjoin" --decompress --limit=5 p <(gzip -c other) --ordered=1 | cmp - <(head -n 5 want)
	run -1 "$xjoin" --compress-output p other
	[ "$output" = "xjoin: --compress-output needs a format (gzip, zstd, lz4 or xz), or --output with a name that ends in .gz, .zst, .lz4 or .xz" ]
}
