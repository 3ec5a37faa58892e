#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
#
# Iyengar et al. 2008, in small: queries of tables through indexes on the simulated drive alone and
# on a RAID 10 of four.  scripts/experiments/iy08 has all rows.
. "$BATS_TEST_DIRNAME/suite.bash"

setup_file()
{
	export LC_ALL=C
	cd "$BATS_FILE_TMPDIR" || exit 1
	for t in orders lineitem customer supplier; do
		"$xgen" $t --scale=0.01 | awk -F'|' '{ printf "%09d%s\n", $1, substr($0, length($1) + 1) }' >$t
	done
	# The later tables have keys of nine digits too.
	for t in orders lineitem; do
		awk -F'|' -v OFS='|' -v f="$([ $t = orders ] && echo 2 || echo 3)" \
			'{ $f = sprintf("%09d", $f); print }' $t >padded
		mv padded $t
	done
	"$xsort" -t'|' -k2,2 -o myorders orders
	for t in lineitem customer supplier; do
		"$xindex" build -t'|' -k1,1 -o $t.index $t
	done
}

setup()
{
	cd "$BATS_FILE_TMPDIR" || exit 1
	one=sim:ide300-like,sched=deadline,page=8K,cache=1M,files=both
	four=$one,array=raid10:4
	customer=--then=customer,left=1.2,key=1,index=customer.index
	supplier=--then=supplier,left=2.3,key=1,index=supplier.index
	q1b=(-o '2.1,2.5' myorders lineitem)
	q2b=(-o 2.1 "$customer" myorders lineitem)
	q4=(-o '3.2,2.4,2.2,2.15,4.1,4.2' "$customer" "$supplier" orders lineitem)
}

# loops ALGORITHM VOLUME TIMELINE ARGUMENT...
loops()
{
	local most=()

	[ "$1" = inl ] || most=(--max-outstanding=200)
	"$xjoin" -t'|' -S 12M --algorithm="$1" "${most[@]}" --index2=lineitem.index --volume="$2" \
		--timeline="$3" "${@:4}"
}

at() { awk -F, -v n="$2" '$1 == n { print $2 }' "$1"; } # TIMELINE ROW

# gains VOLUME LEAST ARGUMENT...: asynchronous loops are LEAST percent faster at row 2000, none of
# their first 1000 rows takes more than 1.25 times as long, and their times are the same each time.
gains()
{
	loops inl "$1" slow "${@:3}" --limit=2000 >/dev/null
	loops async-inl "$1" fast "${@:3}" --limit=2000 >/dev/null
	loops async-inl "$1" again "${@:3}" --limit=2000 >/dev/null
	cmp fast again
	awk -v slow="$(at slow 2000)" -v fast="$(at fast 2000)" -v least="$2" \
		'BEGIN { print slow, fast; exit !(100 * (1 - fast / slow) >= least) }'
	awk -F, 'FNR == 1 { next } NR == FNR { slow[$1] = $2; next }
		$1 in slow && $1 <= 1000 { n++; if ($2 > 1.25 * slow[$1]) { late = 1; print "row", $1, slow[$1], $2 } }
		END { exit late || n < 100 }' slow fast
}

@test "iy08: index nested loops give the rows of other joins" {
	local a

	"$xjoin" -t'|' -o 2.1,2.5 orders lineitem | sort >want.1b
	"$xjoin" -t'|' -j1 -o 1.2,2.1 orders lineitem | "$xjoin" -t'|' -o 1.2 - customer | sort >want.2b
	"$xjoin" -t'|' -o 1.2,2.2,2.3,2.4,2.15 orders lineitem |
		"$xjoin" -t'|' -o 1.3,2.2,1.4,1.2,1.5 - customer |
		"$xjoin" -t'|' -o 1.2,1.3,1.4,1.5,2.1,2.2 - supplier | sort >want.4
	[ -s want.4 ]
	for a in inl async-inl; do
		loops $a "$one" t "${q1b[@]}" | sort | cmp - want.1b
		loops $a "$four" t "${q2b[@]}" | sort | cmp - want.2b
		loops $a "$four" t "${q4[@]}" | sort | cmp - want.4
		[ "$(tail -n 1 t | cut -d, -f1)" -eq "$(wc -l <want.4)" ]
	done
}

@test "iy08.fig10-15: asynchronous loops are at least 6 % faster on one drive" {
	gains "$one" 6 "${q1b[@]}"
	gains "$one" 6 "${q2b[@]}"
}

@test "iy08.fig17-20: at least 25 % on a RAID 10 of four" {
	gains "$four" 25 "${q1b[@]}"
	gains "$four" 25 "${q2b[@]}"
	gains "$four" 15 "${q4[@]}"
}

@test "iy08.fig17: a merge join gives its first row later, and its last one earlier" {
	local sorted

	loops async-inl "$four" fast "${q1b[@]}" >/dev/null
	"$xsort" -t'|' -k1,1 --parallel=1 --volume="${four/both/in}" --stats=s -o sorted myorders
	"$xjoin" --algorithm=merge -t'|' -o 2.1,2.5 --volume="${four/both/in}" --timeline=merged - lineitem \
		< <(cat sorted) >/dev/null
	sorted=$(sed -n 's/.*"elapsed_s": \([0-9.]*\).*/\1/p' s | sort -g | tail -n 1)
	awk -F, -v sorted="$sorted" 'FNR == 1 { n++ } FNR == 2 { first[n] = $2 } { last[n] = $2 }
		END { print sorted, first[1], first[2], last[1], last[2]
			exit !(first[1] < sorted + first[2] && last[1] > sorted + last[2]) }' fast merged
}
