#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Damaged tables, devices that are too small, and several programs with one table: no value is
# wrong, one message names the place and the reason, and what was there stays.
. "$BATS_TEST_DIRNAME/suite.bash"

# A table t of all kinds of cells: values, texts, directory, tombstones, schema, map.
make_table()
{
	awk 'BEGIN { for (i = 0; i < 700; i++)
		printf "%d|%d|%s|text %s %d|%d.25\n", i, i * 7919 % 97, i % 3 ? "red" : "blue", substr("xxxxxxxxxxxxxxxxxxxxxxxxxxx", 1, i % 27), i, i % 50 }' >in
	"$xtable" load t in -t'|' --cell=512 --types c3:dict8,c4:text "$@"
	"$xtable" delete t 5 600
	"$xtable" update t --set c4=changed 3
}

@test "each damaged cell is found, and never gives a wrong value" {
	needs python3
	for layout in csm nsm; do
		make_table --layout=$layout --overwrite
		python3 - "$xtable" <<'END'
import subprocess
import sys

def run(*args):
    done = subprocess.run([sys.argv[1], *args], capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode()

want = run("scan", "t")[1]
whole = open("t", "rb").read()
places = set()
for cell in range(len(whole) // 512):
    changed = bytearray(whole)
    changed[cell * 512 + 8 + cell % 500] ^= 0x55
    open("t", "wb").write(changed)
    status, out, message = run("scan", "t")
    found, text, refused = run("check", "t")
    assert status == 2 or (status == 0 and out == want), (cell, status)
    if found == 0:  # the cell is not used
        assert status == 0 and not message, (cell, message)
        continue
    said = message if status or cell < 16 else text.decode()
    places.add(next((p for p in ("superblock", "values", "text", "directory", "schema", "map",
                                 "tombstones") if p in said), said))
    assert status == 0 or (message.count("\n") == 1 and f"t: cell {cell} of the " in message), (cell, message)
    assert status == 0 or "values" not in message or "records" in message and "column" in message
    status, _, message = run("update", "t", "--set", "c1=7", "699")
    assert status == 0 or open("t", "rb").read() == changed, (cell, message)
open("t", "wb").write(whole)
assert len(places) == 7, places
END
		"$xtable" check t
	done
}

@test "a table that was truncated anywhere is refused by each command" {
	make_table
	size=$(stat -c %s t)
	for bytes in 1 4096 5000 $((size / 2)) $((size - 1)); do
		cp t part
		truncate -s "$bytes" part
		for command in "scan part" "info part" "check part" "get part 1" "append part in" \
			"delete part 1" "convert part u"; do
			# shellcheck disable=SC2086
			run -2 --separate-stderr "$xtable" $command
			# shellcheck disable=SC2154 # bats sets these
			[[ ${#stderr_lines[@]} -eq 1 && $stderr == "xtable: part: "* ]]
		done
		[ ! -e u ]
	done
	printf 'more' >>t
	"$xtable" check t
}

@test "a cell of another table is found" {
	seq 3000 | "$xtable" load t --cell=512
	seq 3000 | "$xtable" load other --cell=512 --seed=7
	dd if=other of=t bs=512 skip=20 seek=20 count=1 conv=notrunc status=none
	run -2 --separate-stderr "$xtable" scan t
	[[ $stderr == *"t: cell 20 of the values (records "*"of column c1): its content is damaged, or it is of another table" ]]
	run -1 "$xtable" check t
	dd if=t of=t bs=512 skip=21 seek=20 count=1 conv=notrunc status=none
	run -2 --separate-stderr "$xtable" scan t
	[[ $stderr == *"t: cell 20 of the values"*"it is cell 21"* ]]
}

@test "a device that is too small is said, with the bytes that are needed" {
	seq 200000 | awk '{ print $1 "|" $1 % 97 }' >in
	seq 60000 | awk '{ print $1 "|text " $1 }' >texts
	for input in in texts; do
		run -2 --separate-stderr "$xtable" load t -t'|' "$input" --volume=sim:tiny
		[[ $stderr =~ ^"xtable: t: the table needs at least "[0-9]+" bytes, the device has 709632: choose a larger one"$ ]]
		[ ! -e t ]
	done
	head -n 9000 in | "$xtable" load t -t'|' --types c1:i32,c2:i32 --volume=sim:tiny
	cp t before
	run -2 --separate-stderr "$xtable" append t in
	[[ $stderr == "xtable: t: the table needs at least "*" bytes, the device has 709632: choose a larger one" ]]
	"$xtable" scan t | cmp - <(head -n 9000 in)
	"$xtable" load large -t'|' in
	run -2 --separate-stderr "$xtable" convert large u --volume=sim:tiny
	[[ $stderr == "xtable: large: the table needs at least "*" bytes, the device has 709632: choose a larger one" && ! -e u ]]
}

@test "a change that exceeds the device is refused, and the table stays as it was" {
	seq 3000 | awk '{ printf "%d|%050d|%d\n", $1, $1, $1 * 3 }' >in
	"$xtable" load t -t'|' in --types c2:text --volume=sim:tiny --layout=pax --cell=1K
	status=0
	for ((n = 100; n < 3000; n += 100)); do
		"$xtable" scan t >before
		run --separate-stderr "$xtable" update t --where "c1 < $n" --set c2="$(printf 'a text that is longer %050d' $n)"
		[ "$status" -eq 0 ] || break
	done
	[ "$status" -eq 2 ]
	[[ $stderr == "xtable: t: the table needs at least "*" bytes, the device has 709632: choose a larger one" ]]
	"$xtable" check t
	"$xtable" scan t | cmp - before
}

@test "updates of texts use the space of the journal before, so the file does not grow with each" {
	seq 3000 | awk '{ print $1 "|text " $1 }' >in
	"$xtable" load t -t'|' in --types c2:text --layout=pax --cell=1K
	for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
		"$xtable" update t --where 'c1 < 1000' --set c2="$((n % 2)) of a text $n"
		[ $n -ne 4 ] || early=$(stat -c %s t)
	done
	[ "$(stat -c %s t)" -lt $((early * 3 / 2)) ]
	"$xtable" check t
	"$xtable" scan t --columns c2 | cmp - <(awk -F'|' '{ print NR < 1000 ? "0 of a text 12" : $2 }' in)
}

@test "standard input that is the table itself" {
	seq 10 | "$xtable" load t
	cp t before
	run -2 --separate-stderr sh -c '"$1" load t --overwrite <t' sh "$xtable"
	[[ $stderr == *"TABLE would overwrite it" ]]
	run -2 --separate-stderr sh -c '"$1" append t <t' sh "$xtable"
	[[ $stderr == *"is the table itself" ]]
	run -2 --separate-stderr sh -c '"$1" append t - <t' sh "$xtable"
	cmp t before
}

# holding MODE COMMAND...: runs a command on t while another one, which waits for input, has it open.
holding()
{
	local mode=$1 holder

	shift
	mkfifo pipe
	"$xtable" $mode <pipe >/dev/null 2>held &
	holder=$!
	exec 5>pipe
	if [ "$mode" = "append t" ]; then seq 100000 >&5; else seq 0 9 >&5; fi
	for _ in {1..100}; do
		run --separate-stderr "$xtable" "$@"
		[ "$status" -ne 2 ] || break
		sleep 0.05
	done
	exec 5>&-
	wait "$holder"
	rm pipe
}

@test "--wait waits until another program has released the table, or the time is over" {
	needs flock
	seq 10 | "$xtable" load t --types c1:i32
	for command in "update t --set c1=1 1" "scan t" "info t" "load t --overwrite"; do
		rm -f begun
		flock t sh -c ': > begun; sleep 0.3' 3>&- &
		until [ -e begun ]; do :; done
		# shellcheck disable=SC2086
		"$xtable" $command --wait=20 <<<9 >out
	done
	[ "$("$xtable" scan t)" = 9 ]
	run -2 flock t "$xtable" scan t --wait=20ms
	[ "$output" = "xtable: t: another program is changing it" ]
	# The new table that replaced the old one is read.
	seq 3 | "$xtable" load u
	flock t sh -c ': > begun2; sleep 0.3; mv u t' 3>&- &
	until [ -e begun2 ]; do :; done
	[ "$("$xtable" scan t --agg 'count()' --wait)" = 3 ]
}

@test "while one program changes a table, no other one reads or changes it" {
	seq 10 | "$xtable" load t --types c1:i32
	for command in "scan t" "get t 1" "append t t.new" "update t --set c1=1 1" "convert t u"; do
		echo 1 >t.new
		# shellcheck disable=SC2086
		holding "append t" $command
		[ "$status" -eq 2 ]
		[[ $stderr == "xtable: t: another program is "* ]]
		[ ! -e u ]
	done
	[ "$("$xtable" scan t --agg 'count()')" -ge 500010 ]
	"$xtable" check t
}
