#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xjoin of records that are no lines: CSV with newlines in quotes, and binary
# records.  The right result is found by Python's csv and struct modules.

bats_require_minimum_version 1.5.0

setup()
{
	xjoin=${XJOIN:-$BATS_TEST_DIRNAME/../../build/bin/xjoin}
	export LC_ALL=C
	cd "$BATS_TEST_TMPDIR" || return
}

# Two CSV files with everything in their fields that needs quotes, and the
# results of joining them on field 2 of the first and field 1 of the second.
csv_tables()
{
	command -v python3 >/dev/null || skip "no python3"
	python3 - "$@" <<'P'
import csv, random, sys

r = random.Random(7)
end = sys.argv[1] if len(sys.argv) > 1 else "\n"
end = end.encode().decode("unicode_escape")
pieces = ["a", "b", ",", '"', "\n", "\r\n", "x" * 90, "", " "]

def text():
    return "".join(r.choice(pieces) for _ in range(r.randrange(6)))

def key():
    return "key %d%s" % (r.randrange(3000), r.choice(["", "", "\n", '"', ","]))

def table(n, at):
    return [[text(), text(), text()][:at] + [key()] + [text()] for _ in range(n)]

def store(name, rows):
    with open(name, "w", newline="") as f:
        w = csv.writer(f, lineterminator=end, quoting=csv.QUOTE_ALL if name == "r" else csv.QUOTE_MINIMAL)
        w.writerows(rows)

head = [["one\nhalf", "the\r\nkey", "two"], ["key", "three,\nfour"]]
left, right = table(5000, 1), table(4000, 0)
store("l", [head[0]] + left)
store("r", [head[1]] + right)
by_key = {}
for row in right:
    by_key.setdefault(row[0], []).append(row)
keys = {row[1] for row in left}
with open("want", "w") as f:
    out = [[a[1], a[0], a[2], b[1]] for a in left for b in by_key.get(a[1], [])]
    out += [[a[1], a[0], a[2]] for a in left if a[1] not in by_key]
    out += [[b[0], b[1]] for b in right if b[0] not in keys]
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
		"-S 512K --algorithm=nested --build=2" "-S 1M --page-size=4K --join-memory=256K"; do
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
	run -0 bash -c '"$0" --csv -2 2 -a2 l r | sort | od -c' "$xjoin"
	[ "$output" = "$(printf '\nk,1,1\nl,2,2\n' | od -c)" ]
}

@test "columns of CSV, and what stands for empty ones" {
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
	[[ $output == *"bad: a quoted field is not closed" ]]
	[ ! -e new ]
}
