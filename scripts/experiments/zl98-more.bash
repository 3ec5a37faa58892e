# shellcheck shell=bash disable=SC2154 # variables of the script that reads this, and of lib.bash
# SPDX-License-Identifier: MIT
#
# Zhang and Larson 1998: a spike in figure 14, other sizes of data ("5M to 100M ... similar
# results"), the striping that their section 6 leaves open, and figure 10 over lengths of runs; part of
# zl98.

strategies=(double equal extended cluster)

# first_pages: of the last merge, the mean time in ms of a read that does not follow the one before.
first_pages()
{
	awk '!/^#/ && $1 == "W" && !volume { volume = $2 }
		volume && $1 == "R" && $2 == volume { print $7, $6, $3, $4 }' "$work/trace" | sort -n |
		awk '$3 != end { sum += $1 - (before > $2 ? before : $2); n++ }
			{ before = $1; end = $3 + $4 }
			END { print sum / n / 1e6 }'
}

measure_spike()
{
	local pages

	for pages in 105 106 107 108; do
		generate "spike$pages" runs -n $((n * pages * 512)) --runs=$n --record-size=64 --alpha=0.6
		merge $drive "spike$pages" $pages $page 64 double
		row spike pages=$pages seconds="$(calc "$seconds * 50 * 32 / ($n * $pages)")" first_ms="$(first_pages)"
	done
}

judge_spike()
{
	verdict zl98.fig14-15.spike "not in the paper: double buffering with 2 MB at alpha = 0.6, by length of runs" \
		"$drive: $(awk -F, 'NR > 1 { printf "%s%s pages %.1f s, %.1f ms", sep, $1, $2, $3; sep = "; " }' \
			"$out/zl98-spike.csv")" shown \
		"all, and the first page of each cluster. A page is half a track: the length decides at which angle the next cluster lies. If it has just passed, each one waits for most of a revolution (8.3 ms); other lengths do so at other alphas"
}

# 2 MB of memory, 15 runs; the same number of pages each, about D * 32 / 15.
measure_sizes()
{
	local mb pages model strategy

	for mb in 5 10 25 50 100; do
		pages=$(calc "$mb * 32 / $n" %.0f)
		generate "size$mb" runs -n $((n * pages * 512)) --runs=$n --record-size=64 --seed="$mb"
		for model in linear $drive; do
			for strategy in "${strategies[@]}"; do
				merge $model "size$mb" "$pages" $page 64 "$strategy"
				row sizes model=$model data_mb="$mb" series="$strategy" reads="$reads" \
					formula="$(formula "$strategy" 64 $((n * pages)))" seconds="$seconds" \
					predicted="$(calc "$t * $n * $pages / 32 + $s * $(formula "$strategy" 64 $((n * pages)))")"
			done
		done
	done
}

# sized MODEL MB SERIES KEY
sized() { column sizes "$4" "v[\"model\"] == \"$1\" && v[\"data_mb\"] == $2 && v[\"series\"] == \"$3\""; }

judge_sizes()
{
	local mb here='' ratios='' worst over=0 gains=0

	for mb in 5 10 25 50 100; do
		worst=$(deviation sizes reads formula "v[\"model\"] == \"linear\" && v[\"data_mb\"] == $mb")
		holds "$worst <= 10" || over=$((over + 1))
		here+="${here:+, }$mb MB $(calc "$worst" %.1f) %"
		ratios+="${ratios:+, }$mb MB $(calc "$(sized $drive $mb cluster seconds) / $(sized $drive $mb double seconds)" %.2f)"
		holds "$(sized $drive $mb cluster seconds) < $(sized $drive $mb double seconds)" && gains=$((gains + 1))
	done
	verdict zl98.sizes "other data sizes, 5 to 100 MB, produce similar results" "counts at M = 2 MB, off by at most: $here" \
		"$(all_of "$((5 - over)) of 5")" \
		"limit 10 %; reads at the ends of runs weigh more the shorter runs are: at 5 MB a run has 11 pages"
	verdict zl98.sizes-drive "clustering is faster than double buffering at all of them" \
		"$drive: cluster / double $ratios" "$(all_of "$gains of 5")" \
		"one length of runs for each size"
}

# Stripes of 64 KB are placed on the drives round-robin, so several drives read a cluster of two or more pages.
measure_striping()
{
	local drives mb strategy set spec

	for drives in 1 2 4 8; do
		spec=$drive
		[ $drives = 1 ] || spec=$drive,array=raid0:$drives/64K
		for mb in 1 3; do
			for strategy in "${strategies[@]}"; do
				for set in "${sets[@]}"; do
					merge "$spec" "in$set" "$set" $page $((mb * 1024 / page)) "$strategy"
					row stripes drives="$drives" memory_mb="$mb" series="$strategy" set="$set" \
						seconds="$(calc "$seconds * 50 / ($n * $set * $page / 1024)")"
				done
			done
		done
	done
}

# striped DRIVES MB SERIES: the mean over the sets.
striped() { column stripes seconds "v[\"drives\"] == $1 && v[\"memory_mb\"] == $2 && v[\"series\"] == \"$3\"" | mean; }

judge_striping()
{
	local drives mb here=''

	for drives in 1 2 4 8; do
		here+="${here:+; }$drives drive$([ $drives = 1 ] || echo s)"
		for mb in 1 3; do
			here+=" $(calc "$(striped $drives $mb cluster) / $(striped $drives $mb double)" %.2f)"
		done
	done
	verdict zl98.striping "section 6: how the strategies perform with striping is not investigated" \
		"$drive: cluster / double at 1 and 3 MB: $here" shown \
		"stripes of 64 KB. Double buffering has reads of half of the runs outstanding, which several drives serve at once; clustering and extended forecasting read one cluster ahead, so small clusters keep one or two drives busy"
	size=1300,520 plot striping <<-'GNUPLOT'
	set multiplot layout 1,2 title "Section 6: merge of 50 MB, 15 runs, on stripes over several drives; not in the paper"
	set xlabel "drives (stripes of 64 KB)"
	set ylabel "seconds"
	set xrange [0.9:9]
	set logscale x 2
	set yrange [0:*]
	f = out . "/zl98-stripes.csv"
	do for [m = 1:3:2] {
		set title sprintf("barracuda4-like, %d MB for buffers", m)
		plot for [i = 1:4] sprintf("<awk -F, '$2 == %d && $3 == \"%s\" { s[$1] += $5; n[$1]++ } END { for (d in s) print d \",\" s[d] / n[d] }' %s | sort -n", \
			m, word("double equal extended cluster", i), f) using 1:2 with linespoints ls i title word("double equal extended cluster", i)
	}
	unset multiplot
	GNUPLOT
	size=1300,520 plot sizes <<-'GNUPLOT'
	set multiplot layout 1,2 title "5 to 100 MB of data, 15 runs, 2 MB for buffers; dashes: T = tD + sN"
	set xlabel "data, MB"
	set ylabel "seconds for each MB"
	set yrange [0:*]
	set key bottom right
	f = out . "/zl98-sizes.csv"
	do for [k = 1:2] {
		model = word("linear barracuda4-like", k)
		set title model
		plot for [i = 1:4] "<grep '^" . model . ",[0-9]*," . word("double equal extended cluster", i) . ",' " . f \
			using 2:($6 / $2) with linespoints ls i title word("double equal extended cluster", i), \
		     for [i = 1:4] "<grep '^" . model . ",[0-9]*," . word("double equal extended cluster", i) . ",' " . f \
			using 2:(k == 1 ? $7 / $2 : 1/0) with lines ls i dt 2 notitle
	}
	unset multiplot
	GNUPLOT
}

# Figure 10 on the drive, over ten lengths of runs: the length decides at which angles the
# clusters of a run lie.
measure_lengths()
{
	local pages kb large cluster batches

	for pages in 100 101 102 103 104 105 106 107 108 109; do
		generate "length$pages" runs -n $((n * pages * 512)) --runs=$n --record-size=64 --seed="$pages"
		for kb in 1024 2048 3072; do
			large=$((kb / (2 * n) / 4 * 4))
			merge $drive "length$pages" $pages $page $((kb / page)) cluster
			cluster=$seconds
			merge $drive "length$pages" $pages $page $((kb / page)) double
			batches=$seconds
			merge $drive "length$pages" $pages $large $((2 * n)) double
			row lengths pages=$pages memory_mb=$((kb / 1024)) cluster_s="$cluster" double_s="$batches" \
				large_s="$seconds" large_ratio="$(calc "$cluster / $seconds")" ratio="$(calc "$cluster / $batches")"
		done
		rm "$work/length$pages"
	done
}

# over_lengths MB KEY: a mean and its spread, as "0.70 (0.65 to 0.75)".
over_lengths()
{
	local values

	values=$(column lengths "$2" "v[\"memory_mb\"] == $1")
	printf '%.2f (%.2f to %.2f)' "$(mean <<<"$values")" "$(smallest <<<"$values")" "$(largest <<<"$values")"
}

judge_lengths()
{
	local mb large='' batches='' good=0

	for mb in 1 2 3; do
		large+="${large:+, }$(over_lengths $mb large_ratio)"
		batches+="${batches:+, }$(over_lengths $mb ratio)"
		within "$(column lengths large_ratio "v[\"memory_mb\"] == $mb" | mean)" 0.7 10 && good=$((good + 1))
	done
	verdict zl98.fig10.drive "cluster / double with large reads: about 0.70 for all sizes of memory, which the authors cannot explain" \
		"$drive, mean and spread over ten lengths of runs, at 1, 2, 3 MB: $large; against batches $batches" \
		"$(all_of "$good of 3")" "limit 10 % for the mean, at each size; the large read itself costs nothing here: see the note"
}
