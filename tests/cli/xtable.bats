#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
. "$BATS_TEST_DIRNAME/suite.bash"

# A small table in every form: names, a decimal, a date, NULLs, a text.
people()
{
	cat >people.csv <<'END'
name,born,height,city,notes
Ada,1815-12-10,1.65,London,first
Konrad,1910-06-22,1.80,Berlin,"a, b"
Grace,1906-12-09,1.68,New York,
Alan,1912-06-23,1.78,London,"said ""no"""
Edsger,1930-05-11,,Nuenen,""
END
	"$xtable" load people --csv --header people.csv "$@"
}

@test "--help and --version are answered on standard output, for each command too" {
	run -0 --separate-stderr "$xtable" --help
	[[ $output == *convert* && -z $stderr ]]
	run -0 "$xtable" --version
	[[ $output == "xtable (Spindle) "* ]]
	for command in load scan get index update delete append convert info check schema explain compare; do
		run -0 --separate-stderr "$xtable" "$command" --help
		[[ $output == *"Usage: xtable $command"* && -z $stderr ]]
	done
	run -0 "$xtable" scan --help
	[[ $output == *--where* && $output != *--layout* ]]
}

@test "a table gives back the bytes of its input, in every layout" {
	for layout in nsm pax dsm csm; do
		people --layout="$layout" --overwrite
		"$xtable" scan people | cmp - people.csv
		"$xtable" check people
	done
}

@test "records are selected by predicates, columns, numbers and a limit" {
	people
	run -0 "$xtable" scan people --where "city = 'London'" --columns name,height
	[ "$output" = $'name,height\nAda,1.65\nAlan,1.78' ]
	run -0 "$xtable" scan people --where "1.66 < height < 1.79 and born > '1910-01-01'" --columns name
	[ "$output" = $'name\nAlan' ]
	run -0 "$xtable" scan people --where "height is null" --columns name
	[ "$output" = $'name\nEdsger' ]
	run -0 "$xtable" scan people --where "not (height > 1)" --columns name
	[ "$output" = name ]
	run -0 "$xtable" scan people --lo 1 --hi 3 --columns name
	[ "$output" = $'name\nKonrad\nGrace' ]
	run -0 "$xtable" scan people --limit 1 --columns city,name
	[ "$output" = $'city,name\nLondon,Ada' ]
	run -0 "$xtable" scan people --where "notes is null" --columns name
	[ "$output" = $'name\nGrace' ]
	run -0 "$xtable" scan people --where "notes = ''" --columns name
	[ "$output" = $'name\nEdsger' ]
}

@test "get prints records in the order asked, and names those that are not there" {
	people
	run -0 "$xtable" get people 3 0 3
	[ "$output" = $'Alan,1912-06-23,1.78,London,"said ""no"""\nAda,1815-12-10,1.65,London,first\nAlan,1912-06-23,1.78,London,"said ""no"""' ]
	run -1 --separate-stderr "$xtable" get people 0 5 --columns name
	[ "$output" = Ada ]
	[ "$stderr" = "xtable: people: there is no record '5'" ]
	run -0 "$xtable" get people --columns name --keys=- < <(printf '1\r\n2')
	[ "$output" = $'Konrad\nGrace' ]
	run -2 --separate-stderr "$xtable" get people x
	[[ $stderr == *"'x'"* ]]
}

@test "aggregates skip NULL, and are exact" {
	people
	run -0 "$xtable" scan people --agg "count(),count(height),sum(height),avg(height),min(born)"
	[ "${lines[-1]}" = 5,4,6.91,1.72750000,1815-12-10 ]
	run -0 "$xtable" scan people --where "city = 'Atlantis'" --agg "count(),sum(height)"
	[ "${lines[-1]}" = 0, ]
}

@test "get finds records by value through an index, all of them by number" {
	people
	run -2 --separate-stderr "$xtable" get people --by=city London
	[[ $stderr == *"xtable index people city"* ]]
	"$xtable" index people city
	run -0 "$xtable" get people --by=city London Berlin --columns name
	[ "$output" = $'Ada\nAlan\nKonrad' ]
	run -1 --separate-stderr "$xtable" get people --by=city Paris
	[ -z "$output" ]
	[ "$stderr" = "xtable: people: no record has the city 'Paris'" ]
	"$xtable" index people height -o h
	run -0 "$xtable" get people --by=height 1.8 --index h --columns name
	[ "$output" = Konrad ]
}

@test "an index belongs to one table" {
	people
	"$xtable" index people name
	people --overwrite
	run -2 --separate-stderr "$xtable" get people --by=name Ada
	[[ $stderr == *people.name.index* ]]
}

@test "updates and deletes choose records by predicate, by value and from a file" {
	people
	"$xtable" index people name
	run -0 --separate-stderr "$xtable" update people --set "city='Oslo'" --where "height > 1.7"
	[[ -z $output && $stderr == 'xtable: people: 2 records updated' ]]
	for change in 'update --set height=1' delete; do
		# shellcheck disable=SC2086 # words of a command
		run -1 "$xtable" $change people --where "city = 'Bergen'"
		[ "$output" = 'xtable: people: the predicate is true for no record' ]
	done
	run -0 "$xtable" scan people --columns name --where "city = 'Oslo'"
	[ "$output" = $'name\nKonrad\nAlan' ]
	"$xtable" update people --by=name --set height=1.9 Ada
	run -0 "$xtable" get people --by=name Ada --columns height
	[ "$output" = 1.90 ]
	printf 'name,height\nGrace,2.00\nNobody,1.00\n' >new
	run -1 --separate-stderr "$xtable" update people --by=name --from=new
	[ "$stderr" = "xtable: people: no record has the name 'Nobody'" ]
	run -0 "$xtable" scan people --columns height --where "name = 'Grace'"
	[ "${lines[1]}" = 2.00 ]
	run -0 "$xtable" delete people --where "city = 'Oslo'"
	[ "$output" = 'xtable: people: 2 records deleted' ]
	run -0 "$xtable" scan people --agg 'count()'
	[ "${lines[-1]}" = 3 ]
	"$xtable" check people
	run -2 "$xtable" update people --set height=1
	run -2 "$xtable" delete people
	run -2 "$xtable" delete people 0 --where "height > 1"
}

@test "info describes a table, as text and as JSON" {
	people --together name,city
	run -0 "$xtable" info people
	[[ $output == *"records: 5"* && $output == *"height dec"* && $output == *"layout: csm"* ]]
	run -0 "$xtable" info people --json
	[[ $output == *'"schema": "spindle.table-info/1"'* && $output == *'"columns": "name,city"'* ]]
}

@test "schema prints types that load takes" {
	people
	"$xtable" schema --csv --header people.csv >types
	grep -qx 'born date.*' types
	"$xtable" load other --csv --header --schema types people.csv
	"$xtable" scan other | cmp - people.csv
	run -0 "$xtable" schema < <(seq 200)
	[[ $output == "c1 u8"* ]]
}

@test "types that the user names take any spelling" {
	printf '1.5|007|2\n+2|8|3\n' >in
	"$xtable" load t -t'|' --types c1:f64,c2:i32,c3:dec\(2\) in
	run -0 "$xtable" scan t
	[ "$output" = $'1.5|7|2.00\n2|8|3.00' ]
}

@test "binary records need types, and come back" {
	printf '\1\0\0\0\2\0\377\377\377\177\3\4' >in
	"$xtable" load t --record-size=6 --types a:i32,b:u16 in
	"$xtable" scan t | cmp - in
	run -0 "$xtable" scan t --format=csv
	[[ $output == *$'1,2\n2147483647,1027' ]]
}

@test "an empty input is a table of 0 records" {
	printf 'a,b\n' | "$xtable" load t --csv --header
	run -0 "$xtable" scan t
	[ "$output" = a,b ]
	"$xtable" check t
	: | "$xtable" load e --types a:i32,b:text
	run -0 "$xtable" scan e
	[ -z "$output" ]
}

@test "a report tells what was read" {
	people
	"$xtable" scan people --where "city = 'London'" --stats=r.json >out
	[ "$(value command)" = '"scan"' ]
	[ "$(value records_matched)" = 2 ]
	[ "$(value records)" = 5 ]
	[ "$(value output_bytes)" = "$(stat -c %s out)" ]
	"$xtable" load p2 --csv --header people.csv --stats=r.json
	[ "$(value command)" = '"load"' ]
	[ "$(value records_written)" = 5 ]
	[ "$(value input_bytes)" = "$(stat -c %s people.csv)" ]
	[ "$(value exact)" = true ]
}

@test "the same bytes for any number of threads" {
	seq 30000 | awk '{ print $1 "|" $1 * 7919 % 1000 "|text " $1 }' >in
	"$xtable" load a -t'|' --parallel 1 in
	"$xtable" scan a --parallel 3 | cmp - in
	"$xtable" load b -t'|' --parallel 3 <in
	"$xtable" scan b --parallel 1 | cmp - in
	[ "$("$xtable" info a)" = "$("$xtable" info b)" ]
}

@test "changes are there, and the rest is as before" {
	people
	"$xtable" update people --set "city='Turin',height=null" 1 3
	run -0 "$xtable" scan people --columns name,city,height
	[ "$output" = $'name,city,height\nAda,London,1.65\nKonrad,Turin,\nGrace,New York,1.68\nAlan,Turin,\nEdsger,Nuenen,' ]
	run -1 --separate-stderr "$xtable" delete people --keys=- < <(printf '0\n9\n')
	[ "$stderr" = "xtable: people: there is no record '9'" ]
	run -0 "$xtable" scan people --columns name
	[ "$output" = $'name\nKonrad\nGrace\nAlan\nEdsger' ]
	run -1 "$xtable" get people 0
	printf 'name,born,height,city,notes\nBarbara,1939-11-07,1.60,Boston,\n' | "$xtable" append people
	run -0 "$xtable" get people 5
	[ "$output" = Barbara,1939-11-07,1.60,Boston, ]
	"$xtable" check people
	for layout in nsm pax dsm csm; do
		"$xtable" convert people packed --layout="$layout" --overwrite
		"$xtable" check packed
		"$xtable" scan packed | cmp - <("$xtable" scan people)
		run -0 "$xtable" get packed 0 --columns name
		[ "$output" = Konrad ]
	done
}

@test "explain and compare show all layouts, of tables, files and schemas" {
	seq 20000 | awk '{ print $1 "|" $1 % 97 "|" $1 % 7 }' >in
	"$xtable" load t -t'|' in
	for source in t "in -t|" "--schema=s --records=20000"; do
		printf 'c1 u16\nc2 u8\nc3 u8\n' >s
		# shellcheck disable=SC2086 # words are wanted
		run -0 "$xtable" explain $source -q 'scan c2'
		[[ $output == *"20000 records"*nsm*pax*dsm*csm*auto* ]]
	done
	run -0 "$xtable" compare t -q 'scan c2' --volume=sim:cheetah36es-like --stats=r.json
	[[ $output == *measured*stored* ]]
	grep -q '"spindle.table-comparison/1"' r.json
	run -2 "$xtable" explain t
	run -2 "$xtable" explain t -q 'scan c9'
	[[ $output == *c9* ]]
	printf '1 scan c2\n9 get 100 *\n' >w
	"$xtable" load a -t'|' --layout=auto --workload=w in
	"$xtable" scan a | cmp - in
}

@test "a reader that stops early ends a scan without a message" {
	seq 200000 | "$xtable" load t
	"$xtable" scan t 2>err | head -n 2 >out || true
	[ "$(cat out)" = $'1\n2' ]
	[ ! -s err ]
}

@test "an interrupted load leaves nothing" {
	mkfifo pipe
	"$xtable" load t <pipe 2>err &
	exec 5>pipe
	seq 100000 >&5
	kill -TERM $!
	exec 5>&-
	wait $! && status=0 || status=$?
	[ "$status" -eq 143 ]
	[ ! -e t ]
	[ "$(ls)" = "$(printf 'err\npipe')" ]
}

@test "a table stays when a load over it fails" {
	people
	printf 'a,b\n1,2,3\n' >bad
	run -2 --separate-stderr "$xtable" load people --csv --header bad --overwrite
	"$xtable" scan people | cmp - people.csv
	run -2 --separate-stderr "$xtable" load people --csv --header people.csv
	[[ $stderr == *--overwrite* ]]
}

@test "memory stays within the limit" {
	[ -z "${SP_TEST_VARIANT:-}" ] || skip "a sanitizer needs memory of its own"
	seq 400000 | awk '{ print $1 "|" $1 * 7919 % 100003 "|" $1 % 7 ".25|some text " $1 }' >in
	for layout in nsm csm; do
		"$xtable" load t -t'|' -S 4M --layout="$layout" --overwrite --stats=r.json in
		[ "$(value peak_bytes)" -le $((20 << 20)) ]
		"$xtable" scan t -S 4M --stats=r.json | cmp - in
		[ "$(value peak_bytes)" -le $((20 << 20)) ]
	done
}

@test "records come in the order asked, from any number of windows and batches" {
	needs python3
	seq 60000 | awk '{ print $1 "|" $1 * 7919 % 100003 "|" $1 % 7 ".25|some text " $1 % 9973 }' >in
	python3 - <<'END'
import random
random.seed(5)
lines = open("in", encoding="ascii").readlines()
lists = {"ascending": range(60000), "descending": range(59999, -1, -1),
         "random": [random.randrange(60000) for _ in range(40000)],
         "near": [30000 + random.randrange(300) for _ in range(5000)],
         "few": random.sample(range(60000), 37)}
for name, numbers in lists.items():
    with open("keys." + name, "w", encoding="ascii") as f:
        f.writelines(f"{n}\n" for n in numbers)
    with open("want." + name, "w", encoding="ascii") as f:
        f.writelines(lines[n] for n in numbers)
END
	for layout in nsm pax dsm csm; do
		"$xtable" load t -t'|' --layout="$layout" --cell=512 --overwrite in
		for name in ascending descending random near few; do
			for options in "-S 4M --parallel=1" "-S 64M --parallel=3"; do
				# shellcheck disable=SC2086
				"$xtable" get t $options --keys="keys.$name" --stats=r.json >got
				cmp got "want.$name"
				[ -n "${SP_TEST_VARIANT:-}" ] ||
					[ "$(value peak_bytes)" -le $((80 << 20)) ]
				[ "$(value output_bytes)" -eq "$(wc -c <got)" ]
			done
		done
	done
}

# varied: texts of 30 KB behind 400 short ones, and numbers that ask for the short ones first.
varied()
{
	awk 'BEGIN { for (x = "x"; length(x) < 30000;) x = x x
		for (i = 0; i < 2000; i++) print i "|" i (i < 400 ? "" : x) }' >in
	awk 'BEGIN { for (i = 899; i >= 0; i--) print i % 400
		for (i = 0; i < 2000; i++) print 400 + i * 7919 % 1600 }' >keys
	awk 'NR == FNR { line[NR - 1] = $0; next } { print line[$1] }' in keys >want
}

@test "gets of texts that become longer stay within the memory" {
	varied
	for layout in nsm csm; do
		"$xtable" load t -t'|' --types=n:u32,s:text --layout="$layout" --overwrite in
		for options in "-S 4M --parallel=1" "-S 4M --parallel=3"; do
			# shellcheck disable=SC2086
			"$xtable" get t $options --keys=keys --stats=r.json | cmp - want
			[ "$(value records_matched)" = 2900 ]
			[ -n "${SP_TEST_VARIANT:-}" ] || [ "$(value peak_bytes)" -le $((20 << 20)) ]
		done
	done
}

@test "scans of long texts in a directory row that is partly full stay within the memory" {
	varied
	for layout in nsm csm; do
		"$xtable" load t -t'|' --types=n:u32,s:text --layout="$layout" --overwrite in
		"$xtable" scan t -S 32M --stats=r.json | cmp - in
		[ -n "${SP_TEST_VARIANT:-}" ] || [ "$(value peak_bytes)" -le $((48 << 20)) ]
	done
}

# in_group COMMAND...: runs it in the control group.
in_group()
{
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}

# begin_group BYTES: makes a control group with this limit; group is its directory.
begin_group()
{
	local limit
	for limit in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
		group=${limit%/*}/spindle-test.$$
		mkdir "$group" 2>/dev/null || continue
		# Only the kernel makes this file.
		if [ -e "$group/${limit##*/}" ] && { echo "$1" >"$group/${limit##*/}"; } 2>/dev/null; then
			return 0
		fi
		rmdir "$group"
	done
	group=
	skip 'no control group can be made here'
}

teardown()
{
	[ -z "${group:-}" ] || rmdir "$group"
}

@test "scans and gets work in a control group of twice the memory" {
	[ -z "${SP_TEST_VARIANT:-}" ] || skip "a sanitizer needs memory of its own"
	varied
	"$xtable" load t -t'|' --types=n:u32,s:text in
	begin_group $((64 << 20)) # so it has room for the 16 MB beside the memory
	in_group "$xtable" scan t -S 32M >got
	cmp got in
	in_group "$xtable" get t -S 32M --keys=keys >got
	cmp got want
}

@test "a damaged cell is an error if one of its records is asked for, not beside them" {
	needs python3
	seq 1000000001 1000020000 | "$xtable" load t --types=n:u64
	python3 - <<'END'
import struct
data = bytearray(open("t", "rb").read())
at = data.index(struct.pack("<Q", 1000000001 + 600))  # its cell has records 511 to 1021
data[at] ^= 1
open("t", "wb").write(data)
END
	run -0 "$xtable" get t 0 1100 1700
	[ "$output" = $'1000000001\n1000001101\n1000001701' ]
	run -2 --separate-stderr "$xtable" get t 0 512 1100
	[[ $stderr == *"cell"*check* || $stderr == *damaged* ]]
}

@test "progress is shown on request, and not when standard error is no terminal" {
	seq 100000 >in
	for words in "load t in" "append t in" "scan t" "check t" "index t c1" "convert t u"; do
		# shellcheck disable=SC2086
		"$xtable" ${words%% *} --progress=always ${words#* } 2>shown >/dev/null
		grep -Eq "[0-9]+ %: ${words%% *}, [0-9.]+ of [0-9.]+ MB" shown
	done
	"$xtable" load --overwrite --progress=always v - <in 2>shown
	grep -q "%: load" shown
	cat in | "$xtable" load --overwrite --progress=always v 2>shown
	grep -Eq "load, [0-9.]+ MB" shown
	"$xtable" scan t 2>shown | wc -l
	[ ! -s shown ]
}

@test "few requests outstanding give the same records" {
	seq 100000 | "$xtable" load t --depth=1
	for depth in 1 2 300; do
		"$xtable" scan t --depth="$depth" | cmp - <(seq 100000)
		seq 0 50 99999 | "$xtable" get t --depth="$depth" --keys=- | cmp - <(seq 1 50 100000)
	done
	"$xtable" convert t u --layout=nsm --depth=1
	"$xtable" update u --depth=1 --set=c1=7 --where='c1 < 5000'
	[ "$("$xtable" scan u --agg='min(c1)')" = 7 ]
	"$xtable" scan t --depth=1 --trace=trace >/dev/null
	[ "$(awk '/^R/ { if ($6 < done) late++; done = $7 } END { print late + 0 }' trace)" = 0 ]
}

@test "little is read ahead on request, and gives the same records" {
	seq 100000 | awk -v OFS='|' '{ print $1, $1 * 7919 % 100003 }' >in
	for layout in dsm csm nsm; do
		"$xtable" load t in -t'|' --layout=$layout --cell=1K --overwrite
		requests=0
		for ahead in 100M 64K 3K 1; do
			"$xtable" scan t --ahead-size=$ahead --stats=r.json | cmp - in
			[ "$(value read_requests)" -ge "$requests" ]
			requests=$(value read_requests)
		done
		[ "$requests" -gt 300 ]
		[ "$("$xtable" scan t --ahead-size=5K --where='c2 < 50' --agg='count()')" = \
			"$(awk -F'|' '$2 < 50' in | wc -l)" ]
	done
}

@test "a spelling of null is kept, and used for every text of the table" {
	printf 'id,name,n\n1,NA,3\n2,"NA",NA\n3,,5\nNA,x,6\n' >in.csv
	"$xtable" load t --csv --header --null=NA in.csv
	"$xtable" scan t | cmp - in.csv
	[ "$("$xtable" scan t --agg='count(id),count(name),count(n),sum(n)' | tail -n 1)" = 3,3,3,14 ]
	[ "$("$xtable" scan t --columns=n --where='name is null' | tail -n 1)" = 3 ]
	run -0 "$xtable" info t
	[[ $output == *"null spelled 'NA'"* ]]
	printf 'id,name,n\n5,NA,NA\n' | "$xtable" append t
	printf 'id,n\n1,NA\n' >new
	"$xtable" index t id
	"$xtable" update t --by=id --from=new
	"$xtable" scan t >got
	printf 'id,name,n\n1,NA,NA\n2,"NA",NA\n3,,5\nNA,x,6\n5,NA,NA\n' | cmp - got
	"$xtable" convert t u --layout=nsm
	"$xtable" scan u | cmp - got
	printf '\\N|a\n7|\\N\n' >pg
	"$xtable" load p -t'|' --null='\N' pg
	"$xtable" scan p | cmp - pg
	[ "$("$xtable" schema --null='\N' -t'|' pg | head -n 1)" = "c1 i8" ]
	for bad in 'a"b' 'a,b'; do
		run -2 --separate-stderr "$xtable" load v --csv --null="$bad" in.csv
		[[ $stderr == *"spelling of NULL"* ]]
	done
	run -2 --separate-stderr "$xtable" load v --record-size=8 --types=a:i64 --null=x in.csv
	[[ $stderr == *"spelling of NULL"* && ! -e v ]]
}

@test "records are found by short texts of a fixed length" {
	printf '%s\n' abcde,1 ab,2 '"",3' zzzzz,4 >in
	"$xtable" load t --csv --types 'c1:char(5),c2:i32' in
	"$xtable" update t --by=c1 --set c2=7 abcde
	run -1 "$xtable" update t --by=c1 --set c2=8 abcdef a
	printf 'c1,c2\nzzzzz,9\n' >from
	"$xtable" update t --by=c1 --from=from
	"$xtable" delete t --by=c1 ab
	[ "$("$xtable" scan t)" = $'abcde,7\n"",3\nzzzzz,9' ]
}

@test "a file of new values has the ends of lines of its table" {
	printf '%s\r\n' '1|a|' '2|b|' >in
	"$xtable" load t -t'|' --types c2:text in
	printf 'c1|c2|\r\n2|c|\r\n' >from
	"$xtable" update t --by=c1 --from=from
	printf 'c2|c1|\na||1|\n' >from
	printf 'c2|c1\nd|1' >from
	"$xtable" update t --by=c1 --from=from
	"$xtable" scan t | cmp - <(printf '%s\r\n' '1|d|' '2|c|')
	printf '%s\r\n' '1 a' '2 b' | "$xtable" load u -t' '
	printf 'c2 c1\r\nc 2\r\n' >from
	"$xtable" update u --by=c1 --from=from
	"$xtable" scan u | cmp - <(printf '%s\r\n' '1 a' '2 c')
}

@test "values and comparisons take the time of the model" {
	seq 1000 | awk '{ print $1 "|" $1 * 7 }' | "$xtable" load t -t'|'
	time_of()
	{
		printf '{"schema": "spindle.model/1", "kind": "linear", "name": "x", "block_bytes": 512,
			"total_blocks": 1000000, "transfer_s_per_mb": 0.3, "seek_ms": 7, "host": {
			"record_ns": 0, "copy_ps": 0, "request_ns": 0, "value_ns": %s,
			"compare_ns": %s}}' "$1" "$2" >m.json
		"$xtable" scan t --volume=sim:m.json --stats=r.json "${@:3}" >/dev/null
		awk -v s="$(value elapsed_s)" 'BEGIN { printf "%.0f\n", s * 1e6 }'
	}
	local none
	none=$(time_of 0 0)
	[ "$(time_of 1000 0)" = "$((none + 2000))" ] # two values of 1000 records, 1 us each
	none=$(time_of 0 0 --columns=c2 --where='c1 <= 100')
	[ "$(time_of 1000 0 --columns=c2 --where='c1 <= 100')" = "$((none + 1100))" ]
	[ "$(time_of 0 1000 --columns=c2 --where='c1 <= 100 or c1 = 7')" = "$((none + 2000))" ]
	[ "$(time_of 1000 1000 --parallel=2)" = "$(time_of 1000 1000 --parallel=1)" ]
}

@test "literals between days, and beyond all numbers, have an order" {
	printf '2020-01-01|1\n2020-01-02|2\n2020-01-03|3\n' | "$xtable" load t -t'|'
	check()
	{
		[ "$("$xtable" scan t --agg='count()' --where="$1")" = "$2" ]
	}
	check "c1 < '2020-01-02 12:00:00'" 2
	check "c1 >= '2020-01-02 00:00:00'" 2
	check "c1 > '2020-01-02 00:00:00'" 1
	check "c1 = '2020-01-02 00:00:00'" 1
	check "c1 = '2020-01-02 00:00:01'" 0
	check "c1 <> '1969-12-31 23:59:59'" 3
	check "c1 in ('2020-01-03 00:00:00', '2020-01-01 00:00:09')" 1
	check "c2 < inf" 3
	check "c2 > -inf" 3
	check "c2 = inf or c2 < -inf" 0
	check "c2 < nan and c2 <> nan" 3
}

@test "a change that fails or is killed leaves nothing behind the table" {
	seq 200000 | "$xtable" load t
	local bytes
	bytes=$(stat -c %s t)
	{ seq 200000; echo x; } >bad
	run -2 "$xtable" append t bad
	[ "$(stat -c %s t)" = "$bytes" ]
	truncate -s +100000 t # as a process that was killed leaves it
	"$xtable" update t --set=c1=7 0
	[ "$(stat -c %s t)" = "$bytes" ]
	"$xtable" check t
	mkdir folder
	run -2 --separate-stderr "$xtable" load folder bad
	[[ $stderr == *"is a folder"* ]]
}

@test "an append writes the same cells into a table of any size" {
	local pages
	for pages in 8 64 256; do
		# a cell has 1022 numbers, an A-page 4 cells; 100 records are in the last A-page
		seq $((pages * 4088 + 100)) | "$xtable" load t --overwrite --types=c1:u32
		seq 5000 | "$xtable" append t --stats=r.json
		# the cell that was partly full and a directory cell, twice each; 4 new ones; the map
		[ "$(value cells_written)" = 9 ]
		[ "$(grep -A1 '"journal"' r.json | grep -o '[0-9]*')" = 2 ]
	done
}

@test "a change writes at most 2.2 times the cells that change, and 1 MB" {
	local changed
	seq 500000 | awk '{ print $1 "|" $1 * 7919 % 500009 "|" $1 / 8 }' | "$xtable" load t -t'|'
	cp t before
	seq 25 250 499999 | "$xtable" update t --keys=- --set=c3=0.125 --stats=r.json
	changed=$(cmp -l before t | awk '{ cells[int(($1 - 1) / 4096)] = 1 } END { print length(cells) }')
	[ "$(value cells_written)" -le $((changed * 22 / 10 + 256)) ]
	[ "$changed" -gt 100 ]
}

@test "the report of a change counts all that it writes" {
	seq 500000 | "$xtable" load t
	for words in "update --set=c1=5 t 7 300000" "delete t 8" "append t extra"; do
		seq 5 >extra
		# shellcheck disable=SC2086
		"$xtable" $words --engine=sync --stats=r.json
		[ "$(value write_bytes)" -ge $(($(value cells_written) * 4096)) ]
		[ "$(value write_requests)" -ge 4 ] # a journal, cells in place, two superblocks
	done
	"$xtable" check t --stats=r.json
	[ "$(value read_bytes)" -ge 1000000 ]
}

@test "standard output is not appended to the table or its index" {
	seq 1000 | "$xtable" load t
	"$xtable" index t c1
	cp t kept && cp t.c1.index kept.index
	run -2 --separate-stderr sh -c '"$1" scan t >>t' sh "$xtable"
	[[ $stderr == *"standard output would overwrite it"* ]]
	run -2 --separate-stderr sh -c '"$1" get t 5 >>t' sh "$xtable"
	run -2 --separate-stderr sh -c '"$1" get t --by=c1 --index=t.c1.index 5 >>t.c1.index' sh "$xtable"
	cmp t kept
	cmp t.c1.index kept.index
}

@test "a header alone comes back with or without its end" {
	for end in '' '\n' '\r\n'; do
		printf "a,b$end" >in
		"$xtable" load t --overwrite --csv --header --types=a:i8,b:i8 in
		"$xtable" scan t | cmp - in
	done
}

@test "requests are timed on the simulated volume that a table was loaded for" {
	seq 100000 | "$xtable" load t --volume=sim:cheetah36es-like
	run -0 "$xtable" info t
	[[ $output == *sim:cheetah36es-like* ]]
	"$xtable" scan t --stats=a.json >/dev/null
	"$xtable" scan t --stats=b.json --parallel 2 >/dev/null
	[ "$(value elapsed_s a.json)" = "$(value elapsed_s b.json)" ]
	grep -q '"sim"' a.json
}

@test "a record number beyond all integers is one that no record has" {
	seq 100 129 >t.txt
	"$xtable" load t t.txt
	for number in 99999999999999999999 18446744073709551616 18446744073709551615; do
		printf '0\n%s\n1\n' $number >keys
		run -1 --separate-stderr "$xtable" get t --keys=keys
		[ "$output" = $'100\n101' ]
		[[ $stderr == *$number* ]]
		run -1 "$xtable" delete t $number
		[[ $output == *$number* ]]
		run -1 "$xtable" update t --set=c1=7 $number
	done
	run -0 "$xtable" scan t
	[ "$output" = "$(cat t.txt)" ]
}
