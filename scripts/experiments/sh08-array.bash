# shellcheck shell=bash disable=SC2154 # variables of the scripts before this, and of lib.bash
# SPDX-License-Identifier: MIT
#
# Shao 2008, section 2.4: adjacent blocks through a volume of several drives, which knows their tracks:
# hops, and the sorts of figure 6.4 and section 6.2 on it.  Part of sh08, after sh08-distribution.bash.
read -r one_ms each_ms <<<"$(measured s2.4 1)"
row s2.4 drive_ms="$one_ms" array_ms="$each_ms"
verdict sh08.s2.4 "adjacent blocks through a logical volume manager that knows the drives; latency on each drive the same however many there are (chapter 5)" \
	"hops of $one_ms ms on a drive, of $each_ms ms on each of four striped by tracks that go at once" \
	"$(outcome "$each_ms <= 1.05 * $one_ms && $one_ms <= 1.05 * $each_ms")" \
	"stripes of one size have no adjacent blocks: the angle at which one begins changes from zone to zone"
gains=$(calc "$(write_gain 5 "$fifo")" %.2f) speed='' least=$(write_gain 5 "$fifo")
for n in 2 4; do
	array=$drive,array=raid0:$n/track,window=1
	for layout in track semiseq; do
		distribute 5 $layout "$array" none
	done
	compare 5 uniform "$array" in "${shares[@]}"
	g=$(write_gain 5 "$array")
	least=$(calc "$g < $least ? $g : $least")
	gains+=", $(calc "$g" %.2f)"
	speed+="${speed:+, }$(calc "$(distributed 5 semiseq "$fifo" none partition_s) / $(distributed 5 semiseq "$array" none partition_s)" %.2f)"
done
sized=$drive,array=raid0:4/64K,window=1
distribute 5 contiguous "$sized" none
verdict sh08.s2.4-gain "not in the paper: whether the gain stays with more drives" \
	"5 MB, 1, 2, 4 drives striped by tracks: partition write, old to new $gains; new, over one drive: $speed times; merge read, old to new $(for a in "$fifo" "$drive,array=raid0:2/track,window=1" "$array"; do calc "$(gain 5 uniform "$a" in merge_s)" '%.2f '; done)" \
	"$(outcome "$least >= 1.6")" \
	"pages that wait are shared among the drives, so each has fewer at a time. Striped by 64 KiB the four drives write contiguous partitions in $(calc "$(distributed 5 contiguous "$sized" none partition_s)" %.1f) s and read them in $(calc "$(distributed 5 contiguous "$sized" none sort_s)" %.1f) s, together $(calc "($(distributed 5 contiguous "$sized" none total_s)) / $(distributed 5 semiseq "$array" none total_s)" %.2f) times as long as along the path"
