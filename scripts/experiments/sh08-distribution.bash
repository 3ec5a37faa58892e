# shellcheck shell=bash disable=SC2154 # variables of the script that reads this, and of lib.bash
# SPDX-License-Identifier: MIT
#
# Shao 2008, section 6.2: distribution-based sorting and merge sort; part of sh08.
#
# The records and the memory of figure 6.4(b).  Ranges of keys are as many as runs of a merge sort with
# this memory, or more, so that the largest one fits in it.  Their splitters are sampled off the drive.
program=$build/tests/sim/distribution
make -s "$program" >&2 || die "cannot build $program"
"$xsort" -o "$work/want" "$work/uniform" || die "failed: xsort"

# distribute MEMORY LAYOUT DRIVE FILES: two buffers for each range, pages of at most 32 KB.
distribute()
{
	local memory parts page line

	memory=$(calc "$1 * $root * 1048576" %.0f)
	parts=$(calc "int($records * 100 * 1.1 / $memory) + 1" %d)
	page=$(calc "int($memory / (2 * $parts) / 4096)" %d)
	page=$((page < 1 ? 4096 : page > 8 ? 32768 : 4096 * page))
	line=$("$program" "$3,files=$4" "$2" "$memory" $page "$parts" "$work/uniform" "$work/out") ||
		die "failed: distribution, $*"
	cmp -s "$work/out" "$work/want" || die "distribution, $*: not sorted"
	rm -f "$work/out"
	# shellcheck disable=SC2086 # pairs
	row distribution memory_mb="$1" placement="$2" drive="${3//,/;}" files="$4" page_bytes="$page" parts="$parts" $line
}
# distributed MEMORY LAYOUT DRIVE FILES COLUMN
distributed()
{
	column distribution "$5" "v[\"memory_mb\"] == $1 && v[\"placement\"] == \"$2\" &&
		v[\"drive\"] == \"${3//,/;}\" && v[\"files\"] == \"$4\""
}
# write_gain MEMORY DRIVE: of partition write, old to new.
write_gain() { calc "$(distributed "$1" track "$2" none partition_s) / $(distributed "$1" semiseq "$2" none partition_s)"; }

gains='' totals=''
for m in "${memories[@]}"; do
	for layout in contiguous track semiseq; do
		for files in none both; do
			distribute "$m" $layout "$fifo" $files
		done
	done
	parts=()
	for layout in contiguous track semiseq; do
		parts+=("${layout}_write=$(distributed "$m" $layout "$fifo" none partition_s)" "${layout}_read=$(distributed "$m" $layout "$fifo" none sort_s)"
			"${layout}_total=$(distributed "$m" $layout "$fifo" both total_s)")
	done
	g=$(write_gain "$m" "$fifo")
	row s6.2 memory_mb="$m" "${parts[@]}" gain="$g" merge_old="$(mean_of old "$m" uniform "$fifo" both total_s)" \
		merge_new="$(mean_of new "$m" uniform "$fifo" both total_s)"
	gains+="${gains:+, }$m MB $(calc "$g" %.2f)"
	totals+="${totals:+; }$m MB: $(for layout in contiguous track semiseq; do calc "$(distributed "$m" $layout "$fifo" both total_s)" '%.1f '; done)and "
	totals+="$(for s in own-plain own-old own-new; do calc "$(mean_of $s "$m" uniform "$fifo" both total_s)" '%.1f '; done)"
done
small=$(write_gain 5 "$fifo") large=$(write_gain "$six" "$fifo")
verdict sh08.s6.2 "the writes of distribution-based sorting are the hash join's, so halved at 5 MB, no gain with memory of 6 % of the data; not measured" \
	"partition write, old to new: $gains; $six MB are 6 %" \
	"$(if holds "$small >= 1.6 && $large <= 1.15"; then echo yes; elif holds "$small >= 1.6 || $large <= 1.15"; then echo partly; else echo no; fi)" \
	"placement and gathered writes of xjoin, judged as figure 6.4(a); at 5 MB $(column distribution parts 'v["memory_mb"] == 5' | head -1) ranges, pages of $(column distribution page_bytes 'v["memory_mb"] == 5' | head -1) bytes, with 6 % $(column distribution parts "v[\"memory_mb\"] == $six" | head -1) ranges"
verdict sh08.s6.2-merge "not in the paper: the whole sort beside merge sort" \
	"seconds, distribution by contiguous, track, semiseq, and merge sort by the same, each by its own plan: $totals" shown \
	"files on the drive. Merge sort wins with little memory: its runs are written in sequence, and reads need less time to settle than writes; contiguous ranges are written in sequence too, but interleaved, and then read page by page. Sampling the splitters is left out: on the drive it would be a seek for each sample"
plot s6.2 <<'GNUPLOT'
set title "Section 6.2: sort with both files on the drive, distribution beside merge sort"
set xlabel "memory, MB (times the square root of the scale)"
set ylabel "seconds of the drive"
set yrange [0:*]
file = out . "/sh08-s6.2.csv"
plot file using "memory_mb":"contiguous_total" with linespoints ls 6 title "distribution, contiguous", \
	file using "memory_mb":"track_total" with linespoints ls 2 title "distribution, old: tracks", \
	file using "memory_mb":"semiseq_total" with linespoints ls 3 title "distribution, new: along the path", \
	file using "memory_mb":"merge_old" with linespoints ls 2 dt 2 title "merge sort, old", \
	file using "memory_mb":"merge_new" with linespoints ls 3 dt 2 title "merge sort, new"
GNUPLOT
