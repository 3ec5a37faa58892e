#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
. "$BATS_TEST_DIRNAME/suite.bash"

# A table t of a number, a value that repeats, and a text; its lines are in t.txt.
numbers()
{
	seq 3000 | awk '{ print $1 "\t" ($1 * 7919) % 401 "\ttext " $1 % 50 }' >t.txt
	"$xtable" load t t.txt
}

@test "get --by gives what awk gives, for keys from a file" {
	numbers
	"$xtable" index t c2
	"$xtable" index t c3
	seq 0 3 450 >keys
	run -1 --separate-stderr "$xtable" get t --by=c2 --keys=keys
	awk -F'\t' 'NR == FNR { r[$2] = r[$2] $0 "\n"; next } { printf "%s", r[$1] }' t.txt keys >want
	cmp - want <<<"$output"
	# shellcheck disable=SC2154 # run sets it
	[ "$(grep -c 'no record' <<<"$stderr")" = 17 ]
	run -0 "$xtable" get t --by=c3 --columns c1 "text 7" --index=t.c3.index
	[ "$output" = "$(awk -F'\t' '$3 == "text 7" { print $1 }' t.txt)" ]
}

@test "an index finds appended records, and no deleted ones" {
	numbers
	"$xtable" index t c2
	printf '4000\t5\tnew\n4001\t1000\tnew\n' | "$xtable" append t
	"$xtable" delete t --where "c1 < 1000"
	run -0 "$xtable" get t --by=c2 --columns c1 5 1000
	[ "$output" = "$(awk -F'\t' '$2 == 5 && $1 >= 1000 { print $1 }' t.txt; echo 4000; echo 4001)" ]
	run -0 "$xtable" scan t --where "c2 = 5" --access=index --columns c1
	[ "$output" = "$("$xtable" scan t --where "c2 = 5" --access=s-scan --columns c1)" ]
}

@test "after a change of its column in place an index is refused, with the command that makes it" {
	numbers
	"$xtable" index t c2
	"$xtable" update t --set c3=x 7
	"$xtable" get t --by=c2 0 >/dev/null
	"$xtable" update t --set c2=0 7
	run -2 --separate-stderr "$xtable" get t --by=c2 0
	[[ $stderr == "xtable: t.c2.index: "*"make it with: xtable index t c2" ]]
	run -2 --separate-stderr "$xtable" scan t --where "c2 = 0" --access=index
	[[ $stderr == *"make it with: xtable index t c2" ]]
	cp t "a table's"
	run -2 --separate-stderr "$xtable" get "a table's" --by=c2 0
	[[ $stderr == *"xtable index 'a table'\\''s' c2" ]]
}

@test "a scan through an index prints what other scans print" {
	numbers
	"$xtable" index t c2
	for where in 'c2 >= 100 and c2 < 120' 'c2 > 395' 'c2 = 3' 'c2 > 500' '10 < c2 < 12'; do
		for more in "--columns=c1,c3" "--agg=avg(c1),count()" "--limit=4" "--lo=500"; do
			"$xtable" scan t --where "$where" "$more" --access=s-scan >want
			"$xtable" scan t --where "$where" "$more" --access=index | cmp - want
		done
	done
	run -2 --separate-stderr "$xtable" scan t --where "c2 > 1 or c1 < 5" --access=index
	[[ $stderr == *"only a range"* ]]
}

@test "a scan through an index compares texts, words and floats as other scans do" {
	printf '%s\n' b,1.5,x a,-0,y ab,0,x abc,nan,x b,-inf,z ,,y '"",inf,' >in.csv
	"$xtable" load t --csv --types 'c1:text,c2:f64,c3:dict8' in.csv
	for column in c1 c2 c3; do "$xtable" index t "$column"; done
	for where in "c1 > 'a'" "c1 < 'ab'" "c1 ^= 'ab'" "c1 ^= ''" "c1 >= ''" "c1 < ''" "c1 = 'b'" \
		"c2 = 0" "c2 > 1" "c2 < -0" "c2 = nan" "c2 < 1e999" "c2 > 1e999" "c2 >= -1e999" \
		"c3 ^= 'x'" "c3 > 'x'" "c3 != 'x'" "c3 > 'a' and c3 < 'b'" "c3 in ('y', 'z')"; do
		"$xtable" scan t --where "$where" --access=s-scan >want
		"$xtable" scan t --where "$where" --access=index | cmp - want
	done
	run -2 "$xtable" scan t --where "c3 in ('x', 'z')" --access=index
	run -2 "$xtable" scan t --where "c1 != 'a'" --access=index
}

@test "a range of numbers up to NULL chooses no NULL" {
	printf '%s\n' -127 "" 5 "" >in && printf '%s\n' 254 "" 5 >unsigned
	"$xtable" load t in --types c1:i8 && "$xtable" load u unsigned --types c1:u8
	"$xtable" index t c1 && "$xtable" index u c1
	[ -z "$("$xtable" scan t --where "c1 <= -128" --access=index)" ]
	[ "$("$xtable" scan t --where "c1 >= -128" --access=index)" = -127$'\n'5 ]
	[ -z "$("$xtable" scan u --where "c1 >= 255" --access=index)" ]
	[ "$("$xtable" scan u --where "c1 <= 255" --access=index)" = 254$'\n'5 ]
}

@test "an index has the same bytes for any memory and number of threads" {
	numbers
	"$xtable" index t c3 -o one -S 4M --parallel=1
	"$xtable" index t c3 -o two -S 64M --parallel=3
	cmp one two
}

@test "an index is written over no table, and over an old index when it is complete" {
	numbers
	cp t before
	run -2 "$xtable" index t c2 -o t
	cmp t before
	"$xtable" index t c2
	"$xtable" index t c2
	run -2 "$xtable" index t c2 -o missing/i
	run -2 "$xtable" index t c9
}

@test "xindex says that an index is one of a table" {
	numbers
	"$xtable" index t c2
	for command in stat check; do
		run -2 --separate-stderr "$xindex" "$command" t.c2.index
		[[ $stderr == *"index of column c2 of the table t"* ]]
	done
	"$xindex" build -k1n -o i t.txt
	run -2 --separate-stderr "$xtable" get t --by=c2 --index=i 1
	[[ $stderr == *"not of a table"* ]]
}

@test "an index of a table with the same seed and other values is refused" {
	seq 1 500 >one && seq 501 1000 >two
	"$xtable" load one.t one --seed 7 && "$xtable" index one.t c1
	"$xtable" load two.t two --seed 7 && cp one.t.c1.index two.t.c1.index
	run -2 "$xtable" get two.t --by=c1 600
	[[ $output == *"is the index of another table"* ]]
	"$xtable" load again.t one --seed 7 && cp one.t.c1.index again.t.c1.index
	[ "$("$xtable" get again.t --by=c1 77)" = 77 ]
}

@test "an index of a table with the same seed and other words is refused" {
	printf 'a\nb\na\nb\n' >one && printf 'b\na\nb\na\n' >two
	for i in {1..200}; do cat one; done >ones
	for i in {1..200}; do cat two; done >twos
	"$xtable" load one.t ones --seed 7 && "$xtable" index one.t c1
	"$xtable" load two.t twos --seed 7 && cp one.t.c1.index two.t.c1.index
	run -2 "$xtable" get two.t --by=c1 b
	[[ $output == *"is the index of another table"* ]]
	[ "$("$xtable" scan two.t --where "c1 = 'b'" | sort -u)" = b ]
}

# other TABLE KEY: the index of c2 is refused, and nothing is missed or changed through it.
other()
{
	run -2 --separate-stderr "$xtable" get "$1" --by=c2 "$2"
	[[ -z $output && $stderr == *"make it with: xtable index $1 c2"* ]] || { echo "$stderr"; false; }
	for change in delete 'update --set=c1=0'; do
		# shellcheck disable=SC2086 # words of a command
		run -2 "$xtable" $change "$1" --by=c2 --index="$1.c2.index" "$2"
	done
	"$xtable" scan "$1" | awk -F, -v key="$2" '$2 == key' >want
	"$xtable" scan "$1" --where "c2 = $2" | cmp - want
	run -2 "$xtable" scan "$1" --where "c2 = $2" --access=index
	"$xtable" check "$1"
}

@test "an index of another copy of the table is refused" {
	seq 0 9999 | awk '{ print $1 "," $1 * 7 % 10007 * 20 }' >in.csv
	"$xtable" load t --csv in.csv
	# Two changes in place, then two appends; both copies count alike.
	for change in update append; do
		cp t before
		for key in 190003 190001; do
			cp before t
			if [ $change = update ]; then
				"$xtable" update t --set c2=$key $((key - 189995))
			else
				echo "1,$key" | "$xtable" append t
			fi
			"$xtable" index t c2 -o $key.index
			cp t $key.t
		done
		cp 190003.t t && cp 190001.index t.c2.index
		other t 190003
		other t 190001
		cp before t
		other t 190001
		cp 190001.t t
		"$xtable" scan t | grep ,190001 | sort >want
		"$xtable" get t --by=c2 190001 | sort | cmp - want
	done
	# The index is still one of the table after further appends and deletes.
	"$xtable" delete t 17
	echo '1,190001' | "$xtable" append t
	[ "$("$xtable" get t --by=c2 190001 | wc -l)" = 3 ]
	run -1 "$xtable" get t --by=c2 $((17 * 7 * 20))
}

@test "an index that was made between appends is used after 60 more, and at last refused" {
	printf '1,5\n2,6\n' >in.csv
	"$xtable" load t --csv in.csv
	"$xtable" index t c2 -o first.index
	"$xtable" append t in.csv
	"$xtable" index t c2
	# With a sanitizer, appends are slow and alike.
	local few=60 i

	[ -z "${SP_TEST_VARIANT:-}" ] || few=10
	for ((i = 0; i < few; i++)); do echo "3,7" | "$xtable" append t; done
	[ "$("$xtable" get t --by=c2 5 7 | wc -l)" = $((few + 2)) ]
	[ -z "${SP_TEST_VARIANT:-}" ] || return 0
	for ((; i < 450; i++)); do echo "3,7" | "$xtable" append t; done
	run -2 "$xtable" get t --by=c2 5
	[[ $output == *"xtable index t c2"* ]]
	# That of the load is always right.
	[ "$("$xtable" get t --by=c2 --index=first.index 5 7 | wc -l)" = 452 ]
	"$xtable" check t
}

# A table that an old version, which counted changes, has updated and appended to, and its indexes.
old()
{
	base64 -d <<-END | xz -d | tar x
		/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4Hf/AdddADebCKlDKhrbwjlO3VEqgbV6n21vT6wB3i0GbXZ3mPXq/octuEP4Q3C3kz8Q
		nR7s95LS1xiZKPIvy8JnVEjl55agAHR9WXFuq38tr/iK+IQxoj25KtDfcVMggbfyn95+uVPoejd7E7+7UkNN/x9fTdf3+v3wMHBe
		W8bivdtqDtTPo654q+5n0HrvXu2lpN8+CCqjEUMVqmRnW894s2na6D32hvro5CLTc4mYUjlGvX97hLvuD9UYkQGjH7M0rmDWB5k8
		GqdRy/m6MFNhxV51aFAFN/hUh2CSZKkge9T2NYQKMJx2l8u5QNi/+Y1KqH2tyE0Ns8dQpKn2GOpZZkerkhs46D4dp2avMpdNKnPr
		nMlhQPorojNm3g9NYzPyb4Skp5BJKVqOmC6z5hacp4qeL/i7rBGxAg5P72Nlb0pDp8YkwGHLV5G8cEAfluILWsFTHualIBxeAEy0
		bvq0HI4rZ5RkTAgIHRurJCdAckoqFDCfcDOOhfqFF3X7cuJZk1A1Ziz4HLcyt9FFmzLDRLPSQmJVuK6eM9DFD7Lb6n3g6YHhg6kP
		V+HwUXadBs75uPpDGUC4p4u5NOVgDrnaWX2TeOCVk+SPtOPWugRqHV7BmbANCgYLWivr5wAAisLlkW3XnwoAAfMDgPABABAxdVax
		xGf7AgAAAAAEWVo=
	END
}

@test "a table of an old version is changed, and its indexes are used" {
	needs xz
	old
	"$xtable" scan old >before
	printf '1,5\n2,9\n3,7\n1,5\n2,6\n3,7\n' | cmp - before
	[ "$("$xtable" get old --by=c2 9 7)" = "2,9
3,7
3,7" ]
	echo 4,9 | "$xtable" append old
	"$xtable" delete old 0
	[ "$("$xtable" get old --by=c2 9 5)" = "2,9
4,9
1,5" ]
	"$xtable" update old --set c2=8 1
	run -2 "$xtable" get old --by=c2 9
	[ "$("$xtable" get old --by=c1 2 | sort | tr '\n' ' ')" = "2,6 2,8 " ]
	"$xtable" index old c2
	[ "$("$xtable" get old --by=c2 9 8 | tr '\n' ' ')" = "4,9 2,8 " ]
	"$xtable" check old
}

# Runs a change, whose status is $1, and prints how many records it read.
records_read() {
	run -"$1" --separate-stderr "$xtable" "${@:2}" --stats=stats.json
	sed -n 's/.*"records_read": *\([0-9]*\).*/\1/p' stats.json
}

@test "changes find few keys through an index, and do what they do without one" {
	seq 0 199999 | sed 's/.*/&,0/' >in.csv
	"$xtable" load with --csv in.csv
	cp with without
	"$xtable" index with c1
	for t in with without; do
		"$xtable" delete $t 7
		printf '100000,0\n200000,0\n' >more.csv
		"$xtable" append $t more.csv
		run -1 "$xtable" update $t --by=c1 --set c2=9 7 200000 100000 5 999999
		printf 'c1,c2\n8,3\n200000,4\n' >from.csv
		"$xtable" update $t --by=c1 --from from.csv
		run -0 "$xtable" delete $t --by=c1 11 100000
		"$xtable" scan $t >$t.csv
	done
	cmp with.csv without.csv
	[ "$(records_read 0 update with --by=c1 --set c2=1 5 --set c1=6)" -lt 100 ]
	run -2 --separate-stderr "$xtable" update with --by=c1 --set c2=1 5
	[[ $stderr == *"is older than the last change"*"xtable index with c1"* ]]
	run -2 "$xtable" delete with --by=c1 5
	"$xtable" index with c1 -o other
	for change in 'update --set c2=8 --by=c1' 'delete --by=c1'; do
		# shellcheck disable=SC2086 # words of a command
		[ "$(records_read 0 $change --index=other with 15 16)" -lt 100 ]
		# shellcheck disable=SC2086
		run -2 --separate-stderr "$xtable" $change --index=missing with 20
		[[ $stderr == *"xtable index with c1 -o missing" ]]
	done
	printf 'c1,c2\n21,3\n22,4\n' >from.csv
	[ "$(records_read 0 update with --by=c1 --index=other --from from.csv)" -lt 100 ]
	[ "$("$xtable" scan with --where "c1 > 14 and c1 < 24" --limit 5)" = \
		"$(printf '%s\n' 17,0 18,0 19,0 20,0 21,3)" ]
	run -2 --separate-stderr "$xtable" delete with --index=other 5
	[[ $stderr == *"--index needs --by"* ]]
	rm -f with.c1.index
	seq 1 90000 >keys
	[ "$(records_read 1 update with --by=c1 --set c2=1 --keys=keys)" -ge 90000 ]
}

# auto_reads WHERE: prints how many records the scan reads, whose output is that of all other ways.
auto_reads() {
	"$xtable" scan t --where "$1" --access=s-scan --columns c2,c3 >want
	"$xtable" scan t --where "$1" --access=si-scan --columns c2,c3 | cmp - want
	"$xtable" scan t --where "$1" "${@:2}" --columns c2,c3 --stats=stats.json | cmp - want
	sed -n 's/.*"records_read": *\([0-9]*\).*/\1/p' stats.json
}

@test "scan takes an index by itself where it is cheaper, and no scan fails because of one" {
	awk 'BEGIN { for (i = 0; i < 200000; i++) print i * 7919 % 200003 "," i ",x" i % 1000 }' >in.csv
	"$xtable" load t --csv --types c3:text in.csv
	[ "$(auto_reads "c1 = 77")" -gt 1000 ]
	"$xtable" index t c1
	"$xtable" index t c3
	[ "$(auto_reads "c1 = 77")" = 1 ]
	[ "$(auto_reads "c1 > 100 and c1 < 105")" = 4 ]
	[ "$(auto_reads "c3 = 'x7'")" = 200 ]
	# The cells of c1 are read, too, whose values are compared with the index.
	[ "$(auto_reads "c1 > 100 and c1 < 120")" -gt 1000 ]
	[ "$(auto_reads "c1 > 100000")" -gt 1000 ]
	[ "$(auto_reads "c1 = 77 or c1 = 78")" -gt 1000 ]
	run -0 "$xtable" scan t --where "c1 < 100" --agg "count(),sum(c1)"
	[ "$output" = "$("$xtable" scan t --where "c1 < 100" --agg "count(),sum(c1)" --access=s-scan)" ]
	# The first leaf, all pages, and the header are damaged.
	cp t.c1.index good
	for damage in 'seek=5000 count=100' 'seek=4096 count=190003' 'seek=0 count=100'; do
		cp good t.c1.index
		# shellcheck disable=SC2086 # operands of dd
		dd if=/dev/zero of=t.c1.index bs=1 $damage conv=notrunc status=none
		[ "$(auto_reads "c1 < 5")" -gt 1000 ]
	done
	cp t.c3.index t.c1.index
	[ "$(auto_reads "c1 = 77")" -gt 1000 ]
	cp good t.c1.index
	# Stale.
	"$xtable" update t --set c1=1 5
	[ "$(auto_reads "c1 = 77")" -gt 1000 ]
	run -2 --separate-stderr "$xtable" scan t --where "c1 = 77" --index=good
	[[ $stderr == *"make it with: xtable index t c1 -o good" ]]
	"$xtable" index t c1 -o good
	[ "$(auto_reads "c1 = 77" --index=good)" = 1 ]
	[ "$(auto_reads "c2 = 77 or c1 = 77" --index=good)" -gt 1000 ]
}

@test "a scan that has chosen an index ignores it if its first leaf is damaged" {
	# A leaf has 7 keys.
	awk 'BEGIN { for (i = 0; i < 5000; i++) printf "%06d%0500d,%d,y\n", i * 7919 % 5003, 0, i }' >in.csv
	"$xtable" load t --csv --types c1:text in.csv
	"$xtable" index t c1
	[ "$(auto_reads "c1 < '000014'")" = 14 ] # reads the first leaf when it has chosen the index
	dd if=/dev/zero of=t.c1.index bs=1 seek=5000 count=100 conv=notrunc status=none
	[ "$(auto_reads "c1 < '000014'")" -gt 1000 ]
	run -2 "$xtable" scan t --where "c1 < '000014'" --access=index
}
