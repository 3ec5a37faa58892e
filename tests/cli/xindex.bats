#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
. "$BATS_TEST_DIRNAME/suite.bash"
load keys

setup()
{
	begin_test
	export LOCPATH=$BATS_TEST_DIRNAME/../../build/locale
}

# numbers N: the numbers from 1 to N as lines of n, in some order.
numbers()
{
	seq "$1" | awk '{ print ($1 * 7919) % 1000003, $1 }' | sort -n | cut -d' ' -f2 >n
}

@test "--help and --version are answered on standard output, for each command too" {
	run -0 --separate-stderr "$xindex" --help
	[[ $output == *lookup* && -z $stderr ]]
	run -0 "$xindex" --version
	[[ $output == "xindex (Spindle) "* ]]
	run -0 "$xindex" lookup --help
	[[ $output == *--offsets* && $output != *--page-size* ]]
}

@test "lookup prints the records of each key, in the order of keys and of the source" {
	printf 'b,2\na,1\nc,3\nb,20\n,9\nlast,7' >s
	"$xindex" build -t, -k1,1 -o i s
	run -0 "$xindex" lookup i c b zz b ''
	[ "$output" = $'c,3\nb,2\nb,20\nb,2\nb,20\n,9' ]
	run -0 "$xindex" lookup i last --offsets
	[ "$output" = "20 6" ]
	run -0 "$xindex" lookup i last
	[ "$output" = last,7 ]
	run -1 "$xindex" lookup i zz B
	[ -z "$output" ]
}

@test "standard output is not appended to the index" {
	seq -w 1000 >data
	"$xindex" build -o ix data
	cp ix kept
	run -2 --separate-stderr sh -c '"$1" lookup ix 0005 >>ix' sh "$xindex"
	[[ $stderr == *"standard output would overwrite it"* ]]
	cmp ix kept
}

@test "a range has its first end only, or those of the index" {
	numbers 3000
	"$xindex" build -k1n --page-size 512 -o i n
	"$xindex" range i | cmp - <(seq 3000)
	"$xindex" range i --lo 777 --hi 2001 | cmp - <(seq 777 2000)
	"$xindex" range i --lo 2990.5 | cmp - <(seq 2991 3000)
	"$xindex" range i --hi -- -1 && false
	"$xindex" range i --lo 777 --hi 2000.5 | cmp - <(seq 777 2000)
	run -1 "$xindex" range i --lo 20 --hi 20
	[ -z "$output" ]
	run -1 "$xindex" range i --lo 20 --hi 10
	[ -z "$output" ]
}

@test "all types of keys are ordered as xsort orders them" {
	printf '%s\n' 'x 5K 3' 'x -7 JAN' 'x 12 feb' 'Y 1.5e3 mar' 'y 0x10 Dec' 'y 2M 12' ' z 7G -3' \
		'x abc-10 1' 'x abc-9 1' 'x  007 may' >s
	for key in 1 2 2b 2,2 2b,2 2n 2nr 2,2nr 2.1,2.3nr 2g 2gr 2h 2hr 3M 3Mr 2V 2Vr 1f 2d 1fr 1,1r; do
		"$xindex" build -k "$key" -o i s
		"$xindex" check i
		"$xindex" range i | cmp - <("$xsort" -s -k "$key" s)
	done
}

@test "a key finds its record whatever its type is" {
	printf '%s\n' 'x,5K' 'x,-7' 'x,012' 'x,1.5e3' 'x,Feb' 'X,abc-10' >s
	for key in 2,2 2,2r 2n 2nr 2,2nr 2.1,2.9nr 2g 2gr 2h 2hr 2V 2Vr 2f 2d 2,2fr; do
		"$xindex" build -t, -k "$key" -o i s
		while read -r record; do
			"$xindex" lookup i -- "${record#*,}" | grep -qxF -e "$record"
		done <s
	done
	"$xindex" build -t, -k2n -o i s
	run -0 "$xindex" lookup i 12.0
	[ "$output" = x,012 ]
	"$xindex" build -t, -k2M -o i s
	run -0 "$xindex" lookup i FEBRUARY
	[ "$output" = x,Feb ]
}

@test "CSV records, with a header, quotes and newlines inside" {
	printf 'id,text\n7,"one ""1"""\n9,"two\nlines"\n7,three\n' >s
	"$xindex" build --csv --header -k1,1n -o i s
	run -0 "$xindex" lookup i 7
	[ "$output" = $'7,"one ""1"""\n7,three' ]
	run -1 "$xindex" lookup i id
	"$xindex" build --csv --header -k2,2 -o i s
	run -0 "$xindex" lookup i 'one "1"' $'two\nlines'
	[ "$output" = $'7,"one ""1"""\n9,"two\nlines"' ]
	printf 'a;1\nb;2\n' >s
	"$xindex" build --csv -t';' -k2,2 -o i s
	run -0 "$xindex" lookup i 2
	[ "$output" = 'b;2' ]
}

@test "records of a fixed length, by integers, floats and bytes" {
	# i32 le, f64 be, 4 bytes: -2, 1.5, abcd; 70000, -0.25, wxyz
	printf '\376\377\377\377\77\370\0\0\0\0\0\0abcd\160\21\1\0\277\320\0\0\0\0\0\0wxyz' >s
	"$xindex" build --record-size 16 --key 0:4:i32 -o i s
	"$xindex" check i
	run -0 "$xindex" lookup i --offsets -- -2 70000 5
	[ "$output" = $'0 16\n16 16' ]
	run -2 "$xindex" lookup i 3000000000
	[[ $output == *"'3000000000' is not a key"* ]]
	"$xindex" build --record-size 16 --key 4:8:f64be:r -o i s
	run -0 "$xindex" lookup i --offsets -- -0.25
	[ "$output" = "16 16" ]
	run -0 "$xindex" range i --offsets --hi -0.3
	[ "$output" = $'0 16\n16 16' ]
	printf '\0\0\0\200\0\0\0\0' >z
	"$xindex" build --record-size 4 --key 0:4:f32 -o i z
	for zero in 0 -0; do
		"$xindex" lookup i -- $zero | cmp - z
	done
	"$xjoin" --record-size=4 --bkey=0:4:f32 --algorithm=inl --index2=i z z | wc -c >n
	[ "$(cat n)" = 32 ]
	# A point is understood where the separator is a comma.
	LC_ALL=de_DE.UTF-8 "$xindex" build --record-size 16 --key 4:8:f64be -o i s
	for number in -0.25 -0,25; do
		[ -d "$LOCPATH/de_DE.UTF-8" ] || continue
		[ "$(LC_ALL=de_DE.UTF-8 "$xindex" lookup i --offsets -- $number)" = "16 16" ]
	done
	"$xindex" build --record-size 16 --key 12:4 -o i s
	"$xindex" lookup i wxyz 0x61626364 | cmp - <(tail -c 16 s; head -c 16 s)
	run -2 "$xindex" lookup i abc
	[[ $output == *"'abc' is not a key: give 4 bytes"* ]]
	run -2 "$xindex" build --record-size 5 -o j s
	[[ $output == *"length is not a multiple of the record size 5"* ]]
	[ ! -e j ]
}

@test "keys come from a file and from a pipe, any number outstanding, by every engine" {
	numbers 20000
	"$xindex" build -k1n -o i n
	seq 3 7 20000 >keys
	for depth in 1 2 9 1024; do
		"$xindex" lookup i --keys keys --depth $depth | cmp - keys
	done
	for engine in sync libaio io_uring; do
		"$xindex" lookup i --keys - -S 512K --direct --engine $engine <keys | cmp - keys
		"$xindex" range i --engine $engine --direct | cmp - <(seq 20000)
	done
	printf 'x\0y z\0' >s
	"$xindex" build -z -o i s
	printf 'y z\0x' | "$xindex" lookup i --keys=- | cmp - <(printf 'y z\0x\0')
}

@test "keys are sorted in temporary files within the memory" {
	numbers 200000
	"$xindex" build -k1n -S 512K -T . -o i n --stats=stats
	needs jq
	[ "$(jq '.spill.write_bytes > 1000000 and .result.levels == 3' stats)" = true ]
	[ -n "${SP_TEST_VARIANT:-}" ] || [ "$(jq '.memory.peak_bytes < 17300000' stats)" = true ]
	"$xindex" check i
	run -0 "$xindex" lookup i 1 100000 200000
	[ "$output" = $'1\n100000\n200000' ]
}

@test "on a simulated drive more lookups outstanding take less time, the same each time" {
	needs jq
	numbers 100000
	"$xindex" build -k1n -o i n --volume sim:atlas10k3-like,files=both
	seq 11 997 100000 >keys
	for depth in 1 8 64; do
		"$xindex" lookup i --keys keys --depth $depth --volume sim:atlas10k3-like,files=both \
			--stats=stats.$depth | cmp - keys
		"$xindex" lookup i --keys keys --depth $depth --volume sim:atlas10k3-like,files=both \
			--stats=again >/dev/null
		diff <(jq .result,.sim stats.$depth) <(jq .result,.sim again)
	done
	jq -es '(map(.result.elapsed_s) | .[0] > 1.5 * .[1] and .[1] > 1.5 * .[2])' stats.1 stats.8 stats.64
	"$xindex" range i --lo 5 --hi 8 --volume sim:atlas10k3-like,files=both | cmp - <(seq 5 7)
	"$xindex" check i --volume sim:atlas10k3-like,files=both
}

@test "a source that has changed is refused by every query" {
	numbers 100
	"$xindex" build -k1n -o i n
	touch -d '2001-01-01' n
	for command in 'lookup i 5' 'range i'; do
		# shellcheck disable=SC2086 # words
		run -2 "$xindex" $command
		[[ $output == *"i: its source $PWD/n has changed since: its time is 200"*", not 2"*": build the index again; xindex build -k 1n -o i $PWD/n" ]]
	done
	run -1 "$xindex" check i
	[[ $output == *"i: its source $PWD/n has the same content, but its time is 200"* ]]
	"$xindex" build -k1n -o i n
	echo 101 >>n
	touch -d '2001-01-01' n
	run -2 "$xindex" lookup i 5
	"$xindex" build -k1n -o i n
	sed -i 's/^50$/05/' n
	touch -d '2001-01-01' n
	run -0 "$xindex" lookup i 49
	run -1 "$xindex" check i
	[[ $output == *"has changed, though not its size or time" ]]
	rm n
	run -2 "$xindex" lookup i 5
	[[ $output == *"$PWD/n: No such file or directory (the source of the index i)" ]]
	mkfifo n
	run -2 timeout 20 "$xindex" lookup i 5
	[[ $output == *"i: its source $PWD/n has changed since: it is not a regular file: build the index again; xindex build -k 1n -o i $PWD/n" ]]
}

# changed SED SOURCE: changes the source, and keeps its size and time.
changed()
{
	cp -p "$2" time
	LC_ALL=C sed -i "$1" "$2"
	[ "$(stat -c %s "$2")" = "$(stat -c %s time)" ]
	touch -r time "$2"
}

# misled WHAT COMMAND...: an error, not a record that the index does not mean; it ends with a command that helps.
misled()
{
	run -2 --separate-stderr "$xindex" "${@:2}"
	[ -z "$output" ]
	[[ $stderr == "xindex: "*": at offset "*" of its source $PWD/"*" is another $1: build the index again; xindex build "* ]]
	eval "\"\$xindex\"${stderr#*; xindex}"
}

@test "a record is not printed if the source has changed, though not its size or time" {
	local engine
	for engine in sync auto; do
		printf '1,aaa\n2,bbb\n3,ccc\n' >s
		"$xindex" build -t, -k1,1 -o i s
		changed 's/^2/7/' s
		misled key lookup i --engine=$engine 2
		[ "$("$xindex" lookup i 7)" = 7,bbb ]
		changed 's/^7/0/' s
		misled key range i --engine=$engine --lo 7
		"$xindex" check i
	done
	# The key is the same, the record is not.
	printf '1,aaa\n2,bbb\n3,ccc\n' >s
	for sed in 's/^2,bbb/2,b\n4/' '1s/$/x/; 2s/b$//' 's/^3,ccc/3,ccc2/; s/2,bbb/2,bb/' ':a; N; $!ba; s/a\n/ax/'; do
		printf '1,aaa\n2,bbb\n3,ccc\n' >s
		"$xindex" build -t, -k1,1 -o i s
		changed "$sed" s
		misled record lookup i 2
	done
	# What the key does not depend on may change.
	printf '1,aaa\n2,bbb\n3,ccc' >s
	"$xindex" build -t, -k1,1 -o i s
	changed 's/bbb/xyz/' s
	"$xindex" range i | cmp - <(cat s; echo)
	[ "$("$xindex" lookup i 2 --offsets)" = '6 5' ]
	run -1 "$xindex" check i
}

@test "every kind of record and key is compared with its entry" {
	printf '\357\273\277k,"v\n""1"\nb,2\n' >s
	"$xindex" build --csv --header=0 -k1,1 -o i s
	"$xindex" range i >out
	changed 's/^b,/c,/' s
	misled key lookup i b
	changed 's/^""1"$/"\n1"/' s
	misled record lookup i k
	seq 3 | tr '\n' '\0' >s
	"$xindex" build -z -o 'an index' s
	changed 's/2/5/' s
	misled key lookup 'an index' 2
	printf 'aaaabbbbcccc' >s
	"$xindex" build --record-size=4 -k1:2 --page-size=512 -o i s
	changed 's/bbbb/bbdb/' s
	misled key lookup i bb
	[ "$("$xindex" lookup i bd)" = bbdb ]
	for n in 1 128; do
		numbers 3000
		"$xindex" build -k1n --page-size 512 -o i n
		changed 's/^2345$/2354/' n
		run -2 --separate-stderr "$xindex" range i --depth=$n
		[[ $stderr == *'is another key'* ]]
		cmp <(head -2344 <(seq 3000)) <(printf '%s\n' "$output")
		[ "$("$xindex" range i --hi 2345 | tail -1)" = 2344 ]
	done
}

@test "stat and check work whatever has become of the source" {
	numbers 100
	"$xindex" build -k1n -o i n
	"$xindex" stat i >before
	echo 101 >>n
	"$xindex" stat i >after
	[ "$(diff before after)" = "3a4
> source has changed: it has $(wc -c <n) bytes, not $(($(wc -c <n) - 4))" ]
	run -1 "$xindex" check i
	[[ $output == *"i: its source $PWD/n has changed since: it has "*" bytes, not "*": build the index again" ]]
	rm n
	run -0 "$xindex" stat i
	[[ $output == *$'\nsource has changed: No such file or directory\n'* ]]
	run -2 "$xindex" check i
	[[ $output == *"$PWD/n: No such file or directory (the source of the index i)" ]]
	mkfifo n
	run -0 timeout 20 "$xindex" stat i
	run -1 timeout 20 "$xindex" check i
	[[ $output == *"it is not a regular file"* ]]
}

# moved FILE: as tar, zip and cp can move it, without the nanoseconds of its time.
moved() { touch -d "@$(stat -c %Y "$1")" "$1"; }

@test "a source that lost the nanoseconds of its time is compared once" {
	local stamp
	numbers 3000
	touch -d '2024-05-06 07:08:09.123456789 UTC' n
	"$xindex" build -k1n -o i n
	cp -p n kept
	cp i old
	moved n
	[ "$("$xindex" lookup i 7)" = 7 ]
	"$xindex" stat i | grep -x 'source modified: 2024-05-06 07:08:09.000000000 UTC'
	stamp=$(cksum <i)
	[ "$("$xindex" lookup i 7)" = 7 ] && "$xindex" check i
	[ "$(cksum <i)" = "$stamp" ]
	# A join does the same.
	cp -p kept n
	"$xindex" build -k1b,1 -o j n
	moved n
	"$xjoin" --algorithm=inl --index2=j kept n | cmp - kept
	"$xindex" stat j | grep -x 'source modified: 2024-05-06 07:08:09.000000000 UTC'
	# An index that cannot be written is used.
	cp old i
	chmod 444 i
	"$xindex" check i
	[ "$("$xindex" lookup i 7)" = 7 ]
	chmod 644 i
	# Another content, a second, or more nanoseconds are not taken for it.
	cp old i
	sed -i 's/^50$/05/' n
	touch -d '2024-05-06 07:08:09 UTC' n
	run -2 "$xindex" lookup i 7
	[[ $output == *"i: its source $PWD/n has changed since: its content, and its time is 2024-05-06 07:08:09.000000000, not 2024-05-06 07:08:09.123456789; xindex build "* ]]
	cmp old i
	cp kept n
	for time in 07:08:08 07:08:10 07:08:09.5; do
		touch -d "2024-05-06 $time UTC" n
		run -2 "$xindex" lookup i 7
		[[ $output == *"its time is 2024-05-06 $time"* ]]
	done
	cmp old i
}

@test "an index is found its source from anywhere, and moves with it" {
	mkdir -p a/b d
	seq 10 >a/s
	ln -s ../a/s d/link
	"$xindex" build -o a/b/i d/link
	run -0 "$xindex" lookup a/b/i 5
	(cd a/b && "$xindex" lookup i 7)
	mv a c
	run -0 "$xindex" lookup c/b/i 5
	ln -s c/b/i j
	run -0 "$xindex" lookup j 5
	run -0 "$xindex" stat j
	[[ $output == "source: $PWD/c/s"* ]]
}

@test "an input that cannot be indexed is refused, and the old index stays" {
	seq 10 >s
	"$xindex" build -o i s
	cp i old
	run -2 "$xindex" build -o i - <s
	[[ $output == *"-: the source of an index must be a regular file"* ]]
	run -2 "$xindex" build -o i /dev/null
	[[ $output == *"/dev/null: the source of an index must be a regular file"* ]]
	run -2 bash -c "cat s | '$xindex' build -o i /dev/stdin"
	[[ $output == *"must be a regular file"* ]]
	run -2 "$xindex" build -o i none
	run -2 "$xindex" build -o i s -k0
	[[ $output == *"key '0': field number is zero"* ]]
	run -2 "$xindex" build -o i s -k1R
	[[ $output == *"keys in random order cannot be looked up"* ]]
	head -c 3000 /dev/zero | tr '\0' x >long
	run -2 "$xindex" build -o i long
	[[ $output == *"long: the record at byte 0 has a key of 3000 bytes, too long for pages of 4096; pages of 16384 would do"* ]]
	head -c 30000 /dev/zero | tr '\0' x >long
	run -2 "$xindex" build -o i long
	[[ $output == *"too long for pages of 4096" ]]
	cmp i old
	run -2 "$xindex" build -o s s
	run -2 "$xindex" build -o /dev/null s
	[[ $output == *"an index must be a regular file"* ]]
	[ "$(wc -l <s)" = 10 ]
}

@test "damage is named with its page" {
	numbers 3000
	"$xindex" build -k1n --page-size 512 -o i n
	printf X | dd of=i bs=1 seek=5300 conv=notrunc status=none
	run -1 "$xindex" check i
	[[ $output == "xindex: i: page 10 is damaged: its checksum is wrong" ]]
	run -2 "$xindex" range i --offsets
	[[ $output == *"page 10 is damaged"* ]]
	run -2 "$xindex" stat n
	[[ $output == "xindex: n: is not an index; xindex build makes one" ]]
	truncate -s -512 i
	run -2 "$xindex" stat i
	[[ $output == "xindex: i: does not have the length that its header gives" ]]
}

@test "an index with keys of another version is refused" {
	printf 'v1.10\nv1.9\n' >t
	"$xindex" build -k1V -o i t
	printf '\1' | dd of=i bs=1 seek=8 conv=notrunc status=none
	run -2 "$xindex" lookup i v1.9
	[[ $output == "xindex: i: is an index of another version of Spindle" ]]
}

@test "an index is refused in a locale in which its keys differ" {
	[ -d "$LOCPATH/en_US.UTF-8" ] || skip "needs the locale en_US.UTF-8 in build/locale"
	printf '1,000\n5\n' >s
	"$xindex" build -k1n -o i s
	"$xindex" build -k1 -o j s
	export LC_ALL=en_US.UTF-8
	run -2 "$xindex" lookup i 5
	[[ $output == *"was built in another locale, in which its keys differ" ]]
	run -0 "$xindex" lookup j 5
}

@test "stat describes an index" {
	printf 'k:v\na:1\nb:2\na:3\n' >s
	"$xindex" build -t: -k1,1 --header=1 --page-size=1K -o i s
	run -0 "$xindex" stat i
	[[ $output == *"records are: "*", fields separated by ':'"$'\n'"header records: 1"* ]]
	[[ $output == *"key: 1,1"$'\n'"records: 3"$'\n'"different keys: 2"$'\n'"levels: 1"* ]]
	[[ $output == *"pages: 2 of 1024 bytes" ]]
}

@test "empty sources have empty indexes" {
	: >s
	"$xindex" build -o i s
	"$xindex" check i
	run -1 "$xindex" lookup i ''
	run -1 "$xindex" range i
	printf '\n' >s
	"$xindex" build -o i s
	run -0 "$xindex" lookup i '' --offsets
	[ "$output" = "0 0" ]
}

@test "a full device is an error with its reason, however late it is found" {
	[ -e /dev/full ] || skip 'no /dev/full'
	seq 3000 >s
	"$xindex" build -o i s
	for command in 'range i' 'lookup i --keys=s' 'lookup i 7' 'stat i' 'check i'; do
		got=0
		# shellcheck disable=SC2086
		"$xindex" $command >/dev/full 2>err || got=$?
		[ $got -eq 2 ]
		[ "$(<err)" = 'xindex: write error: No space left on device' ]
	done
}

@test "a wrong command line is refused" {
	seq 3 >s
	"$xindex" build -o i s
	run -2 "$xindex"
	run -2 "$xindex" frobnicate
	run -2 "$xindex" range i j
	[[ $output == *"range: extra operand: "?"j"?* ]]
	run -2 "$xindex" stat $'no\nindex'
	[ "$output" = "xindex: 'no'\$'\\n''index': No such file or directory; build makes an index" ]
	run -2 "$xindex" check i --volume=sim:nope,files=both
	[[ $output == "xindex: nope: no such model"* ]]
	run -2 "$xindex" range i --engine=null
	[[ $output == *"it moves no bytes"* ]]
	run -2 "$xindex" build s
	[[ $output == *"-o INDEX is missing"* ]]
	run -2 "$xindex" lookup i
	run -2 "$xindex" lookup i 1 --keys s
	run -2 "$xindex" build -o j s --page-size 1000
	[[ $output == *"a power of two from 512 to 65536"* ]]
	run -2 "$xindex" build -o j s --csv -z
	run -2 "$xindex" build -o j s --record-size 2 -t,
	run -2 "$xindex" build -o j s -t ab
	run -2 "$xindex" build -o j s --stats=j
	[ ! -e j ]
}

@test "keys in the wrong place are answered with the option for them" {
	numbers 10
	"$xindex" build -o i n
	run -1 "$xindex" lookup i -
	[ "$output" = "xindex: lookup: no record has the key -; --keys=- reads keys from standard input" ]
	run -2 bash -c "echo 3 | '$xindex' lookup i"
	[ "${lines[0]}" = "xindex: lookup: missing KEY; --keys=FILE reads keys, --keys=- those of standard input" ]
	run -2 "$xindex" range i 3 4
	[[ ${lines[0]} == "xindex: range: extra operand: "*"; --lo=KEY and --hi=KEY are the keys" ]]
	echo - >>n
	"$xindex" build -o i n
	[ "$("$xindex" lookup i -)" = - ]
}

@test "keys end with CR LF where the lines of the index do" {
	printf 'k,n,v\r\na,10,x\r\nb,9,y\r\n' >crlf
	for key in 1,1 1,1.1 1.1,1; do
		"$xindex" build --header -t, -k $key -o i crlf
		printf 'b\r\na' | "$xindex" lookup i --keys=- | cmp - <(printf 'b,9,y\r\na,10,x\r\n')
		printf 'b\na\n' | "$xindex" lookup i --keys=- | cmp - <(printf 'b,9,y\r\na,10,x\r\n')
	done
	"$xindex" build --header -t, -k 2,2n -o i crlf
	printf '9\r\n' | "$xindex" lookup i --keys=- | cmp - <(printf 'b,9,y\r\n')
	# A key that has the carriage return of the line keeps that of the list.
	for key in 3 3,3; do
		"$xindex" build --header -t, -k $key -o i crlf
		printf 'y\r\n' | "$xindex" lookup i --keys=- | cmp - <(printf 'b,9,y\r\n')
	done
	"$xindex" build -o i crlf
	printf 'b,9,y\r\n' | "$xindex" lookup i --keys=- | cmp - <(printf 'b,9,y\r\n')
	# A carriage return that is not at the end of lines is a part of keys.
	printf 'a\r,1\nb,2\n' >lf
	"$xindex" build -t, -k 1,1 -o i lf
	printf 'a\r\n' | "$xindex" lookup i --keys=- | cmp - <(printf 'a\r,1\n')
	run -1 bash -c "printf 'b\r\n' | '$xindex' lookup i --keys=-"
}

@test "lines of JSON are found by values of members" {
	printf '\xef\xbb\xbf{"id":5,"n":"a"}\n{"id":"5","n":"b"}\r\n{"id":5.0,"n":"é"}\n{"n":"\\u00e9"}\n{"id":[1,2]}\n{"id":true}\n' >in
	"$xindex" build --json -k .id -o i in
	"$xindex" lookup i 5e0 | cmp - <(printf '{"id":5,"n":"a"}\n{"id":5.0,"n":"é"}\n')
	"$xindex" lookup i '"5"' | cmp - <(printf '{"id":"5","n":"b"}\r\n')
	"$xindex" lookup i null '[ 1.0, 2 ]' true | cmp - <(printf '{"n":"\\u00e9"}\n{"id":[1,2]}\n{"id":true}\n')
	"$xindex" range i --lo 5 --hi '[]' | cmp - <(printf '{"id":5,"n":"a"}\n{"id":5.0,"n":"é"}\n{"id":"5","n":"b"}\r\n')
	printf '5\r\n"5"\n' | "$xindex" lookup i --keys=- >out
	[ "$(wc -l <out)" -eq 3 ]
	run -1 "$xindex" lookup i nope
	[[ $("$xindex" check i) == *'6 records, 5 keys: no fault' ]]
	"$xindex" build --json -k .n:r -o i in
	[ "$("$xindex" lookup i é | wc -l)" -eq 2 ]
	"$xindex" build --json --strict -k .id:n -o i in
	[ "$("$xindex" lookup i 5 | wc -l)" -eq 3 ]
	touch -d '1 hour ago' in
	run -2 "$xindex" lookup i 5
	[[ $output == *"xindex build --json --strict -k '.id:n' -o i"* ]]
	printf '{"id":1}\n{"id":}\n' >bad
	for threads in 1 3; do
		fails_with 'xindex: bad: line 2, byte 7: not JSON: expected a JSON value' "$xindex" build --json -k .id --parallel=$threads -o j bad
		[ ! -e j ]
	done
	fails_with "xindex: -k 'id': with --json a key is a path, such as .user.id" "$xindex" build --json -k id -o j bad
	run -2 "$xindex" build -k .id -o j bad
	run -2 "$xindex" build --json --csv -o j bad
	run -2 "$xindex" build --strict -o j bad
}

@test "lines of JSON are found as Python finds them" {
	needs python3
	python3 "$BATS_TEST_DIRNAME/xsort_json.py" lines 3 20000 >in
	"$xindex" build --json -k .i --page-size=512 -o i in
	seq 0 7 25000 >keys
	"$xindex" lookup i --keys=keys >out || [ $? -eq 1 ]
	python3 -c '
import json
keys = set(range(0, 25001, 7))
for line in open("in", newline="\n"):
    v = json.loads(line)
    if isinstance(v, dict) and v.get("i") in keys:
        print(line, end="")' | cmp - out
	[ -s out ]
}

@test "the report has the keys that are documented" {
	needs jq
	seq 100 >s
	"$xindex" build -o i s
	"$xindex" lookup i 5 6 700 --direct --volume sim:atlas10k3-like,files=both --stats=stats >/dev/null
	[ "$(jq -c '[.schema, .result.keys, .result.found, .result.records]' stats)" = '["spindle.index/1",3,2,2]' ]
	has_keys stats result.no_effect[] sim
}
