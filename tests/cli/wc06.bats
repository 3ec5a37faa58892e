#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# no threads
#
# Wang & Cherniack 2006, its sorts, by the real operators: tables 1 and 2 exactly, and the six
# algorithms of figure 6 on a small machine, with the same figures everywhere.
# scripts/experiments/wc06 has all rows.
. "$BATS_TEST_DIRNAME/suite.bash"

# pages: runs A to D of one page each, the last the least.
pages()
{
	local i

	for i in 1 2 3 4; do
		head -c 4096 /dev/zero | tr '\0' "$((5 - i))" >"$(tr 1-4 A-D <<<"$i")"
	done
	cat D C B A >want
}

# small POLICY RECYCLE [OPTION...]: section 1.1: runs of a page, merged two at a time.
small()
{
	"$xsort" --record-size=4096 --page-size=4K --run-size=8K --fan-in=2 --run-formation=load \
		--readahead=none --parallel=1 --merge-policy="$1" --recycle="$2" "${@:3}" \
		-o out A B C D && cmp out want
}

# transfers POLICY TRACE: with a cache of three pages, up to the final merge: 14
# requests, of which the two that write E and F write two pages each.
transfers()
{
	"$blockseq" --cache=3 --policy="$1" --first=14 "$2" |
		awk '$1 ~ /^(transfers|reads|writes)$/ { printf "%s ", $2 }'
}

# figure KEY...: of the report in r.json, in one line.
figure()
{
	for k; do
		sed -n "s/.*\"$k\": \\([0-9.e+-]*\\).*/\\1/p" r.json | head -n 1
	done | paste -sd ' '
}

@test "wc06.tab1, tab2: EMS moves 14 pages under LRU and 7 under OPT" {
	pages
	small lazy none --trace=t
	[ "$(transfers lru t)" = "14 8 6 " ]
	[ "$(transfers opt t)" = "7 5 2 " ]
}

@test "wc06.tab1, tab2: MMS with recycling moves 6 and 5" {
	pages
	small eager all --trace=t
	[ "$(transfers lru t)" = "6 4 2 " ]
	[ "$(transfers opt t)" = "5 4 1 " ]
}

@test "wc06.tab1, tab2: a simulated machine of three pages does the same" {
	local m=sim:linear,cache=12K,page=4K,files=in,flush=evict,readahead=0

	pages
	# The final merge, which the paper leaves out, reads what is not in the cache:
	# 2 pages for EMS (one page for OPT) and as many for MMS (one for OPT).
	small lazy none --volume="$m" --trace=t --stats=r.json
	[ "$(transfers lru t) $(figure transfers)" = "14 8 6  16" ]
	small lazy none --volume="$m,policy=opt,future=t" --stats=r.json
	[ "$(transfers opt t) $(figure transfers)" = "7 5 2  8" ]
	small eager all --volume="$m" --trace=t --stats=r.json
	[ "$(transfers lru t) $(figure transfers)" = "6 4 2  8" ]
	small eager all --volume="$m,policy=opt,future=t" --stats=r.json
	[ "$(transfers opt t) $(figure transfers)" = "5 4 1  6" ]
}

# algorithm NAME: sorts the table as figure 6 does, 1/512 in size.
algorithm()
{
	local run='--run-formation=load --fan-in=4 --merge-policy=mms'

	case $1 in
	PPMS*) run='--run-formation=replacement --fan-in=6 --merge-policy=ppms' ;;
	esac
	case $1 in
	*-NR) run+=' --recycle=none' ;;
	*'(1)') run+=' --recycle=1' ;;
	*'(2)') run+=' --recycle=2' ;;
	*) run+=' --recycle=all' ;;
	esac
	# shellcheck disable=SC2086
	"$xsort" -t'|' -k4,4n -S 32M $run --run-size=16K --merge-buffer=64K --page-size=8K \
		--readahead=equal --parallel=1 --stats=r.json -o out \
		--volume=sim:ide300-like,cache=1M,page=8K,fs=group:8,files=in,flush=30/60/20/6ms table &&
		cmp out want
}

# Pages of 8 KB: read from the device and written to it, read from temporary space and
# written there, of these recycled; seeks, and nanoseconds of the device.
counts()
{
	algorithm "$1"
	awk '/"(read|write|recycled)_bytes"/ && spill || /"device_/ { gsub(/[^0-9]/, ""); printf "%d ", $0 / 8192 }
		/"spill": {/ { spill = 1 } /}/ { spill = 0 }' r.json
	figure seeks io_time_ns
}

@test "wc06.fig6: the six algorithms on a small machine" {
	"$xgen" partsupp --bytes=4M -o table
	sort -t'|' -k4,4n table >want
	for a in MMS MMS-NR 'MMS(1)' 'MMS(2)' PPMS PPMS-NR; do
		echo "$a $(counts "$a")"
	done >got
	diff - got <<-END
		MMS 2809 1695 2719 2719 2255 340 1820321433
		MMS-NR 3557 2771 2719 2719 0 299 1652250695
		MMS(1) 2871 1678 2719 2719 1228 278 1419589478
		MMS(2) 2286 1665 2719 2719 1753 259 1191867644
		PPMS 5275 2626 2516 2516 1969 1273 6358235495
		PPMS-NR 5547 2626 2516 2516 0 922 3497533352
	END
}
