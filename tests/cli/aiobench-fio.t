#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Compares the requests of aiobench with those of fio for the same job.
#
# Usage: aiobench-fio.t [--record]
#
# Each line of tests/golden/fio.jobs is a job: the size of its file (0: no file), its lines, how its requests are
# compared, and the requests that fio 3.33 issued:
#
#	exact	the offsets, in their order
#	set	the offsets, without their order
#	count	the number of requests
#
# "R0+4096*16" are 16 consecutive reads of 4096 bytes from offset 0.  Where fio is installed, it runs all jobs again,
# in one process.  --record prints the lines with the requests of the installed fio.
. "$(dirname "$0")/../../scripts/tap.bash"

jobs=$(cd "$(dirname "$0")/../golden" && pwd)/fio.jobs
aiobench=$(cd "${SP_BUILD:-build}" && pwd)/bin/aiobench
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

# summary HOW < "OP OFFSET BYTES" lines
summary()
{
	if [ "$1" = set ]; then sort -k 1,1 -k 2,2n; else cat; fi | awk -v how="$1" '
		function put() { if (n) { text = text sep op first "+" bytes (n > 1 ? "*" n : ""); sep = "," } }
		{ count++; total += $3 }
		how == "count" { next }
		n && $1 == op && $3 == bytes && $2 == first + n * bytes { n++; next }
		{ put(); op = $1; first = $2; bytes = $3; n = 1 }
		END { put(); print how == "count" ? count + 0 "*" total / (count ? count : 1) : text }'
}

# make NUMBER SIZE: the file of a job
make()
{
	rm -f "f$1"
	[ "$2" = 0 ] || truncate -s "$2" "f$1"
}

# by_fio: runs all jobs; their requests are in log1, log2, ...
by_fio()
{
	local i=0 size lines

	while IFS='|' read -r size lines _; do
		i=$((i + 1))
		make "$i" "$size"
		printf '[j%d]\nfilename=f%d\nwrite_iolog=log%d\n' "$i" "$i" "$i"
		tr ';' '\n' <<< "$lines"
	done < "$jobs" > all.fio
	fio all.fio > fio.out 2>&1 || return
	for ((; i > 0; i--)); do
		awk '$3 == "read" || $3 == "write" { print toupper(substr($3, 1, 1)), $4, $5 }' "log$i" > "log$i.t" || return
	done
}

# by_aiobench NUMBER SIZE LINES: prints the requests of a job
by_aiobench()
{
	make "$1" "$2"
	{
		printf '[j]\nfilename=f%d\n' "$1"
		tr ';' '\n' <<< "$3"
	} > one.fio
	"$aiobench" run --fio-job=one.fio --overwrite --trace=trace > out 2>&1 || { sed 's/^/# /' out; return 1; }
	awk '/^[RW]/ { print $1, $3, $4 }' trace
}

if [ "${1-}" = --record ]; then
	by_fio || exit
	i=0
	while IFS='|' read -r size lines how _; do
		i=$((i + 1))
		echo "$size|$lines|$how|$(summary "$how" < "log$i.t")"
	done < "$jobs"
	exit
fi

i=0
while IFS='|' read -r size lines how want; do
	i=$((i + 1))
	got=$(by_aiobench "$i" "$size" "$lines" | summary "$how")
	tap_empty "$lines: as fio 3.33 with a file of $size bytes" "$([ "$got" = "$want" ] || echo "$got, not $want")"
done < "$jobs"

# live: prints the jobs for which the installed fio issues other requests
live()
{
	local i=0 size lines how want got

	by_fio || { cat fio.out; return; }
	while IFS='|' read -r size lines how want; do
		i=$((i + 1))
		got=$(summary "$how" < "log$i.t")
		[ "$got" = "$want" ] || echo "$lines: $got, not $want"
	done < "$jobs"
}
if command -v fio > /dev/null; then
	tap_empty "the installed fio issues these requests" "$(live)"
else
	tap_skip "the installed fio issues these requests" "there is no fio"
fi
tap_done
