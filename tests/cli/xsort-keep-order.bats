#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xsort -u --keep-order: the first record of each key, in the order of the input, as a hash in awk
# finds it; whatever the memory and the number of threads.
. "$BATS_TEST_DIRNAME/suite.bash"

setup() { begin_test tmp; }

# SP_TEST_FULL=1: each way with several numbers of threads.
some_threads=3 few_threads=3 memories='64K 3M 1G' rows=60000 few_memories=
[ -z "${SP_TEST_FULL:-}" ] || { some_threads='1 2 8' few_threads='1 3' rows=200000; }
# The records of most inputs are more than three times the memory, or less than half of it.
records=60000 late=50021
[ -z "${SP_TEST_VARIANT:-}" ] || { memories='64K 1M' few_memories=64K records=20000 late=16673; }

# repeats RECORDS GROUPS
repeats()
{
	awk -v n="$1" -v g="$2" 'BEGIN { srand(3); for (i = 0; i < n; i++) {
		k = int(rand() * g); printf "%06d the group of these lines, %s\n", k, k % 7 } }'
}

turn=0
# keeps OPTION...: the records of "in" are those of "want"; by file, pipe and in place.
keeps()
{
	local memory threads

	for memory in $memories; do
		for threads in $few_threads; do
			"$xsort" -u --keep-order -S $memory --parallel=$threads "$@" in | cmp - want
		done
		turn=$((turn + 1))
		[ -n "${SP_TEST_FULL:-}" ] || [ $(((turn + turn / 3) % 3)) = 0 ] || continue
		cat in | "$xsort" -u --keep-order -S $memory "$@" | cmp - want
		cp in over
		"$xsort" -u --keep-order -S $memory "$@" -o over over
		cmp over want
		ln -f over link
		cp in over
		"$xsort" -u --keep-order -S $memory "$@" -o over over
		cmp link want
	done
	[ -z "$(ls tmp)" ]
}

refused() { fails_with "xsort: $1" "$xsort" "${@:2}"; } # MESSAGE OPTION...

@test "lines in the order of their first occurrences" {
	repeats $records $((records / 3)) >in
	awk '!seen[$0]++' in >want
	keeps
	# repeated late, and all different
	seq $records | awk -v m=$late '{ print $1 * 7919 % m }' >in
	awk '!seen[$0]++' in >want
	keeps
	seq $records | awk '{ print $1 * 7919 % 100003 }' >in
	cp in want
	keeps
	: >in
	: >want
	keeps
}

@test "keys, as sorting by key and then by line number keeps them" {
	repeats $records $((records / 3)) >in
	awk '!seen[$7]++' in >want
	keeps -k7,7
	awk '!seen[substr($0, 3, 3) + 0]++' in >want
	keeps -k1.3,1.5n
	keeps -k1.3,1.5nr
	cat -n in | sort -s -u -t, -k2,2 | sort -n | cut -f2- >want
	keeps -t, -k2,2 -k2,2
	awk '{ if (NR % 2) print tolower($7 $1 "abc"); else print toupper($7 $1 "abc") }' in >"more"
	mv more in
	awk '!seen[toupper($0)]++' in >want
	keeps -f
	keeps -f -r
	awk '!seen[toupper(substr($0, 1, 4))]++' in >want
	keeps -k1.1,1.4f
	awk '!seen[substr($0, 1, 5)]++' in >want
	keeps -k1.1,1.5V -k1.2,1.3r
}

@test "every kind of record" {
	repeats $records $((records / 3)) | head -n 40000 >lines
	tr '\n' '\0' <lines >in
	awk 'BEGIN { RS = ORS = "\0" } !seen[$0]++' in >want
	keeps -z
	# a name with a newline in quotes; keys are unquoted before they are compared
	awk 'BEGIN { print "n,k" } { printf "\"%s\n\"\"\",%s%s%s\n", $1, NR % 2 ? "\"" : "", $1 % 5000,
		NR % 2 ? "\"" : "" }' lines >in
	awk 'NR == 1 { print; next } NR % 2 == 0 { first = $0; next }
		{ k = $0; sub(/.*,/, "", k); gsub(/"/, "", k) } !seen[k]++ { print first; print }' in >want
	keeps --csv --header -k k
	tail -n +2 in | awk 'NR % 2 { first = $0; next } !seen[first $0]++ { print first; print }' >want
	sed -i 1d in
	keeps --csv
	awk '{ printf "%s", substr($0, 1, 10) }' lines >in
	awk '!seen[substr($0, 1, 10)]++ { printf "%s", substr($0, 1, 10) }' lines >want
	keeps --record-size=10
	awk '!seen[substr($0, 2, 4)]++ { printf "%s", substr($0, 1, 10) }' lines >want
	keeps --record-size=10 --bkey=1:4:u32be
}

@test "a separator of any byte" {
	local byte

	for byte in '\200' '\277' '\300' '\377'; do
		repeats 20000 9000 | LC_ALL=C awk -v s="$(printf "$byte")" '{ print $1 s $7 s "x" }' >in
		awk '!seen[$0]++' in >want
		"$xsort" -u --keep-order --csv -t "$(printf "$byte")" -S 64K in | cmp - want
		"$xsort" -u --keep-order --csv -t "$(printf "$byte")" -k1 -k3 -S 64K in | cmp - want
	done
}

@test "several files, headers and long records" {
	repeats 3000 2000 >a
	repeats 6000 3000 >b
	{ head -c 2000000 /dev/zero | tr '\0' x; echo; } >c
	awk '!seen[$0]++' a c b c a >want
	"$xsort" -u --keep-order -S 64K a c b c a | cmp - want
	"$xsort" -u --keep-order a c b c a | cmp - want
	for f in a b; do sed -i '1i number text' $f; done
	{ echo number text; awk 'FNR > 1 && !seen[$0]++' a b; } >want
	"$xsort" -u --keep-order --header -S 64K a b | cmp - want
	"$xsort" -u --keep-order --header a b | cmp - want
	"$xsort" -u --keep-order --header --limit=0 a b | cmp - <(head -n 1 a)
}

# Almost all of the last one is one field, so that every cut into parts is wrong.
@test "files that several threads read after the table is full" {
	local memory threads

	seq 75000 | awk '{ print $1 * 7919 % 50021, "some text" }' >a
	tail -n 25000 a >b
	seq 50000 62500 | head -c 70000 >c # no final newline
	awk '!seen[$0]++' a b c >want
	{ echo text,number; seq 50000 | awk '{ print "x," $1 % 30011 }'; } >quoted
	{ printf '"'; seq 100000 | awk '{ print $1 ",5" }'; printf '",50001\nx,3\ny,30011\n'; } >>quoted
	{ head -n 30012 quoted && tail -n 100003 quoted | head -n 100001 && echo y,30011; } >want-quoted
	for memory in 64K 1M; do
		for threads in 1 $some_threads; do
			"$xsort" -u --keep-order -S $memory -T tmp --parallel=$threads a b c | cmp - want
			"$xsort" -u --keep-order -S $memory -T tmp --parallel=$threads --csv --header -k number quoted |
				cmp - want-quoted
		done
	done
	[ -z "$(ls tmp)" ]
}

# written OPTION...: "in", also as standard input, by several memories and threads is "want"; sets
# the temporary space of the last.  With a sanitizer each way has one amount of memory.
written()
{
	local memory threads

	for memory in 64K 2M; do
		for threads in $some_threads; do
			if [ $memory != "$few_memories" ]; then
				"$xsort" -u --keep-order -S $memory -T tmp --parallel=$threads --stats=r.json "$@" in |
					cmp - want
				spilled=$(temporary_space)
			fi
			if [ -z "$few_memories" ] || [ $memory = "$few_memories" ]; then
				"$xsort" -u --keep-order -S $memory -T tmp --parallel=$threads "$@" <in | cmp - want
			fi
		done
	done
	[ -z "$(ls tmp)" ]
}

# A few lines are repeated: near, and as far as possible.
@test "files with few repetitions are read again, and not sorted" {
	local bytes spilled

	seq $rows | awk '{ print $1 * 7919 % 200003, "some text of a line" }' >lines
	{ cat lines && shuf -n 300 --random-source=lines lines && tail -n 2 lines; } >in
	bytes=$(wc -c <in)
	cp lines want
	written
	[ "$spilled" -lt $((bytes / 2)) ]
	written - in
	{ cat in && printf 'no final newline'; } >a
	{ cat lines && echo 'no final newline'; } >want
	mv a in
	written
	written in
	{ echo before && cat in; } >a
	{ head -c 7 >/dev/null && "$xsort" -u --keep-order -S 1M - a -; } <a | cmp - <(cat want && echo before)
	cp lines want
	head -n -1 in >a && mv a in
	written -k1,1n
	[ "$spilled" -lt $((bytes / 2)) ]
	tr '\n' '\0' <lines >want
	tr '\n' '\0' <in >a
	mv a in
	written -z
	[ "$spilled" -lt $((bytes / 2)) ]
	sed 's/ /,"/; s/$/"/' lines >want
	{ cat want && head -n 300 want | sed 's/some/other/'; } >in
	written --csv -k1,1
	[ "$spilled" -lt $((bytes / 2)) ]
	head -n $((rows * 3 / 4)) want >first && mv first want
	written --csv -k1,1 --limit=$((rows * 3 / 4))
	awk '{ printf "%-12s", $1 }' lines >want
	{ cat want && head -c 2400 want; } >in
	written --record-size=12
	# one record takes more than a table
	{ cat lines && head -c 300000 /dev/zero | tr '\0' x && echo && tail -n 9 lines; } >in
	{ cat lines && head -c 300000 /dev/zero | tr '\0' x && echo; } >want
	written
}

# temporary_space: what the last run needed at most.
temporary_space() { sed -n '/"spill": {/,/}/s/.*"peak_bytes": \(.*\),/\1/p' r.json; }

@test "other inputs with few repetitions are kept, and not sorted" {
	local memory threads bytes

	seq $rows | awk '{ print $1 * 7919 % 200003, "some text of a line" }' >lines
	{ head -n 1000 lines && cat lines && shuf -n 300 --random-source=lines lines && printf last; } >in
	{ cat lines && echo last; } >want
	bytes=$(wc -c <in)
	gzip -k in
	for memory in 64K 2M; do
		for threads in $some_threads; do
			cat in | "$xsort" -u --keep-order -S $memory -T tmp --parallel=$threads --stats=r.json |
				cmp - want
			[ "$(temporary_space)" -lt $((bytes * 3 / 2)) ]
			[ "$(value records)" = $((rows + 1301)) ]
			grep -q '^ *"input_bytes": '$((bytes + 1))',$' r.json
			[ "$(value output_records)" = $((rows + 1)) ]
			"$xsort" -u --keep-order -S $((2 * 200))K -T tmp --parallel=$threads --decompress in.gz | cmp - want
			cp in over
			ln -f over link
			"$xsort" -u --keep-order -S $memory -T tmp --parallel=$threads -o over over
			cmp link want
		done
	done
	cat in | "$xsort" -u --keep-order -S 64K -T tmp --run-size=8K --page-size=4K | cmp - want
	cat in | "$xsort" -u --keep-order -S 1M -T tmp --limit=$((rows * 3 / 4)) | cmp - <(head -n $((rows * 3 / 4)) want)
	{ echo head && cat in; } | "$xsort" -u --keep-order --header -S 1M -T tmp | cmp - <(echo head; cat want)
	{ echo head,er && sed '/last/d; s/ /,/' in; } | "$xsort" -u --keep-order --csv --header --infer-types -k head -S 1M -T tmp |
		cmp - <(echo head,er; sed 's/ /,/' lines)
	# repeated so often that neither the table nor a second one holds the keys
	{ cat lines && tac lines; } | "$xsort" -u --keep-order -S 1M -T tmp | cmp - lines
	seq $((rows * 3 / 2)) | awk '{ print $1 * $1 % 20011 % 9973, "some text of a line, and more of it" }' >in
	awk '!seen[$0]++' in >want
	cat in | "$xsort" -u --keep-order -S 256K -T tmp | cmp - want
	[ -z "$(ls tmp)" ]
}

@test "files that repeat more keys than the table holds are sorted" {
	local bytes spilled

	seq $((rows / 2)) | awk '{ print $1 * 7919 % 100003, "some text of a line" }' >lines
	{ cat lines && tac lines; } >in
	cp lines want
	written
	[ "$spilled" -gt "$(wc -c <lines)" ]
	# the keys fit at first: the lines repeated at the end are long
	awk '{ print; if (NR % 100 == 0) long = long $0; if (NR % 2000 == 0) { print long, NR } }' lines >want
	{ cat want && awk 'length > 100' want; } >in
	written
}

@test "--limit stops at the first records, and reads no more" {
	repeats 60000 20000 >in
	awk '!seen[$0]++' in >want
	for n in 1 2 100 9000 18000 50000; do
		"$xsort" -u --keep-order --limit=$n -S 64K in | cmp - <(head -n $n want)
		"$xsort" -u --keep-order --limit=$n in | cmp - <(head -n $n want)
	done
	[ "$(yes | "$xsort" -u --keep-order --limit=1)" = y ]
}

@test "compressed inputs and outputs; a damaged one writes nothing" {
	needs gzip
	repeats 60000 20000 >in
	awk '!seen[$0]++' in >want
	gzip -k in
	"$xsort" -u --keep-order --decompress -S 3M in.gz | cmp - want
	"$xsort" -u --keep-order --compress-output=gzip -S 3M in | gzip -d | cmp - want
	head -c 100000 in.gz >cut.gz
	run "$xsort" -u --keep-order --decompress cut.gz
	[ "$status" -eq 2 ]
	[ "$(wc -l <<<"$output")" -eq 1 ]
}

@test "a full device, a closed pipe and a signal leave nothing behind" {
	repeats 60000 50000 >in
	cp in out
	run "$xsort" -u --keep-order -S 64K in -o /dev/full
	[ "$status" -eq 2 ]
	[[ "$output" = *"No space left on device"* ]]
	run bash -c "'$xsort' -u --keep-order in | head -n 1"
	[ "$output" = "$(head -n 1 in)" ]
	mkfifo pipe
	exec 9<>pipe
	"$xsort" -u --keep-order -S 64K pipe -o out 9>&- &
	cat in >&9
	kill -TERM $!
	wait $! || [ $? -eq 143 ]
	exec 9>&-
	cmp in out
	[ -z "$(ls tmp)" ]
	[ "$(echo *)" = "in out pipe tmp" ]
}

@test "what has no order of the input is refused" {
	echo a >in
	refused "--keep-order needs --unique" --keep-order in
	refused "options '--count' and '--keep-order' are incompatible" -u --count --keep-order in
	refused "options '-c' and '--keep-order' are incompatible" -u -c --keep-order in
	refused "options '-m' and '--keep-order' are incompatible" -u -m --keep-order in
	refused "options '--explain' and '--keep-order' are incompatible" -u --explain --keep-order in
}

@test "the report counts records once" {
	repeats 60000 20000 >in
	for memory in 64K 1G; do
		"$xsort" -u --keep-order -S $memory --stats=r.json in >out
		[ "$(value records)" = 60000 ]
		[ "$(value output_records)" = "$(wc -l <out)" ]
		[ "$(value input_bytes)" = "$(wc -c <in)" ]
		[ "$(value output_bytes)" = "$(wc -c <out)" ]
	done
}
