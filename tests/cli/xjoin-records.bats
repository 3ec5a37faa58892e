#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xjoin of records other than lines: CSV with newlines in quotes, and binary records.  Python's csv
# and struct modules compute the expected result.
. "$BATS_TEST_DIRNAME/suite.bash"

# Two CSV files with everything in their fields that needs quotes, and the
# results of joining them on field 2 of the first and field 1 of the second.
csv_tables()
{
	needs python3
	python3 - "$@" <<'P'
import csv, random, sys

r = random.Random(7)
end = sys.argv[1] if len(sys.argv) > 1 else "\n"
end = end.encode().decode("unicode_escape")
pieces = ["a", "b", ",", '"', "\n", "\r\n", "x" * 90, "", " "]

def text():
    return "".join(r.choice(pieces) for _ in range(r.randrange(6)))

def key():
    return "key %d%s" % (r.randrange(1500), r.choice(["", "", "\n", '"', ","]))

def table(n, at):
    return [[text(), text(), text()][:at] + [key()] + [text()] for _ in range(n)]

def store(name, rows):
    with open(name, "w", newline="") as f:
        w = csv.writer(f, lineterminator=end, quoting=csv.QUOTE_ALL if name == "r" else csv.QUOTE_MINIMAL)
        w.writerows(rows)

head = [["one\nhalf", "the\r\nkey", "two"], ["key", "three,\nfour"]]
left, right = table(2500, 1), table(2000, 0)
store("l", [head[0]] + left)
store("r", [head[1]] + right)
by_key = {}
for row in right:
    by_key.setdefault(row[0], []).append(row)
keys = {row[1] for row in left}
with open("want", "w") as f:
    out = [[a[1], a[0], a[2], b[1]] for a in left for b in by_key.get(a[1], [])]
    out += [[a[1], a[0], a[2], ""] for a in left if a[1] not in by_key]
    out += [[b[0], "", "", b[1]] for b in right if b[0] not in keys]
    print(*sorted(map(repr, out)), sep="\n", file=f)
with open("want-header", "w") as f:
    print([head[0][1], head[0][0], head[0][2], head[1][1]], file=f)
P
}

# Rows of the CSV in standard input, one repr a line, sorted but the first.
rows()
{
	python3 -c '
import csv, sys
rows = [repr(r) for r in csv.reader(open(0, newline=""), strict=True)]
print(*rows[:1] + sorted(rows[1:]), sep="\n")'
}

@test "CSV records with newlines in quotes, through memory and temporary space" {
	csv_tables
	cat want-header want >all
	for options in "-S 64M" "-S 512K" "-S 512K --build=1" "-S 512K --algorithm=grace" \
		"-S 512K --algorithm=nested --build=2" "-S 512K --algorithm=shj" "-S 1M --page-size=4K --join-memory=256K"; do
		# shellcheck disable=SC2086
		"$xjoin" $options --csv --header -1 2 -a1 -a2 l r | rows | cmp - all
	done
	"$xjoin" -S 512K --csv --header -1 2 -a1 -a2 --stats=r.json l <(cat r) | rows | cmp - all
	run ! grep -q '"write_bytes": 0' <(grep -A9 '"spill"' r.json)
}

@test "CSV records that end with CR LF" {
	csv_tables '\r\n'
	cat want-header want >all
	"$xjoin" -S 512K --csv --header -1 2 -a1 -a2 l r | rows | cmp - all
	printf 'k,1\r\nl,2\r\n' >l
	printf '1,k\r\n2,"l"\r\n\r\n' >r
	run -0 bash -c '"$0" --csv -2 2 -a2 l r 2>&1 | sort | od -c' "$xjoin"
	[ "$output" = "$(printf 'k,1,1\nl,2,2\nxjoin: r: 1 blank line skipped\n' | od -c)" ]
}

@test "--csv --header: every record has the header's columns" {
	printf 'id,a\n1,x\n2,y\n4,w\n5\n' >l
	printf 'id,b,c\n1,b1,c1\n3,b3,c3\n2\n' >r
	local pairs='1,x,b1,c1 2,y,, ' lone1='4,w,, 5,,, ' lone2='3,,b3,c3 '
	for engine in "" --algorithm=grace --algorithm=shj --algorithm=nested --build=1 --build=2 \
		--ordered=1 --ordered=2; do
		while read -r option rows; do
			"$xjoin" $engine --csv --header "$option" l r >out
			case $option in
			*semi | *anti) [ "$(head -n 1 out)" = id,a ] ;;
			*) [ "$(head -n 1 out)" = id,a,b,c ] ;;
			esac
			tail -n +2 out | sort | cmp - <(printf '%s\n' $rows | sort)
		done <<-T
			--type=inner $pairs
			--type=left $pairs $lone1
			--type=right $pairs $lone2
			--type=full $pairs $lone1 $lone2
			--type=anti 4,w 5,
			-v2 $lone2
			--type=semi 1,x 2,y
		T
	done
	run -0 "$xjoin" --csv --header --type=full --ordered=1 -e - l r
	[ "$output" = $'id,a,b,c\n1,x,b1,c1\n2,y,-,-\n4,w,-,-\n5,-,-,-\n3,-,b3,c3' ]
	run -0 "$xjoin" --csv --header --type=full --ordered=2 -2 1 -1 2 <(printf 'n,k,m\na,k1,1\n') \
		<(printf 'k,v\nk2,7\n')
	[ "$output" = $'k,n,m,v\nk2,,,7\nk1,a,1,' ]
	: >none
	run -0 "$xjoin" --csv --header -a1 --ordered=1 l none
	[ "$output" = $'id,a\n1,x\n2,y\n4,w\n5,' ]
}

@test "--csv --header: a record with more fields than the header is an error" {
	printf 'id,a\n1,x\n' >l
	printf 'id,b\n1,y,z\n' >r
	run -1 "$xjoin" --csv --header --output=new l r
	[ "$output" = "xjoin: r: a record has 3 fields, the header 2" ]
	[ ! -e new ]
	run -0 "$xjoin" --csv --header -o auto l r
	[ "$output" = $'id,a,b\n1,x,y' ]
	run -1 "$xjoin" --csv --header -o 0,2.3 l r
	[ "$output" = "xjoin: r: the header has 2 columns, not 3" ]
}

@test "keys that are assembled may all be empty" {
	printf ',a\n' >l
	printf ',b\n"",c\n' >r
	for o in --csv "--csv -i" "-i -t,"; do
		# shellcheck disable=SC2086 # options
		run -0 "$xjoin" $o --algorithm=hybrid l r
		[[ $output == ,a,b* ]]
	done
}

@test "columns of CSV, and the filling of empty ones" {
	needs python3
	printf 'k,"a\nb",\n"l","",3\n' >l
	printf '"k","x ""y"""\n' >r
	run -0 bash -c '"$0" --csv -a1 -o 1.2,0,2.2,1.3 l r | sort' "$xjoin"
	[ "$output" = $'"","l",,3\n"a\nb",k,"x ""y""",' ]
	for f in plain 'with,comma' 'with"quote' $'two\nlines'; do
		"$xjoin" --csv -a1 -e "$f" -o 1.2,0,2.2,1.3 l r | python3 -c '
import csv, sys
rows = sorted(csv.reader(open(0, newline=""), strict=True))
f = sys.argv[1]
assert rows == sorted([["a\nb", "k", "x \"y\"", f], [f, "l", f, "3"]]), rows' "$f"
	done
	printf '"not closed' >bad
	run -1 "$xjoin" --csv --output=new bad r
	[[ $output == *"bad: line 1: a quoted field is not closed" ]]
	[ ! -e new ]
}

# l: 24 bytes, u32le at 4, a name of 4 bytes at 8, f64be at 16.
# r: 20 bytes, i64be at 0, the name at 8, f32le at 12.
binary_tables() # ROWS
{
	needs python3
	cat >oracle.py <<'P'
import random, struct, sys

r = random.Random(3)
n = int(sys.argv[1])
special = [0.0, -0.0, float("inf"), float("-inf"), 1.5]
nans = [(0x7ff8000000000000, 0x7fc00000), (0xfff8000020000000, 0xffc00001)]

def floats():
    if r.randrange(100) == 0:
        a, b = r.choice(nans)
        return struct.pack(">Q", a), struct.pack("<I", b), a
    v = r.choice(special) if r.randrange(40) == 0 else float(r.randrange(n))
    return struct.pack(">d", v), struct.pack("<f", v), v

def number():
    return r.choice([r.randrange(n), 2**31 + r.randrange(n), 2**32 - 1 - r.randrange(n)])

left, right = [], []
for i in range(n):
    f = floats()
    name = bytes(r.choices(b"\0\n\xff ab", k=4))
    u = number()
    left.append((struct.pack("<II4s4x", i, u, name) + f[0], u, name, f[2]))
    f = floats()
    u = number() - r.choice([0, 0, 0, 2**32])
    name = bytes(r.choices(b"\0\n\xff ab", k=4))
    right.append((struct.pack(">q4s", u, name) + f[1] + struct.pack("<I", i), u, name, f[2]))

open("l", "wb").write(b"".join(x[0] for x in left))
open("r", "wb").write(b"".join(x[0] for x in right))

def want(file, key, left_fill=b"\0" * 24, right_fill=b"\0" * 20):
    by_key = {}
    for b in right:
        by_key.setdefault(key(b), []).append(b[0])
    keys = {key(a) for a in left}
    out = [a[0] + b for a in left for b in by_key.get(key(a), [])]
    assert out
    out += [a[0] + right_fill for a in left if key(a) not in by_key]
    out += [left_fill + b[0] for b in right if key(b) not in keys]
    open(file, "wb").write(b"".join(sorted(out)))

want("want-bytes", lambda x: (x[2], x[0][8:12]))
want("want-int", lambda x: x[1])
want("want-float", lambda x: x[3], b"\xaa" * 24, b"\xaa" * 20)
want("want-both", lambda x: (x[1] % 2**64, x[2]))
P
	python3 oracle.py "$1"
}

records() # BYTES: of those in standard input, sorted
{
	python3 -c '
import sys
d, n = sys.stdin.buffer.read(), int(sys.argv[1])
assert len(d) % n == 0, len(d)
sys.stdout.buffer.write(b"".join(sorted(d[i:i + n] for i in range(0, len(d), n))))' "$1"
}

@test "binary records, through memory and temporary space" {
	binary_tables 8000
	for options in "-S 64M" "-S 512K --build=1" "-S 512K --algorithm=shj"; do
		all="$options --record-size=24,20 --type=full"
		# shellcheck disable=SC2086
		"$xjoin" $all --bkey=4:4:u32le,0:8:i64be l r | records 44 | cmp - want-int
		# shellcheck disable=SC2086
		"$xjoin" $all --bkey=16:8:f64be,12:4:f32le -e 0xaa l r >out || return
		records 44 <out | cmp - want-float
		# shellcheck disable=SC2086
		"$xjoin" $all --bkey=8:4 --bkey=4:4:u32le,0:8:i64be l <(cat r) | records 44 | cmp - want-both
	done
	"$xjoin" -S 512K --record-size=24,20 --bkey=8:4 -a1 -a2 --stats=r.json l r | records 44 | cmp - want-bytes
	run ! grep -q '"write_bytes": 0' <(grep -A9 '"spill"' r.json)
	grep -q '"format": "fixed"' r.json
	"$xjoin" -S 512K --algorithm=nested --record-size=24,20 --bkey=4:4:u32,0:8:i64be -a1 -a2 l r |
		records 44 | cmp - want-int
}

@test "columns of binary records" {
	printf 'ka1kb2kc3' >l
	printf 'XkaYkaZkd' >r
	x() { run -0 bash -c '"$0" --record-size=3 --bkey=0:2,1:2 "$@" | od -An -v -c -w99' "$xjoin" "$@"; }
	x --type=semi l r
	[ "${output//[$' ']/}" = "ka1" ]
	x --type=anti l r
	[ "${output//[$' ']/}" = "kb2kc3" ] || [ "${output//[$' ']/}" = "kc3kb2" ]
	x -v2 l r
	[ "${output//[$' ']/}" = "Zkd" ]
	x -v2 -e 46 -o 0,1.2:1,2.0:1 l r
	[ "${output//[$' ']/}" = "kd.Z" ]
	x -a1 -o 2.0:1,1.2:1 --build=1 -e 0x2e l r
	[ "$(fold -w2 <<<"${output//[$' ']/}" | sort | tr -d '\n')" = ".2.3X1Y1" ]
	# Whole records are the key.
	run -0 bash -c '"$0" --record-size=3 l - <l | fold -w6 | sort | tr -d "\n"' "$xjoin"
	[ "$output" = "ka1ka1kb2kb2kc3kc3" ]
	run -0 "$xjoin" --record-size=3,5 --bkey=0:1 /dev/null /dev/null
	[ -z "$output" ]
}

@test "binary records that do not fill their file" {
	printf 'ka1kb' >l
	printf 'ka1' >r
	for args in "l r" "r l" "r -"; do
		# shellcheck disable=SC2086
		run -1 --separate-stderr "$xjoin" --record-size=3 -a1 -a2 $args <l
		[ -z "$output" ]
		# shellcheck disable=SC2154 # run sets it
		[[ $stderr == "xjoin: "*": length is not a multiple of the record size 3" ]]
		[[ $stderr != *$'\n'* ]]
	done
	run -1 "$xjoin" --record-size=3 --output=new -a1 r <(cat l)
	[[ $output == *"not a multiple"* ]]
	[ ! -e new ]
	# Standard input counts from its present offset.
	{ dd bs=2 count=1 status=none of=/dev/null; run -0 "$xjoin" --record-size=3 -v2 r -; } <l
	[ "$output" = "1kb" ]
}

@test "options that exclude binary records" {
	: >e
	r=--record-size=8
	while IFS='|' read -r args words; do
		# shellcheck disable=SC2086
		run -1 "$xjoin" $args e e
		[[ $output == "xjoin: "*"$words"* ]] || { echo "$args: $output"; return 1; }
	done <<-LIST
		--bkey=0:4|--bkey needs --record-size
		-o 1.0:4|invalid field number: '0:4'
		$r --csv|'--csv' and '--record-size' are incompatible
		$r -j1|'-j' and '--record-size' are incompatible
		$r -2 2|'-j' and '--record-size' are incompatible
		$r -t,|'-t' and '--record-size' are incompatible
		$r -z|'-z' and '--record-size' are incompatible
		$r -i|'-i' and '--record-size' are incompatible
		$r --header|'--header' and '--record-size' are incompatible
		$r -o auto|'-o auto' and '--record-size' are incompatible
		$r --check-order|incompatible
		$r --algorithm=merge|incompatible
		$r -o 1.2|FILENUM.OFFSET:LENGTH, not '1.2'
		$r -o 1.0:4:u32|invalid field specifier
		$r -o 1.8:1|a field lies outside the records of file 1
		$r -o 1.0:4,2.7:2|a field lies outside the records of file 2
		$r --explain --bkey=0:9|a field lies outside the records of file 1
		$r --bkey=0:9|a field lies outside the records of file 1
		$r,4 --bkey=4:4|a field lies outside the records of file 2
		$r,4|records of different sizes need --bkey
		$r --bkey=0:4:u32,0:8|different types
		$r --bkey=0:4,0:8|different lengths
		$r --bkey=0:4:f32,0:4:u32|different types
		$r --bkey=0:4:r|no direction
		$r --bkey=0:4,0:4,0:4|one part per file
		$r --bkey=0:3:u32|type u32 has a length of 4, not 3
		$r --bkey=x|invalid offset; valid is OFFSET:LENGTH[:TYPE], TYPE one of bytes, u8,
		--page-size=4KB|invalid suffix in --page-size argument '4KB': valid sizes are such as 512b, 4K,
		-S 4KB|invalid suffix in -S argument '4KB': valid sizes are such as 512b, 4K,
		--join-memory=4KB|invalid suffix in --join-memory argument '4KB': valid sizes are such as
		--volume=foo|invalid --volume argument 'foo': valid are dir:PATH, block:DEVICE and sim:MODEL[,KEY=VALUE]...
		$r -e x|a byte from 0 to 255
		$r -e 256|a byte from 0 to 255
		$r -e -1|a byte from 0 to 255
		--record-size=0|invalid --record-size argument '0': valid are SIZE and SIZE,SIZE, of at least a byte
		--record-size=8,|invalid --record-size argument
		--record-size=8,8,8|invalid --record-size argument '8,8,8'
	LIST
}
