#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Bad input of xtable: one message each, which names the place and the reason; exit status 2; no
# table appears.
# no threads
. "$BATS_TEST_DIRNAME/suite.bash"

# shellcheck disable=SC2154 # bats sets stderr
# refused TEXT... -- OPTION...: a load of standard input fails, and its message has all texts.
refused()
{
	local texts=()

	while [ "$1" != -- ]; do
		texts+=("$1")
		shift
	done
	shift
	cat >input
	run -2 --separate-stderr "$xtable" load t input "$@"
	[ -z "$output" ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	for text in "${texts[@]}"; do
		[[ $stderr == *"$text"* ]] || { echo "$stderr" && return 1; }
	done
	[ ! -e t ]
}

@test "too few or many fields" {
	printf '1,2\n3\n' | refused input 'line 2' -- --csv
	printf '1,2\n3,4,5\n' | refused input 'line 2' -- --csv
	printf '1|2\n3|4|5\n' | refused input 'line 2' -- -t'|'
}

@test "a value out of its type, with the type that would do" {
	printf '1\n300\n' | refused input 'line 2' c1 300 i16 -- --types c1:i8
	printf '1\nx\n' | refused input 'line 2' c1 "'x'" -- --types c1:i32
	printf '2026-02-30\n' | refused input 'line 1' c1 2026-02-30 -- --types c1:date
	printf 'abcd\n' | refused input 'line 1' c1 abcd 'char(4)' -- --types 'c1:char(3)'
}

@test "a reserved value, with the wider type" {
	printf '1\n-128\n' | refused input 'line 2' c1 -128 i16 -- --types c1:i8
	printf '255\n' | refused input 'line 1' c1 255 u16 -- --types c1:u8
}

@test "an unclosed quote" {
	printf 'a,b\n1,"2\n3,4\n' | refused input 'line 2' -- --csv
}

@test "names that repeat, and names that are not there" {
	printf 'a,b,a\n1,2,3\n' | refused a -- --csv --header
	printf 'alpha,b\n1,2\n' | refused alhpa alpha -- --csv --header --types alhpa:i32
	printf 'alpha,b\n1,2\n' | refused alhpa alpha -- --csv --header --together alhpa,b
}

@test "columns, functions and types that are not there, with the nearest name" {
	printf 'alpha,b\n1,2\n' >in
	"$xtable" load t --csv --header in
	run -2 --separate-stderr "$xtable" scan t --columns alhpa
	[[ $stderr == *alhpa*alpha* ]]
	run -2 --separate-stderr "$xtable" scan t --where 'alhpa > 1'
	[[ $stderr == *alhpa*alpha* ]]
	run -2 --separate-stderr "$xtable" update t --set alhpa=1 0
	[[ $stderr == *alhpa*alpha* ]]
	run -2 --separate-stderr "$xtable" scan t --where 'alpha >'
	[[ $stderr == *"is missing at the end"* ]]
	run -2 --separate-stderr "$xtable" load u --csv --header --types alpha:i33 in
	[[ $stderr == *i33* ]]
}

@test "a mixed style comes back in one, which is said" {
	printf '"a",b\nc,"d"\n"e","f,"\n' >in
	run -0 --separate-stderr "$xtable" load t --csv in --stats=r.json
	[[ $stderr == *in* ]]
	[ "$(value exact)" = false ]
	"$xtable" scan t >out
	"$xtable" load u --csv out
	"$xtable" scan u | cmp - out
	printf 'a,b\nc,d\r\n' >in
	run -0 --separate-stderr "$xtable" load v --csv --header in --stats=r.json
	[[ $stderr == *in* ]]
	[ "$(value exact)" = false ]
}

@test "files that are not tables" {
	run -2 --separate-stderr "$xtable" info nothing
	[[ $stderr == *nothing* ]]
	seq 10000 >numbers
	run -2 --separate-stderr "$xtable" info numbers
	[[ $stderr == *numbers* ]]
	: >empty
	run -2 --separate-stderr "$xtable" scan empty
	[[ $stderr == *empty* ]]
	mkdir folder
	run -2 --separate-stderr "$xtable" scan folder
	[[ $stderr == *folder* ]]
}

# damage OFFSET: changes a byte of t.
damage()
{
	local byte

	byte=$(od -An -tu1 -j "$1" -N 1 t)
	# shellcheck disable=SC2059 # the format has the byte
	printf "\\$(printf %o $((byte ^ 255)))" | dd of=t bs=1 seek="$1" conv=notrunc status=none
}

@test "a damaged cell ends a scan, and check names it" {
	seq 100000 | awk '{ print $1 "|" $1 % 97 }' >in
	"$xtable" load t -t'|' in
	cp t whole
	found=0
	for offset in 4096 30000 100000 200000 300000; do
		cp whole t
		damage "$offset"
		"$xtable" scan t >out 2>err && status=0 || status=$?
		if [ "$status" -eq 0 ]; then
			cmp out in
		else
			[ "$status" -eq 2 ]
			grep -q t err
			run "$xtable" check t
			[ "$status" -ne 0 ]
			found=$((found + 1))
		fi
	done
	[ "$found" -ge 2 ]
}

@test "a truncated table is refused" {
	seq 100000 | "$xtable" load t
	truncate -s -4096 t
	run -2 --separate-stderr "$xtable" scan t
	[[ $stderr == *t* ]]
}

@test "one damaged superblock is said, and the other one used" {
	seq 1000 >in
	"$xtable" load t in
	damage 40
	run -0 --separate-stderr "$xtable" get t 999
	[ "$output" = 1000 ]
	[[ $stderr == *superblock* ]]
	run -1 "$xtable" check t
}

@test "an output that is an input" {
	seq 10 >in
	run -2 --separate-stderr "$xtable" load in in --overwrite
	[ "$(wc -l <in)" -eq 10 ]
	"$xtable" load t in
	run -2 --separate-stderr "$xtable" convert t t --overwrite
	run -2 --separate-stderr "$xtable" append t t
	"$xtable" scan t | cmp - in
}

# comes_back yes|no OPTION...: a load of in, and a report that says if a scan gives it back.
comes_back()
{
	local exact

	"$xtable" load t --overwrite "${@:2}" --stats=r.json in 2>warned
	exact=$(value exact)
	"$xtable" scan t >back
	if [ "$1" = yes ]; then
		[ "$exact" = true ]
		[ ! -s warned ]
		cmp back in
	else
		[ "$exact" = false ]
		grep -q 'several ways' warned
		run -1 cmp -s back in
	fi
}

@test "the end of the only record is that of the header" {
	for text in 'a,b\r\n1,2' 'a,b\n1,2' 'a,b\r\n1,2\r\n' 'a,b\r\n' 'a,b\n' 'a,b' 'a,b\r\n"x, y",'; do
		# shellcheck disable=SC2059 # the texts are formats
		printf "$text" >in
		comes_back yes --csv --header
		[[ $text == *'"'* ]] || comes_back yes -t, --header
	done
}

@test "a carriage return at the end of a file without a newline is said to be left out" {
	for text in '1,2\r' '1,2\r\n3,4\r' 'a,b\r\n1,2\r' 'a,b\n1,2\r\n' 'a,b\r'; do
		# shellcheck disable=SC2059
		printf "$text" >in
		if [[ $text == a* ]]; then
			comes_back no --csv --header
		else
			comes_back no --csv
		fi
	done
}

@test "text behind the quotes of a field is said to be written in another way" {
	for text in '"a"b,1\n"c,d",2\n' '"a,"b,1\n' '1,"a"b\n' '1,"a"\rb\n' '"a"\r,1\n'; do
		# shellcheck disable=SC2059
		printf "$text" >in
		comes_back no --csv
		comes_back no --csv --exact
	done
	printf '"a""b","c"\r\n"""",""\r\n' >in
	comes_back yes --csv --null=-
}

@test "a carriage return before a separator at the end of a line belongs to its field" {
	printf 'a|b\r|\r\nc|d|\r\n' >in
	comes_back yes '-t|'
}

@test "records that are appended in another way are said to be so" {
	printf 'a,b\r\n1,x\r\n' | "$xtable" load t --csv --header
	for text in 'a,b\n2,y\n' 'a,b\r\n"2",y\r\n' 'a,b\r\n2,y\r'; do
		# shellcheck disable=SC2059
		printf "$text" >in
		run -0 --separate-stderr "$xtable" append t in --stats=r.json
		[[ $stderr == *"in: records are written in several ways"* ]]
		[ "$(value exact)" = false ]
	done
	for text in 'a,b\r\n2,y\r\n' 'a,b\r\n2,y' 'a,b\r\n'; do
		# shellcheck disable=SC2059
		printf "$text" >in
		run -0 --separate-stderr "$xtable" append t in --stats=r.json
		[ -z "$stderr" ]
		[ "$(value exact)" = true ]
	done
}

@test "a word too many is named with its line, wherever it is" {
	seq 0 299999 | awk '{ print "w" $1 % 250 }' |
		sed '200000s/.*/n1/; 200001s/.*/n2/; 200002s/.*/n3/; 200003s/.*/n4/; 200004s/.*/n5/
			200005s/.*/sixth/; 250000s/.*/later/' >words
	refused 'line 200005' "'sixth' exceeds the capacity of the dictionary of dict8; type dict16" -- --types a:dict8 <words
	refused 'line 200005' "'sixth'" -- --types a:dict8 -S 1M --parallel 3 <words
	sed '100s/.*/"w\n0"/' words >quoted # one line and one word more
	refused 'line 200005' "'n5'" -- --types a:dict8 --csv -S 1M <quoted
}

@test "words that exceed the memory are refused with a larger one" {
	awk 'BEGIN { for (i = 0; i < 65535; i++) printf "w%d %s\n", i, substr("abcdefghijklmnopqrstuvwxyz", 1, i % 26) }' >in
	memory=1M
	for _ in 1 2 3 4 5 6 7 8; do
		"$xtable" load t --types a:dict16 -S "$memory" in 2>err && break
		grep -q "words of column 'a' exceed the memory" err
		memory=$(sed -n 's/.*choose -S \([0-9]*\) or more.*/\1/p' err)
	done
	"$xtable" scan t | cmp - in
}

# greatest TABLE-OPTION...: a load of inputs whose column n has 9 and 10 makes numbers of it.
greatest()
{
	"$xtable" load t --overwrite --csv "$@" 2>/dev/null
	"$xtable" scan t --agg 'max(n)' | tail -n 1 | grep -qx 10
}

@test "a column has its type from all inputs, and from all of each" {
	printf 'a,n\nx,\n' >./1
	printf 'a,n\ny,10\nz,9\n' >./2
	printf 'a,n\n' >./3
	(echo a,n && yes abcdefghij, | head -n 120000) >long
	(cat long && sed 1d 2) >end
	(sed 's/,/",/; s/^/"/; 1d' long | sed '1i a,n' && sed 1d 2) >quoted
	for option in '' '--parallel 3' '-S 2M'; do
		# shellcheck disable=SC2086 # an option and its argument
		set -- --header $option
		greatest "$@" 1 2
		greatest "$@" 1 3 2
		greatest "$@" 3 1 2
		greatest "$@" 2 1
		greatest "$@" end
		greatest "$@" quoted
		greatest "$@" 1 end 3
		greatest "$@" long 1 2 1
		greatest "$@" <(cat 1) <(cat 2)
		greatest "$@" 1 <(cat 2)
	done
	cat end | greatest --header
	gzip -kf 1 2 end
	greatest --header --decompress 1.gz 2.gz
	greatest --header --decompress -S 2M end.gz
	sed 's/,/ /' end | "$xtable" load t --overwrite -t' ' --header
	[ "$("$xtable" scan t --agg 'max(n)' | tail -n 1)" = 10 ]
	"$xtable" schema --csv --header 1 2 | grep -qx 'n i8'
}

@test "a first value that comes too late in a pipe is refused, and the memory that would do" {
	(echo a,n && yes abcdefghij, | head -n 120000 && echo y,10) >end
	run -2 --separate-stderr "$xtable" load t --csv --header -S 2M <(cat end)
	[[ $stderr == *"line 120002: column 'n': '10' is the first value"*--types*-S* ]]
	[ ! -e t ]
	cat end | "$xtable" load t --csv --header -S 2M --types n:i8
	cat end | "$xtable" load u --csv --header -S 8M
	"$xtable" info u | grep -q ' n i8'
}

@test "a column without a value is text" {
	(echo a,n && yes abcdefghij, | head -n 120000) >in
	for option in '-S 2M' '-S 2M --parallel 3'; do
		# shellcheck disable=SC2086
		"$xtable" load t --overwrite --csv --header $option in
		"$xtable" scan t | cmp - in
		"$xtable" info t | grep -qx ' *n text'
	done
}

# stored TYPE TEXT [MESSAGE]: the first column of CSV records becomes TYPE; MESSAGE says so.
stored()
{
	# shellcheck disable=SC2059 # the text is a format
	printf -- "$2" >in
	run -0 --separate-stderr "$xtable" load t --overwrite --csv in --stats=r.json
	"$xtable" info t | grep -q "^ *c1 $1\(,\|$\)" || { "$xtable" info t && return 1; }
	if [ $# -gt 2 ]; then
		[ "$stderr" = "xtable: column 'c1' is stored as $1: $3" ] || { echo "$stderr" && return 1; }
	else
		[ -z "$stderr" ] || { echo "$stderr" && return 1; }
	fi
	"$xtable" scan t >out
	[ "$(value exact)" = "$(cmp -s in out && echo true || echo false)" ]
	"$xtable" load t --overwrite --csv --exact in 2>err
	[ ! -s err ]
	"$xtable" scan t | cmp - in
}

@test "numbers in several spellings are numbers, which is said; --exact gives them back" {
	kept='spellings of its values are not kept; --exact keeps text'
	long='its numbers have too many digits for f64 and dec64; --types NAME:f64 rounds them'
	stored f64 '10.0\n9.25\n' "$kept"
	stored f64 '1e-7\n1.0\n' "$kept"
	stored f64 '1E5\n2\n' "$kept"
	stored i8 '+5\n3\n' "$kept"
	stored 'dec8(1)' '.5\n1.5\n' "$kept"
	stored f64 'NaN\n1.5\n' "$kept"
	stored i8 '"",1\n5,2\n' "$kept"
	stored i8 '007\n1\n' "$kept"
	stored 'time(1)' '2024-01-01\n2024-01-01 10:00:00.5\n' "$kept"
	stored time '2024-01-01T10:00:00Z\n2024-01-02T10:00:00Z\n' "$kept"
	stored time '2024-01-01T10:00:00\n' "$kept"
	stored 'time(2)' '2024-01-01T10:00:00.25Z\n2024-01-01T10:00:00Z\n2024-01-01\n' "$kept"
	[ "$(tail -n 2 out)" = $'2024-01-01 10:00:00.00\n2024-01-01 00:00:00.00' ]
	stored 'time(6)' '2024-01-01 10:00:00.123456Z\n' "$kept"
	stored text '2024-01-01T10:00:00+02:00\n2024-01-01T10:00:00Z\n'
	stored 'char(20)' '2024-02-30T10:00:00Z\n2024-01-01T10:00:00Z\n'
	stored 'char(11)' '2024-01-01Z\n'
	stored text '3.14159265358979323846\n1.5\n' "$long"
	stored 'char(3)' '007\n012\n'
	stored f64 '1.5\n1.25\n'
	stored f64 '-0\n1\n'
	printf '10.0\n9.25\n' | "$xtable" load t --overwrite
	[ "$("$xtable" scan t --where 'c1 > 9.5')" = 10 ]
	printf '10.0\n9.25\n' | "$xtable" schema 2>err | grep -qx 'c1 f64'
	grep -q 'stored as f64' err
}

@test "a later spelling changes the type as an early one does" {
	(seq 1000 100000 | sed 's/$/.5/' && echo 7.25) >in
	for option in '' '--parallel 3'; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr "$xtable" load t --overwrite -S 1M $option in
		[ -z "$stderr" ]
		"$xtable" info t | grep -q ' c1 f64'
		"$xtable" scan t | cmp - in
	done
	(seq 10000 90000 && echo 00501) >in
	"$xtable" load t --overwrite -S 1M in
	"$xtable" scan t | cmp - in
	(seq 90000 -1 10000 && echo +1) >in
	run -0 --separate-stderr "$xtable" load t --overwrite -S 1M in
	[[ $stderr == *"column 'c1' is stored as i32: spellings"* ]]
	run -0 --separate-stderr "$xtable" load t --overwrite -S 1M - <in
	[[ $stderr == *"column 'c1' is stored as i32: spellings"* ]]
	run -0 --separate-stderr "$xtable" load t --overwrite -S 1M <(cat in)
	[[ $stderr == *"column 'c1' is stored as i32: spellings"* ]]
	run -2 --separate-stderr "$xtable" load u -S 1M --exact <(cat in)
	[[ $stderr == *"line 80002: column 'c1': '+1' is spelled in another way than i32"* ]]
	"$xtable" load u -S 1M --exact in
	"$xtable" scan u | cmp - in
	(seq 1000 100000 | sed 's/$/.5/; $s/.*/9.25\n1e30/' && echo 1.2345678901234567890) >in
	run -2 --separate-stderr "$xtable" load v -S 1M <(cat in)
	(seq 1000 99999 | sed 's/$/e1/' && echo 1.2345678901234567890) >in
	run -2 --separate-stderr "$xtable" load v -S 1M <(cat in)
	[[ $stderr == *"'1.2345678901234567890' is rounded by f64; type text would do"* ]]
	"$xtable" load v -S 1M in
	"$xtable" scan v | cmp - in
}

@test "convert changes types exactly, or names the record" {
	printf '5,x,1.50,2024-01-01\n,y,-2.25,2024-01-02\n7,x,3.00,\n' >in
	"$xtable" load t --csv --types 'c2:dict8,c3:text' in
	"$xtable" convert t u --types 'c1:i64,c2:text,c3:dec(2),c4:time'
	"$xtable" info u | grep -q ' c1 i64' && "$xtable" info u | grep -q ' c3 dec64(2)'
	"$xtable" check u
	"$xtable" scan u | diff - <(sed 's/-0\([12]\)$/-0\1 00:00:00/' in)
	[ "$("$xtable" scan u --columns c1 --where 'c3 > 1.6')" = 7 ]
	"$xtable" convert u v --types 'c1:text,c2:dict16,c3:text,c4:date'
	"$xtable" scan v | cmp - in
	"$xtable" convert v w --types 'c1:f32,c2:char(2),c3:f64' --layout nsm
	"$xtable" scan w --columns c1,c2 | cmp - <(cut -d, -f1,2 in)
	"$xtable" append v --stats=r.json <<<"8,z,1,"
	for types in c1:date c3:i32 'c2:i8' 'c3:dec(1)' 'c1:i8 not null' c5:i8; do
		run -2 --separate-stderr "$xtable" convert v x --types "$types"
		[[ $types == c5* || $stderr == *"record "*"column '${types%%:*}'"* ]]
		[ ! -e x ]
	done
	printf '16777217\n0.1\n' | "$xtable" load f --types c1:f64
	run -2 --separate-stderr "$xtable" convert f x --types c1:f32
	[[ $stderr == *"record 0: column 'c1': '16777217' is not exactly a value of f32"* ]]
	seq 300 | "$xtable" load d --types c1:text
	run -2 --separate-stderr "$xtable" convert d x --types c1:dict8
	[[ $stderr == *"record 255: column 'c1': '256' exceeds the capacity of the dictionary of dict8"* ]]
	"$xtable" convert d x --types c1:dict16
	seq 300 | cmp - <("$xtable" scan x)
}

@test "a wider value and a number in a column of texts name the conversion" {
	seq 9 | "$xtable" load t
	run -2 --separate-stderr "$xtable" append t <<<300
	[[ $stderr == *"'300' is out of the range of i8; type i16 would do: xtable convert --types=c1:i16 TABLE OUT" ]]
	"$xtable" convert t u --types=c1:i16
	"$xtable" append u <<<300
	printf '10.0\n9.25\n' | "$xtable" load v --exact
	run -2 --separate-stderr "$xtable" scan v --where 'c1 > 9.5'
	[[ $stderr == *"convert --types=COL:f64 TABLE OUT"* ]]
	"$xtable" convert v w --types=c1:f64
	[ "$("$xtable" scan w --where 'c1 > 9.5')" = 10 ]
}

@test "one carriage return belongs to the end of a record of new values" {
	printf 'a,b\nk,x\nl,yy\n' | "$xtable" load t --csv --header
	printf 'a,b\r\nk,z\r\r\nl,w\r\n' | "$xtable" update t --by=a --from=-
	"$xtable" scan t | cmp - <(printf 'a,b\nk,"z\r"\nl,w\n')
}

@test "an empty field in quotes is NULL in a column of numbers, or with --null everywhere" {
	printf 'n,a\n"",""\n5,x\n"7",""\n' >in
	"$xtable" load t --csv --header in 2>/dev/null
	[ "$("$xtable" scan t --agg 'sum(n)' | tail -n 1)" = 12 ]
	[ "$("$xtable" scan t --where 'n is null')" = $'n,a\n,""' ]
	printf 'n,a\n"",""\n' | "$xtable" append t 2>/dev/null
	[ "$("$xtable" scan t --where 'n is null' | wc -l)" -eq 3 ]
	printf 'a,n\nx,""\n' | "$xtable" update t --by=a --from=-
	[ "$("$xtable" scan t --where 'n is null' | wc -l)" -eq 4 ]
	printf 'n,a\n"",""\n5,\n7,"x,"\n' >in
	run -0 --separate-stderr "$xtable" load u --csv --header --null='""' in
	[ -z "$stderr" ]
	"$xtable" scan u | cmp - in
	[ "$("$xtable" scan u --where 'a is null')" = $'n,a\n"",""' ]
	[ "$("$xtable" scan u --where "a = ''")" = $'n,a\n5,' ]
	printf '"n","a"\n"5",""\n"7",\n' >in
	run -0 --separate-stderr "$xtable" load v --csv --header --null='""' in
	"$xtable" scan v | tail -n 2 | diff - <(tail -n 2 in)
	[[ $("$xtable" scan v --agg 'count(a)') == *'"1"' ]]
}

@test "byte order marks, blank lines and empty files of load, append and update are skipped" {
	local mark=$'\xef\xbb\xbf' rows=$'a\tb\n1\t2\n3\t4\n5\t6'

	printf 'a\tb\n1\t2\n\n3\t4\n\n' >p
	printf '%sa\tb\n5\t6\n' "$mark" >q
	printf '%sa\tb\n5\t6\n\n' "$mark" | tr '\n' '\r' | sed 's/\r/\r\n/g' >r
	: >empty
	printf '%s' "$mark" >marked
	for inputs in 'p q' 'empty p marked q' 'p q empty' 'p empty - marked'; do
		rm -f t
		# shellcheck disable=SC2086
		run -0 --separate-stderr "$xtable" load t -t$'\t' --header $inputs <q
		[ "$("$xtable" scan t | tr -d '\r')" = "$rows" ]
		[[ $stderr == *'blank lines skipped'* ]]
		[[ $inputs != *empty* || $stderr == *' empty file'*' skipped'* ]]
	done
	run -0 --separate-stderr "$xtable" load crlf -t$'\t' --header r
	[ "$("$xtable" scan crlf)" = $'a\tb\r\n5\t6\r' ]
	[[ $stderr == *'r: 1 blank line skipped'* ]]
	# one byte at a time
	{ for ((i = 0; i < $(wc -c <q); i++)); do dd if=q bs=1 skip=$i count=1 2>/dev/null; done; } |
		"$xtable" load u -t$'\t' --header
	"$xtable" scan u | cmp - <(tail -c +4 q)
	for file in empty marked; do
		run -2 "$xtable" load v --csv --header $file
		[[ $output == *"$file: is empty: name the columns"* ]]
		"$xtable" append t $file
	done
	[ "$("$xtable" scan t)" = "$rows" ]
	run -0 "$xtable" append t empty p q
	[[ $output == *'2 blank lines skipped'*'1 empty file skipped'* ]]
	printf '%sa\tb\n\n1\t9\n\n' "$mark" >u1
	run -0 "$xtable" update t --by=a --from=u1
	[[ $output == *'u1: 2 blank lines skipped'* ]]
	[ "$("$xtable" get t 0 | tr -d '\r')" = $'1\t9' ]
	printf '5\tx\n' >>u1
	run -2 "$xtable" update t --by=a --from=u1
	[[ $output == *'u1: line 5: column b'* ]]
	printf '%s1,2\n\n3\n' "$mark" >v5
	run -2 "$xtable" load w --csv v5
	[[ $output == *'v5: line 2, blank ones not counted: 1 field, too few' ]]
	printf 'k\n1\n\n' >w6
	run -0 --separate-stderr "$xtable" load w --csv --header w6
	[ -z "$stderr" ]
	"$xtable" scan w | cmp - w6
}

@test "a column without a name is cN, the last one only if it has values" {
	printf 'a,,b,\n1,2,3,4\n' >in
	run -0 --separate-stderr "$xtable" load t --csv --header in
	[[ $stderr == *"the last column has no name in the header: its name is 'c4'"* ]]
	[ "$("$xtable" scan t --columns=c4,c2 | tail -n 1)" = 4,2 ]
	printf 'a,b,\n1,2,\n' >in2
	run -0 --separate-stderr "$xtable" load u --csv --header in2
	[ -z "$stderr" ]
	"$xtable" scan u | cmp - in2
	[ "$("$xsort" --csv --header -k c4 in | tail -n 1)" = 1,2,3,4 ]
	[ "$("$xjoin" --csv --header -1 c4 -2 b in <(printf 'b\n4\n') | tail -n 1)" = 4,1,2,3 ]
	"$xindex" build --csv --header -k c2 -o ix in
	[ "$("$xindex" lookup ix 2)" = 1,2,3,4 ]
}

@test "a load of long texts keeps its memory" {
	for i in {1..100}; do printf '%d,' "$i" && head -c 300000 /dev/zero | tr '\0' t && echo; done >in
	"$xtable" load t -t, -S 4M --stats=r.json in
	"$xtable" scan t | cmp - in
	[ -n "${SP_TEST_VARIANT:-}" ] || [ "$(grep -m1 -o '"peak_bytes": [0-9]*' r.json | tr -dc 0-9)" -le $((20 << 20)) ]
}
