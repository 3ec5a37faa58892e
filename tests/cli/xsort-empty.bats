#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# The letters e and E of a key: empty keys before or after all others, reversed or not.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	begin_test
	awk 'BEGIN { srand(7); for (i = 0; i < 4000; i++) {
		k = int(rand() * 300) - 150; print i "," (k % 5 ? k : "") "," (k % 7 ? "w" k : "") } }' >in
}

# What sort makes of the others, and the empty ones in input order.
places() # LETTERS FIELD
{
	local letters=$1 field=$2 memory

	awk -F, -v f="$field" '$f == ""' in >empty
	awk -F, -v f="$field" '$f != ""' in | sort -s -t, -k"$field,$field$letters" >others
	[ -s empty ]
	for memory in 64K 1G; do
		"$xsort" -s -S $memory -t, -k"$field,$field${letters}E" in | cmp - <(cat others empty)
		"$xsort" -s -S $memory -t, -k"$field,$field${letters}e" in | cmp - <(cat empty others)
		"$xsort" -s -S $memory --csv -k"$field,$field${letters}E" in | cmp - <(cat others empty)
	done
	"$xsort" -c -s -t, -k"$field,$field${letters}E" <(cat others empty)
}

@test "any type and direction" {
	for letters in n nr g gr h V Vr; do places "$letters" 2; done
	for letters in "" r f fr M V Vr d; do
		places "$letters" 3
	done
}

@test "as one of several keys, and under -u" {
	{ awk -F, '$2 != ""' in | sort -s -t, -k2,2nr -k3,3; awk -F, '$2 == ""' in | sort -s -t, -k3,3; } >want
	"$xsort" -s -t, -k2,2nrE -k3,3 in | cmp - want
	"$xsort" -u -t, -k2,2nrE -k3,3 in | cmp - <(awk -F, '!seen[$2, $3]++' want)
	"$xsort" -u -t, -k2,2nE in | tail -n 1 | cmp - <(awk -F, '$2 == ""' in | head -n 1)
}

@test "blanks are empty after b; a quoted field can be empty" {
	printf '%s\n' 'b' '   ' 'a' >blanks
	[ "$("$xsort" -k1bE blanks)" = $'a\nb\n   ' ]
	printf '%s\n' 'b,1' '"",2' 'a,3' >quoted
	[ "$("$xsort" --csv -k1,1E quoted)" = $'a,3\nb,1\n"",2' ]
	printf '%s\n' 'k,n' 'b,1' ',2' 'a,3' >named
	[ "$("$xsort" --csv --header -k k:rE named)" = $'k,n\nb,1\na,3\n,2' ]
}

@test "both letters contradict each other" {
	run "$xsort" -k1eE in
	[ "$status" -eq 2 ]
	[ "$output" = "xsort: options '-eE' are incompatible" ]
}
