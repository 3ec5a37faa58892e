#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# xsort --split: parts of the sorted input, all of them or none; --splitters: parts of even size.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test tmp
	seq 20000 | awk '{ print $1 * 7919 % 20011 % 500, $1 % 7, $1 }' >in
}

# splits SPLITTERS OPTION...: the parts of "in" are the sort of the whole; from file and pipe.
splits()
{
	local s=$1 n

	shift
	"$xsort" "$@" in >want
	for n in $(few 1 2 3 8); do
		rm -f part*
		"$xsort" "$@" --parallel=$n --split="$s" -o part%02d in
		[ "$(ls part* | wc -l)" -eq $(($(wc -l <"$s") + 1)) ]
		cat part* | cmp - want
	done
	rm -f part*
	cat in | "$xsort" "$@" -S 1M --split="$s" -o part%02d
	cat part* | cmp - want
	[ -z "$(ls tmp)" ]
}

refused() { fails_with "xsort: $1" "$xsort" "${@:2}"; } # MESSAGE OPTION...

@test "the parts one after the other are the sort of the whole" {
	printf '%s\n' 5 100 100 250 499 >numbers
	splits numbers -n
	splits numbers -k1,1n -s
	splits numbers -k1,1n -u
	splits numbers -k1,1n -u --count
	tac numbers >down
	splits down -nr
	splits down -k1,1nr -s
	LC_ALL=C sort numbers >texts
	splits texts
	splits texts -k1,1
	splits texts -u --count -k1,1
	: >none
	splits none -n
}

@test "equal keys are in one part, which begins at its splitter; parts may be empty" {
	printf '%s\n' 'b 9' 'b 1' 'd x' >s
	printf '%s\n' 'b 5' 'a 1' 'b 0' 'c 3' 'b 9' >i
	"$xsort" -k1,1 -s --split=s -o p%d i
	[ "$(cat p0)" = 'a 1' ]
	[ -e p1 ]
	[ ! -s p1 ]
	[ "$(cat p2)" = $'b 5\nb 0\nb 9\nc 3' ]
	[ -e p3 ]
	[ ! -s p3 ]
	: >empty
	"$xsort" -k1,1 --split=s -o q%d empty
	[ "$(ls q* | wc -l)" -eq 4 ]
	[ -z "$(cat q*)" ]
}

@test "one key only: all in one part" {
	yes same | head -50000 >i
	echo same >s
	"$xsort" -S 512K --split=s -o p%d i
	[ ! -s p0 ]
	cmp p1 i
	echo samf >s
	"$xsort" -S 512K --split=s -o p%d i
	[ ! -s p1 ]
	cmp p0 i
}

@test "CSV, binary records, NUL, locales" {
	awk 'BEGIN { for (i = 0; i < 5000; i++) printf "\"a,\n\"\"%d\",%d\n", i * 37 % 5000, i * 7919 % 101 }' >c
	printf '"x\n,y",20\nx,55\n' >s
	"$xsort" --csv -k2,2n c >want
	"$xsort" --csv -k2,2n --split=s -o p%d c
	cat p0 p1 p2 | cmp - want
	[ "$(grep -o ',[0-9]\+$' p1 | head -1)" = ,20 ]
	[ "$(grep -o ',[0-9]\+$' p1 | tail -1)" = ,54 ]
	"$xsort" --csv -k2,2n -u --count c >want
	"$xsort" --csv -k2,2n -u --count --split=s -o p%d c
	cat p0 p1 p2 | cmp - want
	[ "$(grep -c ',[0-9]\+$' p1)" -eq 35 ]

	seq -w 99999 | tr -d '\n' | head -c 400000 >b
	"$xsort" --record-size=8 --bkey=2:3:bytes:r b >want
	head -c 8 <(tail -c +200001 want) >s
	"$xsort" --record-size=8 --bkey=2:3:bytes:r --split=s -o p%d b
	cat p0 p1 | cmp - want
	[ "$(head -c 5 p1 | tail -c 3)" = "$(head -c 5 s | tail -c 3)" ]

	tr '\n' '\0' <in >z
	printf '250\0' >s
	"$xsort" -zn z >want
	"$xsort" -zn --split=s -o p%d z
	cat p0 p1 | cmp - want
	[ "$(head -zn 1 p1 | tr '\0' ' ')" = "$(tr '\0' '\n' <want | awk '$1 == 250' | head -1) " ]
}

@test "each part begins with the header" {
	printf 'name\nb\na\nc\n' >h
	printf 'b\nd\ne\n' >s
	"$xsort" --header --split=s -o p%d h
	[ "$(cat p0)" = $'name\na' ]
	[ "$(cat p1)" = $'name\nb\nc' ]
	[ "$(cat p2 p3)" = $'name\nname' ]
	"$xsort" --csv --header -u --count --split=s -o p%d h
	[ "$(cat p1)" = $'count,name\n1,b\n1,c' ]
	# A byte order mark that no header follows begins the first part only.
	printf '\357\273\277b\na\n' >m
	"$xsort" --csv --split=s -o p%d m
	[ "$(cat p1)" = b ]
	{ echo k; awk '{ print $1 }' in; } >h
	for options in "" "-S 1M" "--parallel=1" "--parallel=3" "--parallel=8" "-u" "-s -k1,1n"; do
		rm -f p?
		"$xsort" $options --header --parts=3 -o p%d h
		[ "$(for p in p?; do head -1 $p; done | uniq -c)" = "      3 k" ]
		(echo k && for p in p?; do tail -n +2 $p; done) | cmp - <("$xsort" $options --header h)
	done
}

@test "--parts: groups of equal keys go where the parts have about equal sizes" {
	local options n
	printf '%s\n' a b a c b a c a b c >g
	for options in "-S 512K" -s "--parallel=1" "--parallel=2" "--parallel=8"; do
		"$xsort" $options --parts=3 -o p%d g
		[ "$(paste -sd, p0) $(paste -sd, p1) $(paste -sd, p2)" = "a,a,a,a b,b,b c,c,c" ]
	done
	"$xsort" -r --parts=3 -o p%d g
	[ "$(wc -l <p0) $(wc -l <p1) $(wc -l <p2)" = "3 3 4" ]
	"$xsort" -u --count --parts=3 -o p%d g
	[ "$(cat p0 p1 p2 | tr -s ' ' | paste -sd,)" = " 4 a, 3 b, 3 c" ]
	[ "$(wc -l <p0) $(wc -l <p1) $(wc -l <p2)" = "1 1 1" ]
	# After a large group the other parts share the rest.
	{ yes a | head -80; yes b | head -10; yes c | head -10; yes d | head -10; } >g
	"$xsort" --parts=4 -o p%d g
	[ "$(for n in 0 1 2 3; do wc -l <p$n; done | paste -sd,)" = 80,10,10,10 ]
	"$xsort" -r --parts=2 -o p%d g
	[ "$(for n in 0 1; do wc -l <p$n; done | paste -sd,)" = 30,80 ]
	# Sampled and spilled, by several threads.
	for n in '4 x' '3 y' '3 z'; do yes "${n#* } and a long text to make the file larger" | head -${n% *}0000; done >g
	"$xsort" -S 512K --parts=3 -o p%d g
	[ "$(for n in 0 1 2; do sort -u p$n; done | paste -sd,)" = "$(sort -u g | paste -sd,)" ]
}

@test "the name has one number, with a width or zeros" {
	echo 250 >s
	"$xsort" -n --split=s -o 'a%%%03d%%' in
	[ "$(ls a*)" = $'a%000%\na%001%' ]
	"$xsort" -n --split=s -o 'b%2d' in
	[ "$(ls b*)" = $'b 0\nb 1' ]
	for name in x x%% x%d%d x%s x% x%5 x%-3d x%999d; do
		refused "-o '$name': with --split the name has exactly one %d, %Nd or %0Nd, and %% for a percent sign" \
			--split=s -o "$name" in
	done
	[ -z "$(ls x* 2>/dev/null)" ]
}

@test "--split refuses options that contradict it, and splitters out of order" {
	printf '3\n2\n' >s
	refused '--split needs -o, such as -o part%d' --split=s in
	refused '--split=4: there is no such file of splitters: --splitters=4 makes one for 4 parts' --split=4 -o p%d in
	refused "-o 'p%02d': --splitters writes one file of splitters; --split=FILE or --parts=P writes the parts" --splitters=4 -o p%02d in
	[ ! -e p%02d ]
	refused "options '-c' and '--split' are incompatible" -c --split=s -o p%d in
	refused "options '-C' and '--split' are incompatible" -C --split=s -o p%d in
	refused "options '-R' and '--split' are incompatible" -R --split=s -o p%d in
	refused "options '-R' and '--split' are incompatible" -k1,1R --split=s -o p%d in
	refused "options '--limit' and '--split' are incompatible" --limit=3 --split=s -o p%d in
	refused 's: splitter 2 is out of order' -n --split=s -o p%d in
	refused 'open failed: no: No such file or directory' --split=no -o p%d in
	refused 'standard input cannot be both the splitters and an input' --split=- -o p%d
	refused 'cannot read: no: No such file or directory' -nr --split=s -o p%d no
	printf '12345' >s
	refused 's: length is not a multiple of the record size 4' --record-size=4 --split=s -o p%d in
	[ -z "$(ls p* 2>/dev/null)" ]
}

@test "a part may be an input, but neither the splitters nor another output" {
	echo 250 >s
	sort -n in >want
	cp in p1
	"$xsort" -n --split=s -o p%d p1
	cat p0 p1 | cmp - want
	# Also one that can only be written in place, and read while it is merged.
	ln p0 other
	"$xsort" -nm --split=s -o p%d p0 p1
	cat p0 p1 | cmp - want
	[ p0 -ef other ]
	cp s s1
	refused 's1: --output would overwrite it' -n --split=s1 -o s%d in
	refused 'p1: --output and --stats would both write it' -n --split=s -o p%d --stats=p1 in
	cat p0 p1 | cmp - want
	ln -s q1 q0
	refused 'q1: another part has the same file' -n --split=s -o q%d in
	ln p1 r0
	ln p1 r1
	refused 'r1: another part has the same file' -n --split=s -o r%d in
	cmp r0 p1
}

@test "all parts get their names, or none" {
	seq 0 50 450 >s
	for i in {0..10}; do echo "old $i" >p$i; done
	# A file in the way of the last, no permission, no descriptors, a broken input.
	rm p10
	mkdir p10
	refused 'open failed: p10: Is a directory' -n --split=s -o p%d in
	rmdir p10
	run bash -c "ulimit -n 20; '$xsort' -n --split=s -o p%d in"
	[ "$status" -eq 2 ]
	[[ $output =~ ^"xsort: open failed: p10: Too many open files: 11 parts need a limit (ulimit -n) of "([0-9]+)$ ]]
	mkdir enough
	(ulimit -n "${BASH_REMATCH[1]}" && "$xsort" -n --split=s -o enough/p%d in)
	rm -r enough
	mkdir d
	refused 'read failed: d: Is a directory' -n --split=s -o p%d in d
	[ "$(cat p?)" = "$(printf 'old %d\n' {0..9})" ]
	[ ! -e p10 ]
	[ "$(ls)" = "$(printf '%s\n' d in p{0..9} s tmp)" ]
}

@test "a signal leaves the old parts" {
	echo 250 >s
	echo old >p0
	mkfifo fifo
	env --default-signal "$xsort" -S 1M --split=s -o p%d in fifo &
	pid=$!
	exec 9>fifo
	seq 200000 >&9
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	exec 9>&-
	[ "$status" -eq 143 ]
	[ "$(cat p0)" = old ]
	[ "$(ls)" = $'fifo\nin\np0\ns\ntmp' ]
	[ -z "$(ls tmp)" ]
}

@test "a full device in the middle: status 2, and the other parts keep their contents" {
	echo old >p0
	ln -s /dev/full p1
	echo 250 >s
	refused 'write failed: p1: No space left on device' -n --split=s -o p%d in
	[ "$(cat p0)" = old ]
}

@test "on a simulated machine the parts lie on its device" {
	echo 250 >s
	sort -n in >want
	"$xsort" -n -S 512K --volume=sim:atlas10k3-like,files=both --stats=r --split=s -o p%d in
	cat p0 p1 | cmp - want
	grep -q '"output": "p%d"' r
}

# even P FILE OPTION...: the splitters are records in order, and each part has its share of the
# bytes within 10 %.
even()
{
	local parts=$1 file=$2 share i

	shift 2
	"$xsort" "$@" --seed=5 --splitters="$parts" "$file" >s
	rm -f part*
	"$xsort" "$@" --split=s -o part%d "$file"
	share=$(($(stat -c %s "$file") / parts))
	for ((i = 0; i < parts; i++)); do
		[ $((10 * $(stat -c %s part$i))) -ge $((9 * share)) ] || { stat -c %s part*; return 1; }
		[ $((10 * $(stat -c %s part$i))) -le $((11 * share)) ] || { stat -c %s part*; return 1; }
	done
	[ ! -e part"$parts" ]
}

@test "--splitters: parts are within 10 % of each other, whatever the order and the lengths" {
	seq 200000 | awk '{ s = $1 * 7919 % 200003; for (i = $1 % 37; i; i--) s = s "x"; print s }' >i
	even 4 i
	even 4 i -n
	even 4 i -nr -u
	[ "$(wc -l <s)" -eq 3 ]
	LC_ALL=C.UTF-8 even 4 i -k1,1
	sort i >sorted
	even 8 sorted
	# A few records have most of the bytes.
	awk 'NR % 1000 == 0 { printf "%d", NR * 31 % 200009; for (i = 0; i < 9000; i++) printf " wide"; print "" } 1' i >w
	even 4 w -n
	head -c 3000000 /dev/urandom >b
	even 5 b --record-size=40 --bkey=3:4:i32le:r
	tr '\n' '\0' <i >z
	even 3 z -z
}

@test "--splitters: CSV with newlines in quotes, a header, an unended last record" {
	awk 'BEGIN { for (i = 0; i < 60000; i++) printf "\"text,\n%d\n\"\"x\"\"\",%d\n", i * 7919 % 60000, i * 37 % 60013 }' >c
	even 4 c --csv -k2,2n
	[ "$(tail -c 3 s | wc -l)" -eq 1 ]
	grep -q '^""x""",' s
	[ "$(grep -cvE '^"text,$|^[0-9]+$|^""x""",[0-9]+$' s)" -eq 0 ]
	{ echo a header that would be last; seq 50000; } >h
	"$xsort" --header --splitters=400 h >s
	[ "$(wc -l <s)" -eq 399 ]
	[ "$(grep -c header s)" -eq 0 ]
	printf 'b\na' >h
	"$xsort" --header --splitters=2 h >s
	[ "$(cat s)" = a ]
	"$xsort" --header=1,first --splitters=3 h h >s
	[ "$(cat s)" = $'b\nb' ]
}

@test "--splitters: records that are repeated, one, none" {
	yes same | head -5000 >i
	"$xsort" --splitters=4 i >s
	[ "$(cat s)" = $'same\nsame\nsame' ]
	"$xsort" --split=s -o p%d i
	cmp p3 i
	[ "$(cat p0 p1 p2 | wc -c)" -eq 0 ]
	echo one >i
	[ "$("$xsort" --splitters=3 i)" = $'one\none' ]
	[ "$("$xsort" --splitters=3 - <i)" = $'one\none' ]
	[ -z "$("$xsort" --splitters=1 i)" ]
	: >none
	[ "$("$xsort" --splitters=2 none i none)" = one ]
	refused 'none: there are no records to choose splitters from' --splitters=2 none
}

@test "--splitters: more samples than fit into memory; the same seed gives the same" {
	seq 400000 | awk '{ printf "%d some more text to fill the line with\n", $1 * 7919 % 400009 }' >i
	"$xsort" -n -S 512K --seed=7 --splitters=200 -o s i
	[ "$(wc -l <s)" -eq 199 ]
	"$xsort" -nc s
	"$xsort" -n -S 64M --parallel=1 --seed=7 --splitters=200 i | cmp - s
	[ -z "$(ls tmp)" ]
}

@test "--splitters is refused with options that contradict it" {
	for option in -c -C --limit=1 -R --explain --stats --trace=t --split=in; do
		refused "options '${option%=*}' and '--splitters' are incompatible" $option --splitters=2 in
	done
	refused 'read failed: tmp: Is a directory' --splitters=2 in tmp
	mkfifo fifo
	exec 9<>fifo
	refused 'fifo: not a regular file, so it cannot be sampled: write it to a file first' --splitters=2 fifo
	refused 'in: length is not a multiple of the record size 1000003' --record-size=1000003 --splitters=2 in
	[ ! -e t ]
}

@test "--parts: as many files as requested, of about equal size, that are the sort of the whole" {
	local options parts part

	for options in "-n" "-k2,2n -s" "-k1,1nr -u" "-k1,1n -u --count" "-S 1M" "--parallel=3 -k3,3n"; do
		# shellcheck disable=SC2086 # several options
		"$xsort" $options in >want
		for parts in 1 2 7; do
			rm -f part*
			# shellcheck disable=SC2086
			"$xsort" $options --parts=$parts -o part%02d in
			[ "$(ls part* | wc -l)" -eq "$parts" ]
			cat part* | cmp - want
		done
	done
	rm -f part*
	"$xsort" --parts=4 --seed=5 -o part%d in
	for part in part*; do
		[ "$(wc -c <$part)" -gt $(($(wc -c <in) / 5)) ]
	done
	sort in | cmp - <(cat part*)
	# the same as in two commands
	"$xsort" --splitters=4 --seed=5 -o s in
	"$xsort" --split=s -o two%d in
	for part in 0 1 2 3; do cmp part$part two$part; done
	{ echo number,name; tr ' ' ',' <in; } >named
	"$xsort" --csv --header -k name:n --parts=3 -o named%d <named
	(head -1 named && tail -qn +2 named?) | cmp - <("$xsort" --csv --header -k name:n named)
	[ -z "$(ls tmp)" ]
}

@test "--parts refuses what has no offsets or no names" {
	refused "-: not a regular file, so it cannot be sampled: write it to a file first" \
		--parts=2 -o part%d - < <(cat in)
	refused "--parts needs -o, such as -o part%d" --parts=2 in
	refused "-o 'x': with --parts the name has exactly one %d, %Nd or %0Nd, and %% for a percent sign" \
		--parts=2 -o x in
	refused "options '--parts' and '--decompress' are incompatible" --parts=2 --decompress -o x%d in
	refused "options '--split' and '--parts' are incompatible" --parts=2 --split=s -o x%d in
	refused "options '--parts' and '--splitters' are incompatible" --parts=2 --splitters=2 in
	refused "options '--limit' and '--parts' are incompatible" --parts=2 --limit=1 -o x%d in
	[ "$(ls)" = "$(printf '%s\n' in tmp)" ]
}
