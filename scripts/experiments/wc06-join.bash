# shellcheck shell=bash disable=SC2154 # variables of the script that reads this, and of lib.bash
# SPDX-License-Identifier: MIT
#
# Wang & Cherniack 2006, the joins; part of wc06.
#
# Table 3 and the formulas are exact and not scaled.  Figure 7 and tables 9 and 10 come
# from one set of joins, supplier with partsupp, HHJ and SHJ over six sizes.  The number of
# partitions and the memory in pages decide how much of a partition is written together: so
# supplier has the size that gives the paper's number of partitions in the paper's 1 MB (a
# little smaller than there, because a record takes 32 bytes more in memory and partitions
# are planned somewhat smaller), and partsupp, page cache and the age of dirty pages are
# `part` of the paper's.  The machine is that of the sorts; the effect of arrival order is
# shown too.  Figure 7 is judged by the mean over seeds and lengths of tables.

# Table 8: name, MB of partsupp, partitions by formula (1) for the supplier table.
join_tables=('Small-1 292 5' 'Small-2 439 7' 'Medium-1 877 13' 'Medium-2 1316 19' 'Large-1 1902 27' 'Large-2 2048 29')
# The partitions of table 3's tuples.  The copy of the paper at hand has lost them; these agree with
# all that the text says (tests/unit/test_sequence_papers.c).
tuples=(0 1 2 0 1 2 0 1 2 0 1 2 0 1 2 1 1 2 2)
# Tables 9 and 10: requests, their mean KB, and mean blocks in a region: HHJ, SHJ.
declare -gA paper_requests=(['Small-1']='7130 5061' ['Medium-1']='44376 37654' ['Large-1']='179683 172835')
declare -gA paper_kb=(['Small-1']='57.7 60.3' ['Medium-1']='42.3 49.9' ['Large-1']='32.0 33.5')
declare -gA paper_blocks=(['Small-1']='8 48' ['Medium-1']='8 18' ['Large-1']='8 8')

# joined ARGUMENT...: runs xjoin with a report, which field reads.  With key=1 before it
# the second file's key is its first field; with memory=N it has N MB, not 1.
joined()
{
	"$xjoin" -t'|' -1 1 -2 "${key:-2}" -S "$(calc "(${memory:-1} + 5) * 1024" %d)K" \
		--join-memory="$(calc "${memory:-1} * 1024" %d)K" --page-size=8K --seed="${seed:-1}" \
		--stats="$work/report" "$@" >/dev/null || die "failed: xjoin $*"
	flatten "$work/report" >"$work/fields"
}

# parted ALGORITHM FILE [OPTION...]: joins a file with the 400 records of build, which make three
# partitions in 68 pages of 4 KB: three pages are for writing, the others hold four tuples of 16
# pages.  A group of the file system has two tuples.
parted()
{
	"$xjoin" -t'|' --algorithm="$1" --build=2 -S 512K --join-memory=272K --page-size=4K --seed=1 \
		--volume=sim:linear,fs=group:2,page=64K --trace="$work/trace" --stats="$work/report" \
		"${@:3}" "$2" "$work/build" || die "failed: xjoin of table 3"
	flatten "$work/report" >"$work/fields"
}

# records BYTES: for each key on standard input one of that length.
records() { awk -v n="$1" '{ printf "%-" n - 1 "s\n", $1 "|" }'; }

# writes: those of partitions in the last trace, in the order of submission: file, offset, bytes.
writes() { awk '$1 == "W" && $2 != "/dev/null"' "$work/trace" | sort -s -n -k6,6 | cut -d' ' -f2-4; }

# elsewhere: the number of tuples, of those whose writes are on standard input, that are torn or
# followed by one that is not adjacent.  Each further group of a file is the next free one.
elsewhere()
{
	awk '
		$2 % 65536 {
			n += $1 != file || $2 != end
		}
		$2 % 65536 == 0 {
			group = $1 " " int($2 / 131072)
			if (!(group in begin))
				begin[group] = 2 * groups++
			at = begin[group] + $2 % 131072 / 65536
			n += NR > 1 && (at - last) ^ 2 != 1
			last = at
		}
		{
			file = $1
			end = $2 + $3
		}
		END { print n + 0 }'
}

# partition ALGORITHM NAME: table 3's tuples as the probe input.  A join without partners shows the
# writes of the build input, which precede theirs.
partition()
{
	local key before regions p

	# In the result of a semijoin the partitions follow each other: the first key of each.
	parted "$1" "$work/keys" --type=semi --output="$work/parts"
	mapfile -t key < <(awk -F'|' 'NR == 1 || $1 < last { print $1 } { last = $1 }' "$work/parts")
	[ ${#key[@]} = 3 ] || die "table 3: $1 has ${#key[@]} partitions"
	for p in "${tuples[@]}"; do
		echo "${key[p]}"
	done | records 65536 >"$work/tuples"
	echo none >"$work/none"
	parted "$1" "$work/none" --output=/dev/null
	before=$(writes | wc -l) regions=$(field sim.partition_regions)
	parted "$1" "$work/tuples" --output=/dev/null
	writes | tail -n +$((before + 1)) >"$work/written"
	awk '{ print "W", $1, $2, $3, 0, NR, NR, $3 }' "$work/written" >"$work/$2"
	row table3 algorithm="$2" tuples="$(calc "$(wc -l <"$work/written") / 16")" \
		seeks="$(calc "$(field sim.partition_regions) - $regions")" elsewhere="$(elsewhere <"$work/written")"
}

# switches ALGORITHM [OPTION...]: the number of times that table 3's writes change the file.
switches() { "$blockseq" "${@:2}" "$work/$1" | awk '$1 == "device" { print $3 - 1 }'; }

table_3()
{
	local here outside

	seq 400 | records 960 >"$work/build"
	seq 400 | records 2000 >"$work/keys"
	partition hybrid HHJ
	partition shj SHJ
	here=$(column table3 tuples | paste -sd ' '),$(column table3 seeks | paste -sd ' '),$(column table3 elsewhere | paste -sd ' ')
	verdict wc06.tab3 "19 tuples, 7 pages, groups of 2: HHJ writes 14 tuples, needs 8 seeks to read them, and 7 of its requests are followed by one elsewhere; SHJ 19, 6 and 4" \
		"tuples, seeks, elsewhere of HHJ and SHJ: ${here//,/; }" \
		"$(fitted "$([ "$here" = "14 19,8 6,7 4" ] && echo yes || echo no)")" \
		"xjoin itself, a tuple of 16 pages: the order of the tuples, which the copy at hand has lost, was chosen to agree with the text"
	outside=$(switches HHJ --refine=file --window=64)
	verdict wc06.s4.3.refine "block requests can be refined from outside, too" \
		"table 3: HHJ goes on in another file $(switches HHJ) times, of 13; $outside if blockseq groups its writes by file with four tuples held back; SHJ $(switches SHJ) times, of 18" \
		"$(constructed "$(outcome "$outside < $(switches HHJ)")")" "four tuples are what SHJ sorts"
}

# join_machine [OTHER-WORDS]
join_machine() { echo "sim:$(machine 1024 in)${1:-}"; }

# join_input PARTITIONS MB: generates supplier and partsupp, at the same scale.
join_input()
{
	# 108 pages of 128 for a partition, 172 bytes for a supplier of 139.
	generate "supplier-$1" supplier --scale="$(calc "$1 * 108 * 8192 / 1.234 / 1415769" %.4f)" --seed="${seed:-1}"
	"$xgen" partsupp --scale="$(calc "$1 * 108 * 8192 / 1.234 / 1415769" %.4f)" --seed="${seed:-1}" \
		--bytes="$(calc "$2 * $mb * $part" %.0f)" -o "$work/partsupp" || die "no partsupp"
}

# join_down NAME PARTITIONS ALGORITHM
join_down()
{
	local read written all reads

	read=$(field sim.device_read_bytes) written=$(field sim.device_write_bytes)
	all=$(field sim.dispatched) reads=$(field sim.dispatched_reads)
	row joins table="$1" algorithm="$3" formula1="$2" partitions="$(field result.spilled_partitions)" \
		elapsed_s="$(calc "$(field result.elapsed_s) / $part" %.2f)" \
		spilled_mb="$(calc "$(field spill.write_bytes) / $part / $mb" %.0f)" \
		written_mb="$(calc "$written / $part / $mb" %.0f)" moved_mb="$(calc "($read + $written) / $part / $mb" %.0f)" \
		requests="$(calc "$all / $part" %.0f)" seeks="$(calc "$(field sim.seeks) / $part" %.0f)" \
		request_kb="$(calc "($read + $written) / $all / 1024" %.1f)" read_kb="$(calc "$read / $reads / 1024" %.1f)" \
		write_kb="$(calc "$written / ($all > $reads ? $all - $reads : 1) / 1024" %.1f)" \
		region_blocks="$(calc "$(field sim.region_bytes_mean) / 4096" %.1f)" \
		formula2="$(calc "2 * (128 * ${memory:-1} - $2) / $2" %.1f)"
}

joins()
{
	local t name size n kb

	for t in "${join_tables[@]}"; do
		read -r name size n <<<"$t"
		join_input "$n" "$size"
		both_joins "$name" "$n"
		[ "$name" != Medium-1 ] || grouped "$n"
		[[ $name != Small-1 && $name != Large-2 ]] || both_joins "$name" "$n" -arrival ,sched=noop
		[[ $name != *-1 ]] || both_joins "$name" "$n" -limit ,merge=64K,readahead=64K
		rm "$work/partsupp"
	done
}

# Section 4.3: records already grouped by partition: the result of a GRACE join.  They could come from
# blocks that are read in the order of their content.
block_kb=(32 256 1024)
grouped()
{
	joined --algorithm=grace --volume="$(join_machine)" "$work/supplier-$1" "$work/partsupp"
	join_down Medium-1 "$1" GRACE
	"$xjoin" -t'|' -1 2 -2 1 -S 6M --join-memory=1M --page-size=8K --seed=1 --algorithm=grace --build=2 --type=semi \
		--output="$work/grouped" "$work/partsupp" "$work/supplier-$1" || die "cannot group"
	# The key is the first field of a join's result.
	key=1 joined --algorithm=grace --volume="$(join_machine)" "$work/supplier-$1" "$work/grouped"
	join_down Medium-1 "$1" GRACE-grouped
	for kb in "${block_kb[@]}"; do
		row retrieval block_kb="$kb" in_order_s="$(retrieved "$kb" 1)" by_content_s="$(retrieved "$kb" "$1")"
	done
	rm "$work/grouped"
}

# retrieved KB PARTITIONS: seconds, as if at full size, for the grouped file in blocks of one
# partition each that lie in random order: all of a partition before those of the next.
retrieved()
{
	awk -v bytes="$(stat -c %s "$work/grouped")" -v kb="$1" -v parts="$2" '
		BEGIN {
			srand(1)
			for (at = 0; at < bytes; at += 1024 * kb)
				print int(rand() * parts), at
		}' | sort -s -n -k1,1 | awk -v kb="$1" '{ print "R relation", $2, 1024 * kb, 0, NR, NR, 1024 * kb }' >"$work/trace"
	"$aiobench" replay --replay_no_stall --depth=4 --stats="$work/report" "$work/trace" \
		sim:ide300-like,sched=clook >/dev/null || die "failed: aiobench replay"
	flatten "$work/report" >"$work/fields"
	calc "$(field result.elapsed_s) / $part" %.1f
}

# both_joins NAME PARTITIONS [SUFFIX WORDS]: HHJ and SHJ, on the machine with these words.
both_joins()
{
	local machine

	machine=$(join_machine "${4:-}")
	joined --algorithm=hybrid --volume="$machine" "$work/supplier-$2" "$work/partsupp"
	join_down "$1" "$2" "HHJ${3:-}"
	joined --algorithm=shj --volume="$machine" "$work/supplier-$2" "$work/partsupp"
	join_down "$1" "$2" "SHJ${3:-}"
}

# Section 4.2.1: tables of twice Large-2's size, on groups of 4 and 8 pages, in more and more memory.
larger()
{
	local memory group algorithm

	join_input 58 4096
	for memory in 1 2 4; do
		for group in 4 8; do
			for algorithm in hybrid shj; do
				joined --algorithm=$algorithm --volume="$(join_machine ",fs=group:$group")" \
					"$work/supplier-58" "$work/partsupp"
				row larger memory_mb=$memory group=$group algorithm=$algorithm \
					partitions="$(field result.spilled_partitions)" \
					elapsed_s="$(calc "$(field result.elapsed_s) / $part" %.1f)"
			done
		done
	done
	rm "$work/partsupp"
}
# larger_gain GROUP: seconds of HHJ over those of SHJ, in 1, 2 and 4 MB.
larger_gain()
{
	paste -d ' ' <(column larger elapsed_s "v[\"group\"] == $1 && v[\"algorithm\"] == \"hybrid\"") \
		<(column larger elapsed_s "v[\"group\"] == $1 && v[\"algorithm\"] == \"shj\"") |
		awk '{ printf "%.3f\n", $1 / $2 }' | paste -sd ' '
}

section_4_2_1()
{
	local four eight

	four=$(larger_gain 4) eight=$(larger_gain 8)
	verdict wc06.s4.2.1 "larger tables, more partitions: SHJ is still faster but requires more memory" \
		"twice Large-2 in 1, 2 and 4 MB: HHJ's time over SHJ's ${four// /, }, with groups of 8 pages ${eight// /, }" \
		"$(if ! holds "${four##* } > 1 && ${eight##* } > 1 && ${four##* } > ${four%% *} && ${eight##* } > ${eight%% *}"; then echo no
		elif holds "${four%% *} <= 1 && ${eight%% *} <= 1"; then echo yes
		else echo partly; fi)" \
		"yes: faster in 4 MB and not in 1 MB; partly: faster, and the more so the more memory. Sizes and memory are not in the paper"
}

# Seed, and length of the second table as a part of the paper's.
sets=('1 1' '1 0.96' '2 1' '2 1.04')

# pair NAME MB PARTITIONS SEED LENGTH GROUP: both joins, in a folder of their own.
pair()
{
	local seed=$4 algorithm

	work=$work/pair.$1.$4.$5.$6
	mkdir -p "$work"
	join_input "$3" "$(calc "$2 * $5")"
	for algorithm in hybrid shj; do
		joined --algorithm=$algorithm --volume="$(join_machine ",fs=group:$6")" "$work/supplier-$3" "$work/partsupp"
		calc "$(field result.elapsed_s) / $part" >"$work/$algorithm"
	done
	rm -f "$work/partsupp" "$work/supplier-$3"
}

# pairs GROUP: all of them for figure 7.
pairs()
{
	local t s name size n seed length folder

	for t in "${join_tables[@]}"; do
		read -r name size n <<<"$t"
		for s in "${sets[@]}"; do
			read -r seed length <<<"$s"
			while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
				wait -n
			done
			pair "$name" "$size" "$n" "$seed" "$length" "$1" &
		done
		wait
		for s in "${sets[@]}"; do
			read -r seed length <<<"$s"
			folder=$work/pair.$name.$seed.$length.$1
			row pairs table="$name" group="$1" seed="$seed" length="$length" HHJ="$(cat "$folder/hybrid")" \
				SHJ="$(cat "$folder/shj")" gain="$(calc "$(cat "$folder/hybrid") / $(cat "$folder/shj")" %.3f)"
		done
	done
}
# paired TABLE GROUP COLUMN
paired() { column pairs "$3" "v[\"table\"] == \"$1\" && v[\"group\"] == $2"; }

# of TABLE ALGORITHM COLUMN
of() { column joins "$3" "v[\"table\"] == \"$1\" && v[\"algorithm\"] == \"$2\""; }
# gain TABLE [-arrival]: seconds of HHJ over those of SHJ.
gain() { calc "$(of "$1" "HHJ${2:-}" elapsed_s) / $(of "$1" "SHJ${2:-}" elapsed_s)" %.3f; }

# paper_sign TABLE: 1 if SHJ is faster than HHJ in figure 7, else -1.
paper_sign() { case $1 in Small-* | Large-2) echo -1 ;; *) echo 1 ;; esac; }

# spread: of numbers on standard input, as "0.95 (0.90 to 1.01)".
spread()
{
	local values

	values=$(cat)
	printf '%.3f (%.3f to %.3f)' "$(mean <<<"$values")" "$(smallest <<<"$values")" "$(largest <<<"$values")"
}

# signs GROUP: "n of 6" with the paper's sign by the mean, a tab, and the means with their spread.
signs()
{
	local t good=0 gains='' mean

	for t in Small-1 Small-2 Medium-1 Medium-2 Large-1 Large-2; do
		mean=$(paired $t "$1" gain | mean)
		[ -n "$mean" ] && holds "($mean - 1) * $(paper_sign $t) > 0" && good=$((good + 1))
		gains+="${gains:+, }$t $(paired $t "$1" gain | spread)"
	done
	printf '%s of 6\t%s\n' "$good" "$gains"
}

figure_7()
{
	local here

	here=$(signs 4)
	verdict wc06.fig7 "SHJ slightly slower than HHJ for small tables, faster in the middle and for Large-1, slower for Large-2" \
		"HHJ's time over SHJ's, mean of ${#sets[@]} seeds and lengths: ${here#*$'\t'}" "$(all_of "${here%%$'\t'*}")" \
		"SHJ pays if G is more than a group. For Large-2 G is 6.8 pages of 8 KB or 13.6 blocks, and regions of SHJ have $(of Large-2 SHJ region_blocks) blocks here, those of HHJ $(of Large-2 HHJ region_blocks), a group: HHJ seeks $(calc "$(of Large-2 HHJ seeks) / $(of Large-2 SHJ seeks)" %.2f) times as often. The paper's regions are half as long as G, so for Large-1 already a group: see wc06.tab10. With such regions: wc06.fig7.memory"
	here=$(signs 8)
	verdict wc06.fig7.group "not in the paper: groups of 8 pages, as its rule compares" \
		"${here%%$'\t'*} of the paper's signs: ${here#*$'\t'}" shown \
		"the spread decides the sign for Large-1 and Large-2: G is 7.5 and 6.8, pieces of files are of one length in both, and the loss is SHJ's additional writes, all partitions instead of all but one"
	verdict wc06.fig7.arrival "not in the paper, whose Linux orders requests" \
		"in the order of arrival: Small-1 $(gain Small-1 -arrival), Large-2 $(gain Large-2 -arrival)" shown \
		"then the order of SHJ's writes matters even if pieces of files do not become longer"
	draw_figure_7
}

draw_figure_7()
{
	local t

	{
		echo "table,HHJ,SHJ,gain,least,most,sign"
		for t in Small-1 Small-2 Medium-1 Medium-2 Large-1 Large-2; do
			echo "$t,$(paired $t 4 HHJ | mean),$(paired $t 4 SHJ | mean),$(paired $t 4 gain | mean),$(paired $t 4 gain | smallest),$(paired $t 4 gain | largest),$(paper_sign $t)"
		done
	} >"$out/wc06-fig7.csv"
	size=1300,520 plot fig7 <<-'GNUPLOT'
	set multiplot layout 1,2 title "Figure 7: hybrid and sort-hash join, virtual time as if at full size, mean of four seeds and lengths"
	file = out . "/wc06-fig7.csv"
	set ylabel "seconds (logarithmic)"
	set key top left
	set style fill solid 0.9
	set boxwidth 0.38
	set xrange [-0.6:5.6]
	set logscale y
	set yrange [1:1000]
	set xtics ("Small-1" 0, "Small-2" 1, "Medium-1" 2, "Medium-2" 3, "Large-1" 4, "Large-2" 5) font ",10"
	plot file using ($0 - 0.2):"HHJ" with boxes ls 6 lw 1 title "HHJ", \
		file using ($0 + 0.2):"SHJ" with boxes ls 3 lw 1 title "SHJ"
	unset logscale y
	set ylabel "HHJ's time over SHJ's: above 1 SHJ is faster"
	set yrange [0:2.4]
	plot 1 with lines dt 2 lc rgb "black" notitle, \
		file using 0:"gain":"least":"most" with yerrorbars ls 3 title "here, mean and spread", \
		file using 0:(column("sign") == 1 ? 1.1 : 1/0) with points pt 8 ps 2 lc rgb "black" title "the paper: SHJ is faster", \
		file using 0:(column("sign") == -1 ? 0.9 : 1/0) with points pt 10 ps 2 lc rgb "black" title "the paper: HHJ is faster"
	unset multiplot
	GNUPLOT
}

# Section 4.3: the additional time to read a relation by content.
content_ordered()
{
	local kb more here=''

	for kb in "${block_kb[@]}"; do
		more=$(column retrieval by_content_s "v[\"block_kb\"] == $kb")
		more=$(calc "$more - $(column retrieval in_order_s "v[\"block_kb\"] == $kb")" %.1f)
		here+="${here:+, }$kb KB $(calc "$(of Medium-1 GRACE-grouped elapsed_s) + $more" %.0f) s"
	done
	verdict wc06.s4.3.content "blocks could be retrieved by their content, so that records come grouped" \
		"Medium-1, GRACE, blocks of one partition each in random order, read partition by partition: blocks of $here (records as they come $(of Medium-1 GRACE elapsed_s) s, SHJ $(of Medium-1 SHJ elapsed_s) s)" \
		shown "the join of grouped records, and what reading by content takes longer than reading in order, measured apart"
}

# Numbers of requests, and sizes of reads and writes.
requests_of_table_9()
{
	local t hhj shj good=0 here='' limit=''

	for t in Small-1 Medium-1 Large-1; do
		read -r hhj shj <<<"${paper_requests[$t]}"
		holds "$(of $t SHJ requests) < $(of $t HHJ requests)" && good=$((good + 1))
		here+="${here:+; }$t $(of $t HHJ requests) and $(of $t SHJ requests) (paper $hhj, $shj)"
		limit+="; $t $(of $t HHJ-limit requests) and $(of $t SHJ-limit requests)"
	done
	verdict wc06.tab9.count "SHJ makes fewer requests than HHJ" "$here" "$(all_of "$good of 3")" \
		"larger requests, so fewer; with 64 KB for both, as in wc06.tab9.limit: ${limit#; }"
	good=0
	within "$(of Large-1 SHJ read_kb)" "$(of Large-1 HHJ read_kb)" 10 && good=1
	holds "$(of Large-1 SHJ write_kb) > $(of Large-1 HHJ write_kb)" && good=$((good + 1))
	verdict wc06.tab9.write "Large-1: reads of SHJ are about as large as those of HHJ, writes are larger" \
		"reads $(of Large-1 HHJ read_kb) and $(of Large-1 SHJ read_kb) KB, writes $(of Large-1 HHJ write_kb) and $(of Large-1 SHJ write_kb)" \
		"$(all_of "$good of 2")" "SHJ's regions are longer here, see wc06.tab10"
}

# Regions in blocks of 4 KB.
table_10()
{
	local t hhj shj groups=0 near=0 exact=0 hybrid='' blocks=''

	for t in Small-1 Medium-1 Large-1; do
		read -r hhj shj <<<"${paper_blocks[$t]}"
		within "$(of $t HHJ region_blocks)" "$hhj" 25 && groups=$((groups + 1))
		within "$(of $t SHJ region_blocks)" "$shj" 25 && near=$((near + 1))
		within "$(of $t SHJ region_blocks)" "$(calc "2 * $(of $t SHJ formula2)")" 25 && exact=$((exact + 1))
		hybrid+="${hybrid:+, }$t $(of $t HHJ region_blocks)"
		blocks+="${blocks:+; }$t $(of $t SHJ region_blocks) (paper $shj; formula (2) $(of $t SHJ formula2) pages of 8 KB)"
	done
	verdict wc06.tab10.hhj "blocks of 4 KB in a region: 8 for HHJ" "$hybrid" "$(constructed "$(all_of "$groups of 3")")" \
		"within 25 %; what files grow by is a parameter of the simulation"
	verdict wc06.tab10 "blocks of 4 KB in a region: 48, 18, 8 for SHJ" "$blocks" "$(all_of "$near of 3")" \
		"within 25 %. $exact of 3 are within 25 % of formula (2) in blocks, two for each page of 8 KB; the paper's numbers of blocks are its numbers of pages. xjoin sorts records without a header or a gap, so as much as the memory holds; PostgreSQL did not: see wc06.tab10.memory"
}

tables_9_and_10()
{
	local t hhj shj good=0 kb='' kb_limit=''

	for t in Small-1 Medium-1 Large-1; do
		read -r hhj shj <<<"${paper_kb[$t]}"
		holds "$(of $t SHJ request_kb) > $(of $t HHJ request_kb)" && good=$((good + 1))
		kb+="${kb:+; }$t $(of $t HHJ request_kb) and $(of $t SHJ request_kb) (paper $hhj, $shj)"
		kb_limit+="; $t $(of $t HHJ-limit request_kb) and $(of $t SHJ-limit request_kb)"
	done
	requests_of_table_9
	verdict wc06.tab9 "requests of SHJ are larger than those of HHJ: KB" "$kb" "$(all_of "$good of 3")" \
		"larger than in the paper: the read-ahead window is 128 KB, and waiting requests are merged up to 1 MB, see wc06.tab9.limit"
	verdict wc06.tab9.limit "the same with 64 KB for both" "${kb_limit#; }" shown "what limits Linux 2.4 had for this drive is not published"
	table_10
	verdict wc06.s4.3 "records already grouped by partition need no sorting" \
		"Medium-1, GRACE: $(of Medium-1 GRACE region_blocks) blocks in a region and $(of Medium-1 GRACE elapsed_s) s become $(of Medium-1 GRACE-grouped region_blocks) and $(of Medium-1 GRACE-grouped elapsed_s) s (SHJ: $(of Medium-1 SHJ region_blocks) and $(of Medium-1 SHJ elapsed_s) s)" \
		"$(outcome "$(of Medium-1 GRACE-grouped region_blocks) >= $(of Medium-1 SHJ region_blocks) &&
			$(of Medium-1 GRACE-grouped elapsed_s) <= $(of Medium-1 GRACE elapsed_s)")" \
		"grouped by a GRACE join's own result: \`--type=semi\` with the same hash"
	content_ordered
}
