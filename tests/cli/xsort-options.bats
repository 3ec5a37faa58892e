#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
#
# Options of xsort that GNU sort does not have; xsort-gnu.t tests the others.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	printf 'b\na\nc\n' >abc
}

# refuses MESSAGE ARGUMENT...: status 2, nothing on standard output.
refuses()
{
	local message=$1

	shift
	run -2 --separate-stderr "$xsort" "$@"
	[ -z "$output" ]
	[ "$stderr" = "xsort: $message" ] || { echo "message: $stderr"; return 1; }
}

@test "help fits 80 columns and has GNU's options before Spindle's own" {
	run -0 --separate-stderr "$xsort" --help
	[ -z "$stderr" ]
	awk 'length > 80 { bad = 1 } END { exit bad }' <<<"$output"
	[[ $output == "Usage: xsort "*--key=*--explain* ]]
	run -0 "$xsort" --usage
	[[ $output == "Usage: xsort "*--bkey=* ]]
	awk 'length > 80 { bad = 1 } END { exit bad }' <<<"$output"
}

@test "the version names the program as it was called" {
	ln -s "$(realpath "$xsort")" sort
	run -0 ./sort --version
	[[ ${lines[0]} =~ ^sort\ \(Spindle\)\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	run -2 ./sort --no-such-option
	[ "${lines[0]}" = "sort: unrecognized option '--no-such-option'" ]
	run -2 ./sort --sotr=n
	[[ $output == "sort: unrecognized option '--sotr=n'"$'\n'"Try 'sort --help'"* ]]
}

@test "a word that could be GNU's is GNU's, else Spindle's may be abbreviated" {
	run -0 "$xsort" --re abc # --reverse, not --recycle
	[ "$output" = $'c\nb\na' ]
	run -2 "$xsort" --rec abc
	[[ ${lines[0]} == "xsort: option '--rec' is ambiguous; possibilities: "* ]]
	run -0 "$xsort" --lim=1 abc # --limit
	[ "$output" = a ]
	run -2 "$xsort" --fan-in
	[ "${lines[0]}" = "xsort: option '--fan-in' requires an argument" ]
	run -2 "$xsort" --csv=x
	[ "${lines[0]}" = "xsort: option '--csv' doesn't allow an argument" ]
}

@test "values that cannot be are refused, and those that can be are named" {
	local sizes="valid sizes are such as 512b, 4K, 64M, 2G, 1T and 10%"
	local volumes="valid are dir:PATH, block:DEVICE and sim:MODEL[,KEY=VALUE]..."

	refuses "invalid --limit argument 'x': a whole number is expected" --limit=x abc
	refuses "minimum --fan-in argument is '2'" --fan-in=1 abc
	refuses "--fan-in argument '99999999999' too large: at most 2147483647" --fan-in=99999999999 abc
	for option in run-size merge-buffer page-size record-size; do
		refuses "invalid suffix in --$option argument '4KB': $sizes" --$option=4KB abc
		refuses "invalid --$option argument 'x': $sizes" --$option=x abc
	done
	refuses "invalid suffix in -S argument '4KB'" -S 4KB abc
	refuses "invalid --record-size argument '0': at least a byte" --record-size=0 abc
	refuses "--page-size must be a multiple of 4096 bytes and at most 16 MiB" --page-size=5000 abc
	refuses "--page-size must be a multiple of 4096 bytes and at most 16 MiB" --page-size=32M abc
	refuses "--page-size must be a multiple of 4096 bytes and at most 16 MiB" --page-size=4G abc
	refuses "invalid --volume argument 'foo': $volumes" --volume=foo abc
	refuses "invalid --volume argument 'dir:': $volumes" --volume=dir: abc
	refuses "invalid --volume argument 'moon:x': $volumes" --volume=moon:x abc
	refuses "'block:/dev/null': all data on the device may be lost: --overwrite allows that" \
		--volume=block:/dev/null abc
	run -2 "$xsort" --readahead=often abc
	[ "${lines[0]}" = "xsort: invalid argument 'often' for '--readahead'" ]
	[[ $output == *"- 'cluster'"* ]]
	refuses "invalid --recycle argument 'some': valid are none, all, auto and a merge level" \
		--recycle=some abc
	run -2 "$xsort" --engine=steam abc
}

@test "options that exclude each other are refused" {
	refuses "options '-k' and '--record-size' are incompatible" --record-size=2 -k1 abc
	refuses "options '-t' and '--record-size' are incompatible" --record-size=2 -t, abc
	refuses "options '--csv' and '--record-size' are incompatible" --record-size=2 --csv abc
	refuses "options '--csv' and '-z' are incompatible" --csv -z abc
	refuses "options '--limit' and '-c' are incompatible" -c --limit=1 abc
	refuses "--bkey needs --record-size" --bkey=0:1 abc
	refuses "--count needs --unique" --count abc
	run -2 "$xsort" --record-size=2 -n abc
	[[ $output == *--bkey* ]]
}

@test "--header keeps the first record and drops it from further inputs" {
	printf 'name\nz\nm\n' >one
	printf 'name\na\n' >two
	printf 'other\nb\n' >three
	: >none
	run -0 "$xsort" --header none one two one none
	[ "$output" = $'name\na\nm\nm\nz\nz' ]
	run -0 "$xsort" -m --header one two
	[ "$output" = $'name\na\nm\nz' ]
	printf 'name\nz' >unended
	run -0 "$xsort" --header=2 one unended
	[ "$output" = $'name\nz\nm' ]
	run -0 "$xsort" --header=2 one
	[ "$output" = $'name\nz\nm' ]
	run -0 "$xsort" --header=0 one
	[ "$output" = $'m\nname\nz' ]
	run -0 "$xsort" --header=9 one
	[ "$output" = $'name\nz\nm' ]
}

@test "--limit writes the first records of the whole result" {
	seq 5000 -1 1 >n
	run -0 "$xsort" -n --limit=3 n
	[ "$output" = $'1\n2\n3' ]
	run -0 "$xsort" -n -u --limit=2 n n
	[ "$output" = $'1\n2' ]
	run -0 "$xsort" --limit=10 abc
	[ "$output" = $'a\nb\nc' ]
}

@test "--count with --limit counts all records of the groups on top" {
	seq 400000 | awk '{ print $1 % 7 }' >w
	LC_ALL=C sort w | uniq -c | head -3 >want
	"$xsort" -S 1M -u --count --limit=3 w >got
	cmp want got
}

@test "-m with hardly a descriptor left still merges" {
	for i in 1 2 3 4 5; do echo "$i" >"in$i"; done
	echo 0 >out
	(
		exec 3<&- 4<&- 5<&- 6</dev/null 7<&6 8<&6 9<&6
		ulimit -n 10
		exec "$xsort" -n -m --batch-size=7 -o out out in1 in2 in3 in4 in5
	)
	[ "$(tr '\n' ' ' <out)" = "0 1 2 3 4 5 " ]
}

@test "--count with -u agrees with uniq -c" {
	printf 'b\na\nb\nb\n' >w
	run -0 "$xsort" -u --count w
	[ "$output" = "$(sort w | uniq -c)" ]
}

@test "inputs with different headers are an error that names both" {
	printf 'name\nz\nm\n' >one
	printf 'name\na\n' >two
	printf 'other\nb\n' >three
	refuses "three: header differs from that of one: column 1 is 'other', not 'name'" --header one two three
	refuses "three: header differs from that of one: column 1 is 'other', not 'name'" -m --header one two three
	refuses "three: header differs from that of one: column 1 is 'other', not 'name'" --header -o out one two three
	[ ! -e out ]
	refuses "one: header differs from that of -: column 1 is 'name', not 'other'" --header - one <three
	refuses "two: header differs from that of one: column 1 is 'a', not 'z'" --header=2 one two
	printf 'k,v\n"a\nb",1\n' >c1
	printf 'k,w\r\nc,2\n' >c2
	refuses "c2: header differs from that of c1: column 2 is 'w', not 'v'" --csv --header c1 c2
}

@test "--header=N,first: the first input alone has a header" {
	printf 'name\nz\nm\n' >one
	printf 'other\nb\n' >two
	run -0 "$xsort" --header=1,first one two one
	[ "$output" = $'name\nb\nm\nm\nname\nother\nz\nz' ]
	run -0 "$xsort" -m --header=2,first one two
	[ "$output" = $'name\nz\nb\nm\nother' ]
	for word in x 1,last 1,first,1 ,first -1 1K; do
		refuses "invalid --header argument '$word': valid are N and N,first" "--header=$word" one
	done
}

@test "-c and -C leave the header out" {
	printf 'name\nm\nz\na\n' >t
	run -1 "$xsort" -c --header t
	[ "$output" = "xsort: t:4: disorder: a" ]
	run -1 "$xsort" -C --header t
	[ -z "$output" ]
	run -1 "$xsort" -c t
	[ "$output" = "xsort: t:2: disorder: m" ]
	run -0 "$xsort" -c --header=3 t
	run -0 "$xsort" -c --header=9 t
	run -1 "$xsort" -cu --header=2 - <<<$'b\nb\nb\nb'
	[ "$output" = "xsort: -:4: disorder: b" ]
	run -1 "$xsort" -c --csv --header - <<<$'"h\nh"\n"x\ny"\nx\na'
	[ "$output" = "xsort: -:6: disorder: a" ]
}

@test "--csv knows quoted separators, quotes and newlines" {
	printf '3,"b,x"\n1,"a ""q""\nsecond line"\n2,c\n' >t
	run -0 "$xsort" --csv -k2,2 t
	[ "$output" = "$(printf '1,"a ""q""\nsecond line"\n3,"b,x"\n2,c')" ]
	tr , ';' <t >s
	run -0 "$xsort" --csv -t ';' -k1,1n s
	[ "${lines[0]}" = '1;"a ""q""' ]
}

@test "a quoted field that is not closed is an error that names the file" {
	printf 'b\n"abc\nd\n' >open
	printf 'a\n' >good
	refuses "open: line 2: a quoted field is not closed" --csv good open
	refuses "open: line 2: a quoted field is not closed" --csv -m good open
	refuses "open: line 2: a quoted field is not closed" --csv -c open
}

@test "the line of a quote that is not closed, in long inputs too" {
	{ seq -f '%g,"two
lines","a ""q"""' 100000; printf '7,"closed",pl"ain\n8,"x\ny","not ""closed\n'; yes z | head -n 300000; } >open
	: >none
	for input in open - ; do
		refuses "$input: line 200003: a quoted field is not closed" --csv -S 1M $input <open
		refuses "$input: line 200003: a quoted field is not closed" --csv -m -o out none $input <open
	done
	run -2 "$xsort" --csv -S 1M <(cat open)
	[[ $output == *": line 200003: a quoted field is not closed" ]]
	printf '"' >open
	refuses "open: line 1: a quoted field is not closed" --csv open
}

@test "a merge of binary records names the file of the wrong length" {
	printf '0123456789' >ten
	refuses "ten: length is not a multiple of the record size 4" --record-size=4 -m ten ten
}

@test "prefixes that part ever further along the line need no deep stack" {
	awk 'BEGIN {
		for (i = 0; i < 399; i++) {
			x = sprintf("%" i "s", ""); gsub(/ /, "x", x)
			p = sprintf("%" 399 - i "s", ""); gsub(/ /, "p", p)
			for (k = 3; k > 0; k--) print x substr("yza", k, 1) p
		}
	}' >stair
	LC_ALL=C sort stair >want
	"$xsort" --parallel=2 stair >got
	cmp want got
}

@test "binary records sort by their keys" {
	printf 'b2a1a2' >r
	[ "$("$xsort" --record-size=2 r)" = a1a2b2 ]
	[ "$("$xsort" --record-size=2 -r r)" = b2a2a1 ]
	[ "$("$xsort" --record-size=2 --bkey=1:1:r --bkey=0:1 r)" = a2b2a1 ]
	printf '\002\000\001\001\000\002' | "$xsort" --record-size=2 --bkey=0:2:u16le >o
	printf '\002\000\001\001\000\002' | cmp - o
	printf '\377\001' | "$xsort" --record-size=1 --bkey=0:1:i8 | od -An -tx1 >o
	[ "$(cat o)" = " ff 01" ]
	# -0 equals 0: the first one stays, and without -s bytes decide.
	printf '\0\0\0\200b\0\0\0\0a' >z
	[ "$("$xsort" -u --record-size=5 --bkey=0:4:f32 z | od -An -tx1)" = " 00 00 00 80 62" ]
	"$xsort" -s --record-size=5 --bkey=0:4:f32 --bkey=4:1:r z | cmp - z
	"$xsort" --record-size=5 --bkey=0:4:f32 --bkey=4:1 z | cmp - <(tail -c 5 z; head -c 5 z)
}

@test "a file that is not a multiple of the record size is an error" {
	printf 'abc' >r
	run -2 --separate-stderr "$xsort" --record-size=2 r
	[ -z "$output" ]
	[[ $stderr == "xsort: r: "* ]]
}

@test "a key outside the record is refused" {
	run -2 "$xsort" --record-size=2 --bkey=1:2 abc
	[[ $output == xsort:* ]]
	run -2 "$xsort" --record-size=2 --bkey=x abc
	[[ $output == "xsort: --bkey 'x': "* ]]
}

@test "--seed makes -R the same each time" {
	seq 100 >n
	"$xsort" -R --seed=7 n >one
	"$xsort" -R --seed=7 n >two
	"$xsort" -R --seed=8 n >three
	cmp one two
	run -1 cmp -s one three
	"$xsort" -n one | cmp - n
}

@test "every way to sort gives the same result" {
	seq 300000 | awk '{ print ($1 * 7919) % 300007 " " $1 }' >n
	LC_ALL=C sort n >want
	for how in --run-formation=load --run-formation=replacement --merge-policy=lazy \
		--merge-policy=eager --merge-policy=polyphase --merge-policy=mms \
		--merge-policy=ppms --fan-in=2 --run-size=200K \
		--page-size=4096 --recycle=none --recycle=all --recycle=1 --readahead=none \
		--readahead=double --readahead=equal --readahead=forecast --readahead=extended \
		--readahead=cluster --engine=sync --engine=libaio --engine=io_uring --engine=auto \
		--spill-compression=lz4 --spill-compression=zstd --compress-program=gzip \
		--direct=never --direct --parallel=1 "--volume=dir:$PWD"; do
		"$xsort" -S 1M "$how" -o got n || { echo "$how"; return 1; }
		cmp want got || { echo "$how"; return 1; }
	done
	run ls
	[ "$output" = $'abc\ngot\nn\nwant' ]
}

@test "a model that is not known is named without a failed operation" {
	run -2 "$xsort" --volume=sim:nosuch /dev/null
	[[ $output == "xsort: nosuch: no such model; known are "* ]]
}
