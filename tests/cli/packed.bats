#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Compressed inputs and outputs.
# SP_TEST_FULL=1: each number of threads, and each byte of a file damaged.
# no threads
. "$BATS_TEST_DIRNAME/suite.bash"
load packed

formats='gzip zstd lz4 xz'
full=${SP_TEST_FULL:-}

# places FIRST FILE: the offsets from FIRST on at which the file is damaged: the first and the last 16 bytes, which are
# those of its header and its checksums, and each fourth byte between.
places()
{
	seq "$1" $(($(stat -c %s "$2") - 1)) |
		awk -v end="$(stat -c %s "$2")" -v full="$full" 'full || $1 < 16 || $1 >= end - 16 || $1 % 4 == 0'
}

@test "each format, as said and by its magic number, from a file, a pipe and standard input" {
	for f in $formats; do
		pack "$f" <in >p
		"$xsort" --decompress p | cmp - sorted
		"$xsort" --decompress="$f" <p | cmp - sorted
		cat p | "$xsort" --decompress | cmp - sorted
		"$xsort" --decompress="$f" <(cat p) | cmp - sorted
	done
}

@test "several members are one input, several inputs go each by its own magic number" {
	for f in $formats; do
		{ head -n 30000 in | pack "$f"; tail -n +30001 in | pack "$f"; : | pack "$f"; } >p
		"$xsort" --decompress p | cmp - sorted
		cat p | "$xsort" --decompress="$f" | cmp - sorted
	done
	sed -n '1~5p' in | gzip >a
	sed -n '2~5p' in | zstd >b
	sed -n '3~5p' in | lz4 -c >c
	sed -n '4~5p' in | xz >d
	sed -n '5~5p' in >e
	: >f
	"$xsort" --decompress a b c d e f | cmp - sorted
	cat e | "$xsort" --decompress a b c - d | cmp - sorted
	printf 'a\0b\0c\0d\0e' | "$xsort" --decompress --files0-from=- | cmp - sorted
}

@test "with a format all must be in it; without one nothing is decompressed" {
	gzip -c in >p
	run -2 "$xsort" --decompress=zstd p
	[ "$output" = "xsort: p: it is not in the format zstd" ]
	run -2 "$xsort" --decompress=gzip p in
	[ "$output" = "xsort: in: it is not in the format gzip" ]
	: >empty
	run -2 "$xsort" --decompress=gzip empty
	[ "$output" = "xsort: empty: it is not in the format gzip" ]
	run -2 "$xsort" --decompress=bzip2 p
	"$xsort" p | cmp - <(sort p)
	[ "$("$xsort" --decompress empty | wc -c)" = 0 ]
}

@test "-c, -m, --header, -u and -o onto the input" {
	gzip -c sorted >s.gz
	xz -c in >u.xz
	"$xsort" -c --decompress s.gz
	run -1 "$xsort" -c --decompress u.xz
	[[ $output == "xsort: u.xz:"*": disorder: "* ]]
	"$xsort" -m --decompress s.gz s.gz | cmp - <(sort -m sorted sorted)
	"$xsort" -u --decompress s.gz s.gz | cmp - sorted
	"$xsort" --decompress --compress-output -o s.gz -r s.gz
	gzip -dc s.gz | cmp - <(sort -r in)
	{ echo head; cat in; } | zstd >h.zst
	"$xsort" --header --decompress h.zst h.zst | cmp - <(echo head; cat in in | sort)
}

@test "columns that the header of a compressed file names" {
	seq 20000 | awk 'BEGIN { print "name,price" } { print "n" $1 "," ($1 * 7919) % 20011 }' >c.csv
	"$xsort" --csv --header -k price:n c.csv >want
	for f in $formats; do
		pack "$f" <c.csv >p
		"$xsort" --csv --header -k price:n --decompress p | cmp - want
		"$xsort" --csv --header -k price:n --decompress <p | cmp - want
		cat p | "$xsort" --csv --header -k price:n --decompress="$f" | cmp - want
		run -1 "$xsort" -c --csv --header -k price:n --decompress <p
		[[ $output == "xsort: -:"*": disorder: "* ]]
		"$xjoin" --csv --header -j name -o 1.name,2.price --decompress p <(cat p) --ordered=1 | cmp - c.csv
	done
	cat c.csv | "$xsort" --csv --header -k price:n --decompress | cmp - want
	pack gzip <want | "$xsort" -c --csv --header -k price:n --decompress
	# A header longer than what is read at a time.
	{ printf '%0200000d,b\n' 0; echo 1,2; echo 0,1; } >long.csv
	gzip <long.csv | "$xsort" --csv --header -k b:n --decompress | cmp - <("$xsort" --csv --header -k2,2n long.csv)
	zstd -c long.csv >long.zst
	"$xsort" --csv --header -k b:n --decompress long.zst | cmp - <("$xsort" --csv --header -k2,2n long.csv)
}

fails() # ARGUMENT...
{
	local status=0

	"$xsort" -o out "$@" 2>err || status=$?
	[ $status = 2 ]
	[ ! -e out ]
}

@test "a file that ends early is an error wherever it ends, and nothing is written" {
	seq 30 | awk '{ print $1 * 17 % 31 }' >small
	for f in $formats; do
		pack "$f" <small >p
		for i in $(places 1 p); do
			head -c "$i" p >short
			fails --decompress="$f" short
			[[ $(<err) == "xsort: short: "* ]]
		done
		head -c -1 p >short
		run -2 --separate-stderr "$xsort" --decompress <(cat short)
		[ -z "$output" ]
		# shellcheck disable=SC2154 # run sets it
		[[ $stderr == *"ends before its $f data does" ]]
		run -2 --separate-stderr "$xsort" -m --decompress short p
		[ -z "$output" ]
	done
}

@test "bytes after a member are another member or an error" {
	for f in $formats; do
		{ pack "$f" <in; echo more; } >p
		run -2 --separate-stderr "$xsort" --decompress p
		[ -z "$output" ]
		[[ $stderr == "xsort: p: "* ]]
	done
}

# A byte, one at a time, has another value; a wrong result never looks like a right one.
@test "a damaged file is an error, or its damage does not matter" {
	seq 40 | awk '{ print $1 * 17 % 41 }' >small
	sort small >want
	for f in $formats; do
		pack "$f" <small >p
		read -ra was <<<"$(od -An -v -tu1 p | tr -s '\n' ' ')"
		for i in $(places 0 p); do
			printf -v byte '\\x%x' $(((${was[i]} + 1 + RANDOM % 255) % 256))
			# shellcheck disable=SC2059 # a byte
			{ head -c "$i" p; printf "$byte"; tail -c "+$((i + 2))" p; } >bad
			rm -f out
			if "$xsort" --decompress="$f" -o out bad 2>err; then
				cmp out want
			else
				[ $? = 2 ]
				[ ! -e out ]
				[[ $(<err) == "xsort: bad: "* ]]
			fi
		done
	done
}

# as_xz FILE: the result is that of the program xz, or both fail.
as_xz()
{
	rm -f out
	if xz -dc "$1" >content 2>/dev/null; then
		"$xsort" --decompress=xz --parallel=3 -o out "$1"
		sort content | cmp - out
	else
		fails --decompress=xz --parallel=3 "$1"
		[[ $(<err) == "xsort: $1: "* ]]
	fi
}

@test "xz streams with sizes in their blocks, and padding, are read as xz reads them" {
	local zeros='head -c 4 /dev/zero' step=$((full ? 1 : 5))

	seq 12 | awk '{ print $1 * 17 % 41 }' >small
	[ -z "${SP_TEST_VARIANT:-}" ] || step=7
	{ xz -cT2 --block-size=20 small; $zeros; xz -cT2 small; $zeros; } >p
	xz --list -vv p | grep -q ' Blocks: *3'
	as_xz p
	read -ra was <<<"$(od -An -v -tu1 p | tr -s '\n' ' ')"
	for ((i = 0; i < ${#was[@]}; i += step)); do
		printf -v byte '\\x%x' $(((${was[i]} + 1 + RANDOM % 255) % 256))
		# shellcheck disable=SC2059 # a byte
		{ head -c "$i" p; printf "$byte"; tail -c "+$((i + 2))" p; } >bad
		as_xz bad
		[ "$i" = 0 ] || { head -c "$i" p >short && as_xz short; }
	done
	{ cat p; head -c 3 /dev/zero; } >bad
	as_xz bad
	{ cat p; head -c 3 /dev/zero; xz -c small; } >bad
	as_xz bad
	# an index that does not end is not waited for
	{ : | xz -c | head -c 12; printf '\0\377\377\377\377\377\377\377\177'; head -c 300M /dev/zero | tr '\0' '\1'; } |
		run -2 timeout 60 "$xsort" --decompress=xz -S 12M
	split -n l/30 in part.
	for part in part.*; do xz -1cT2 --block-size=20K "$part"; [[ $part != *[ae] ]] || $zeros; done >q
	for n in 1 ${full:+2} 3 ${full:+16}; do
		"$xsort" --decompress --parallel=$n q | cmp - sorted
		cat q | "$xsort" --decompress --parallel=$n | cmp - sorted
		"$xsort" --decompress --parallel=$n -S 12M q | cmp - sorted
	done
}

@test "results in each format, onto a file, a pipe and parts" {
	for f in $formats; do
		"$xsort" --compress-output=$f in | unpack $f | cmp - sorted
		for n in 1 ${full:+2} 3 ${full:+8}; do
			"$xsort" --compress-output=$f --parallel=$n -S 1M -o out in
			unpack $f <out | cmp - sorted
		done
		"$xsort" --compress-output=$f --limit=3 in | unpack $f | cmp - <(head -n 3 sorted)
		: | "$xsort" --compress-output=$f >out
		[ -s out ]
		[ -z "$(unpack $f <out)" ]
	done
	"$xsort" --compress-output -o a.gz in && gzip -dc a.gz | cmp - sorted
	"$xsort" --compress-output -o a.zst in && zstd -dc a.zst | cmp - sorted
	"$xsort" --compress-output -o a.lz4 in && lz4 -dc a.lz4 | cmp - sorted
	"$xsort" --compress-output -o a.xz in && xz -dc a.xz | cmp - sorted
	{ echo head; cat in; } | "$xsort" --header --compress-output=gzip | gzip -dc | cmp - <(echo head; cat sorted)
	sed -n '30000p;60000p' sorted >cuts
	"$xsort" --split=cuts --compress-output -o part%d.gz in
	[ "$(gzip -dc part0.gz | wc -l)" = 29999 ]
	gzip -dc part0.gz part1.gz part2.gz | cmp - sorted
}

@test "a level that a format does not have is refused" {
	run -2 "$xsort" --compress-output=zstd:20 in
	[ "$output" = "xsort: --compress-output='zstd:20': the levels of zstd are 1 to 19" ]
	for level in gzip:0 gzip:10 lz4:13 xz:0 xz:10 zstd:-1 zstd: zstd:9x zstd:4294967297; do
		run -2 "$xsort" --compress-output=$level -o out in
		[[ $output == *": the levels of ${level%:*} are 1 to "* ]]
		run -1 "$xjoin" --compress-output=$level --output=out in in
		[[ $output == *": the levels of ${level%:*} are 1 to "* ]]
	done
	run -2 "$xsort" --compress-output=bzip2:9 -o out in
	[[ $output == *"invalid argument 'bzip2:9' for '--compress-output'"* ]]
	[ ! -e out ]
}

@test "a result without a suffix that tells its format is refused" {
	run -2 "$xsort" --compress-output in
	[ "$output" = "xsort: --compress-output needs a format (gzip, zstd, lz4 or xz), or -o with a name that ends in .gz, .zst, .lz4 or .xz" ]
	run -2 "$xsort" --compress-output -o out.txt in
	[[ $output == *"the suffix of 'out.txt' is none of .gz, .zst, .lz4 and .xz; or give a format: --compress-output=gzip, zstd, lz4 or xz" ]]
	[ ! -e out ]
	run -0 "$xsort" --auto-compression -o out.bz2 in
	[ "$output" = "xsort: warning: out.bz2: is written uncompressed: the formats are those of .gz, .zst, .lz4 and .xz" ]
	run -0 "$xsort" --auto-compression -o out.csv in
	[ -z "$output" ]
	run -2 "$xsort" --compress-output=gzip -c in
	run -2 "$xsort" --decompress --splitters=2 in
	run -2 "$xsort" --decompress --volume=sim:atlas10k3-like in
	[[ $output == *"no simulated time" ]]
}

@test "--auto-compression: inputs by their bytes, the output by its suffix, each only if it is so" {
	head -n 20000 in >few && mv few in && sort in >sorted
	gzip -c in >p.gz
	xz -c in >p.xz
	ln -s "$(realpath "$xsort")" sort
	for f in gz zst lz4 xz; do
		"$xsort" --auto-compression -o a.$f p.gz 2>err
		SPINDLE_AUTO_COMPRESSION=1 "$xsort" -o b.$f <p.xz 2>>err
		[ ! -s err ]
		cmp a.$f b.$f
		"$xsort" --compress-output --decompress -o want.$f p.gz && cmp a.$f want.$f
	done
	export SPINDLE_AUTO_COMPRESSION=1
	"$xsort" -o plain p.gz && cmp plain sorted
	"$xsort" in | cmp - sorted
	cat p.xz | "$xsort" - | cmp - sorted
	"$xsort" in p.gz p.xz -m --compress-output=lz4:9 -o a.gz && lz4 -dc a.gz | wc -l | grep -x 60000
	"$xsort" -c want.xz
	"$xjoin" --ordered=1 --output=j.xz p.gz in && xz -dc j.xz | cmp - <("$xjoin" --ordered=1 in in)
	"$xjoin" --csv --header -j a -o 1.b --auto-compression <(printf 'a,b\n1,2\n' | gzip) <(printf 'a\n1\n' | xz) |
		cmp - <(printf 'b\n2\n')
	./sort -o s.gz p.gz && cmp s.gz <(sort p.gz)
	SPINDLE_AUTO_COMPRESSION=0 "$xsort" -o s.gz p.gz 2>err && cmp s.gz <(sort p.gz)
	[ "$(wc -l <err)" = 2 ]
	run -2 env SPINDLE_AUTO_COMPRESSION=yes "$xsort" in
	[ "$output" = "xsort: SPINDLE_AUTO_COMPRESSION='yes': valid are 0 and 1" ]
	"$xsort" --resume=dir -o r in && cmp r sorted
	"$xsort" --splitters=2 in | wc -l | grep -x 1
	run -2 "$xsort" --auto-compression --resume=dir -o r in
	[[ $output == *"'--auto-compression' and '--resume' are incompatible"* ]]
	"$xtable" load --csv table p.gz && "$xtable" scan table | wc -l | grep -x 20000
}

@test "a result that cannot be written is an error" {
	[ -w /dev/full ] || skip "needs /dev/full"
	for f in $formats; do
		run -2 "$xsort" --compress-output=$f -o /dev/full in
		[[ $output == *"No space left on device"* ]]
	done
}

@test "a reader that goes away ends the program by SIGPIPE" {
	head -c 3000000 /dev/urandom | od -An -tx1 >noise
	{ "$xsort" --compress-output=gzip noise || echo $? >status; } 2>err | head -c 1 >/dev/null
	[ "$(cat status)" = 141 ]
	[ ! -s err ]
}

@test "a small file needs no more memory than its contents, whatever window it declares" {
	local pack size
	seq 3000 -1 1 >few
	for pack in "xz -c" "xz -9c" "zstd -qc" "zstd -1 --long=31 -qc" "lz4 -qc -B7 -BD" "gzip -c"; do
		cat few | $pack >many 2>err
		printf 'b\na\n' | $pack >two 2>err
		for size in 512K 2M; do
			cat many | "$xsort" --decompress -S $size | cmp - <(sort few)
			cat two | "$xsort" --decompress -S $size | cmp - <(printf 'a\nb\n')
		done
	done
	cat few | xz -9c >few.xz
	"$xsort" --decompress -S 2M --stats=stats few.xz | cmp - <(sort few)
	[ -n "${SP_TEST_VARIANT:-}" ] || [ "$(sed -n 's/.*"peak_bytes": \([0-9]*\).*/\1/p' stats | sort -n | tail -1)" -lt 18874368 ]
	cat few | xz -9c | "$xjoin" --decompress -S 2M - few.xz | cmp - few
}

@test "a file that ends within its magic number is an error, unless it is empty" {
	printf '\037' >a
	printf '\375\067zX' >b
	printf '\050\265' >c
	for p in a b c; do
		for n in "$p" -; do
			run -2 "$xsort" --decompress $n <$p
			[[ $output == "xsort: $n: the file ends before its "*" data does" ]]
		done
	done
	printf '(' >text
	[ "$("$xsort" --decompress text)" = "(" ]
	: >empty
	[ -z "$("$xsort" --decompress empty)" ]
}

@test "the first frame that is not skipped decides between zstd and lz4" {
	head -n 1000 in >few && mv few in && sort in >sorted
	for f in zstd lz4; do
		for n in 0 1 70000 700000; do
			{ skippable $n; skippable 3; pack $f <in; } >p
			for option in --decompress --decompress=$f; do
				"$xsort" "$option" p | cmp - sorted
				cat p | "$xsort" "$option" | cmp - sorted
			done
		done
	done
	run -2 "$xsort" --decompress=gzip p
	[ "$output" = "xsort: p: it is not in the format gzip" ]
	{ skippable 3; skippable 0; } >p
	"$xsort" --decompress p | cmp - /dev/null
	{ skippable 3; pack gzip <in; } >p
	run -2 "$xsort" --decompress p
	[ "$output" = "xsort: p: the data after its skippable frames are neither zstd nor lz4" ]
	{ skippable 3; pack lz4 <in; } >p
	printf '%s\n' id,n 1,2 >h.csv
	{ skippable 3; pack lz4 <h.csv; } >h.lz4
	[ "$("$xsort" --decompress --csv --header -k n h.lz4)" = "$(<h.csv)" ]
}

@test "joins of damaged files fail" {
	gzip -c in >p
	head -c -1 p >short
	run -1 "$xjoin" --decompress --output=out short in
	[ "$output" = "xjoin: short: the file ends before its gzip data does" ]
	[ ! -e out ]
	run -1 "$xjoin" --decompress --output=out in short
	[ ! -e out ]
	run -1 --separate-stderr "$xjoin" --decompress <(echo 1 2) <(seq 5 | gzip | head -c -1)
	[ -z "$output" ]
}

@test "a file that looks compressed and is not treated so is warned about" {
	head -n 100 in >few && mv few in && sort in >sorted
	ln -s "$(realpath "$xsort")" sort
	ln -s "$(realpath "$xjoin")" join
	for f in $formats; do
		pack $f <in >p.$f
		"$xsort" p.$f >out 2>err
		[ "$(<err)" = "xsort: warning: p.$f: is read as bytes, although it is in the format $f: --decompress decompresses it" ]
		sort p.$f | cmp - out
		"$xsort" <p.$f >out 2>err
		[[ $(<err) == "xsort: warning: -: is read as bytes, "* ]]
		sort p.$f | cmp - out
		"$xsort" -c p.$f 2>err || true
		[[ $(<err) == "xsort: warning: p.$f: "* ]]
		"$xjoin" in p.$f >out 2>err
		[ "$(<err)" = "xjoin: warning: p.$f: is read as bytes, although it is in the format $f: --decompress decompresses it" ]
		for command in "./sort p.$f" "./sort -o out.gz in" "./join /dev/null p.$f" \
			"$xsort --decompress p.$f" "$xsort -o out.gz --compress-output in"; do
			$command >/dev/null 2>err
			[ ! -s err ] || { echo "# $command: $(<err)"; false; }
		done
	done
	for name in all.zst all.gz all.xz all.lz4; do
		"$xsort" -o $name in 2>err
		[ "$(<err)" = "xsort: warning: $name: is written uncompressed: --compress-output compresses it" ]
		cmp $name sorted
		"$xjoin" --output=$name in in 2>err
		[ "$(<err)" = "xjoin: warning: $name: is written uncompressed: --compress-output compresses it" ]
		"$xgen" lines -n 3 -o $name 2>err
		[[ $(<err) == "xgen: warning: $name: is written uncompressed: "* ]]
	done
	"$xindex" build -o p.index p.gzip 2>err || true
	[[ $(<err) == "xindex: warning: p.gzip: is read as bytes, although it is in the format gzip: decompress it first"* ]]
}

@test "formats that are not read are refused by their name" {
	needs bzip2
	head -n 1000 in >few && mv few in
	bzip2 -c in >p.bz2
	: | bzip2 >empty.bz2
	xz --format=lzma -c in >p.lzma
	for f in p.bz2 empty.bz2 p.lzma; do
		format=bzip2
		[ $f != p.lzma ] || format=lzma
		for command in "$xsort" "$xsort --csv --header -k 1"; do
			run -2 $command --decompress $f
			[ "$output" = "xsort: $f: the format $format is not read here: decompress it with $format -dc" ]
		done
		run -2 bash -c "cat $f | '$xsort' --decompress"
		[ "$output" = "xsort: -: the format $format is not read here: decompress it with $format -dc" ]
		run -1 "$xjoin" --decompress $f in
		[ "$output" = "xjoin: $f: the format $format is not read here: decompress it with $format -dc" ]
		"$xsort" $f 2>err | cmp - <(sort $f)
		[ "$(<err)" = "xsort: warning: $f: is read as bytes, although it is in the format $format: decompress it first" ]
	done
	printf 'BZh9 is no file of bzip2\n]\n' >text
	"$xsort" --decompress text | cmp - text
}
