#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Tables of 300 columns: each command gives what awk gives, and stays within the memory, also if a cell
# of each column group is a large part of it.
. "$BATS_TEST_DIRNAME/suite.bash"

columns=$(seq -s, -f c%g 300)

# make_lines N: in has 1000 records N times: numbers, decimals, words, texts, and numbers or NULL.
make_lines()
{
	awk 'function value(i, c, v) {
			if (c % 5 == 0) return "word" v % 7
			if (c % 5 == 1) return v
			if (c % 5 == 2) return v "." 10 + i % 90
			if (c % 5 == 3) return "t" v * (i % 3)
			return v % 11 ? v : ""
		}
		BEGIN { for (i = 0; i < 1000; i++) {
			line = i
			for (c = 2; c <= 300; c++) line = line "|" value(i, c, (i * 7919 + c * 104729) % 9973)
			print line } }' >part
	for ((i = 0; i < $1; i++)); do cat part; done >in
}

setup()
{
	begin_test
	set -o pipefail
}

# within SIZE COMMAND ARGUMENT...: runs it with -S SIZE MiB; status 3: it takes 16 MiB more than that.
within()
{
	local size=$1 status=0

	shift
	"$xtable" "$@" -S "${size}M" --stats=r.json || status=$?
	[ -n "${SP_TEST_VARIANT:-}" ] || [[ $(value peak_bytes) -gt 1000000 && $(value peak_bytes) -le $(((size + 16) << 20)) ]] ||
		{ echo "$1 -S ${size}M: $(value peak_bytes) bytes" >&2 && return 3; }
	return $status
}

# read_and_changed SIZE LAYOUT...: table t is read, indexed, changed, and copied to each layout.
read_and_changed()
{
	local size=$1

	shift

	awk -F'|' '$6 > 9000 || $300 ~ /6$/ { print $300 "|" $2 "|" $6 }' in >want
	[ "$(wc -l <want)" -gt 100 ]
	within "$size" scan t --where "c6 > 9000 or c300 = 'word6'" --columns=c300,c2,c6 | cmp - want
	within "$size" get t 5 999 0 700 >got
	awk 'NR == FNR { line[NR - 1] = $0; next } { print line[$1] }' in <(printf '%s\n' 5 999 0 700) | cmp - got
	within "$size" index t c6
	within "$size" get t --by=c6 --columns=c1,c298,c6 4711 9 1234 >got || [ $? = 1 ]
	awk -F'|' 'NR == FNR { r[$6] = r[$6] $1 "|" $298 "|" $6 "\n"; next } { printf "%s", r[$1] }' in \
		<(printf '%s\n' 4711 9 1234) | cmp - got
	within "$size" update t --set "c4=5,c298='a longer text'" --where 'c6 > 9000'
	awk -F'|' -v OFS='|' '$6 > 9000 { $4 = 5; $298 = "a longer text" } { print }' in >changed
	for layout; do
		within "$size" convert t u --layout=$layout --overwrite
		within "$size" scan u | cmp - changed
	done
	within "$size" append u part
	within "$size" scan u --columns="$columns" --lo=$(($(wc -l <in) - 500)) | cmp - <(tail -n 500 changed && cat part)
}

@test "300 columns in 4 MB, in each layout" {
	make_lines 1
	for layout in nsm pax dsm csm; do
		within 4 load t -t'|' in --layout=$layout --overwrite
		within 4 scan t | cmp - in
	done
	make_lines 4
	for layout in nsm csm; do
		within 4 load t -t'|' in --layout=$layout --overwrite
		within 4 scan t | cmp - in
		read_and_changed 4 nsm csm
	done
}

@test "300 columns in 64 MB" {
	[ -z "${SP_TEST_VARIANT:-}" ] || skip 'too slow under a sanitizer'
	make_lines 42
	[ "$(stat -c %s in)" -gt $((64 << 20)) ]
	within 64 load t -t'|' in
	within 64 scan t | cmp - in
	read_and_changed 64 csm
}

@test "explain predicts the requests of scans of 2 and of 300 columns" {
	needs jq
	make_lines 2
	for layout in nsm csm; do
		"$xtable" load t -t'|' in --layout=$layout --volume=sim:flash --overwrite
		for size in 4M 64M; do
			"$xtable" explain t -S "$size" -q 'scan c1,c9' -q 'scan *' --stats=e.json |
				grep -x '2000 records' >/dev/null
			jq -r '.candidates[] | select(.stored) | .costs[] | "\(.requests|round) \(.bytes|round)"' e.json >predicted
			for names in c1,c9 "$columns"; do
				"$xtable" scan t -S "$size" --columns="$names" --stats=r.json >/dev/null
				echo "$(value read_requests) $(value read_bytes)"
			done >measured
			cmp predicted measured
		done
	done
}
