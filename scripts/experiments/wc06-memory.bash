# shellcheck shell=bash disable=SC2154 # variables of the script that reads this, and of lib.bash
# SPDX-License-Identifier: MIT
#
# Wang & Cherniack 2006, table 10 and figure 7 with the memory of PostgreSQL's records; part of wc06.

# Tables 9 and 10 and figure 7 if 1 MB holds as much of partsupp as in PostgreSQL 8.0: a record of
# 188 bytes on disk has 208 with its headers in memory, and the allocator rounds to powers of two and
# adds 8, 308 on average.  The supplier table becomes smaller alike, so there are as many partitions.
share=0.6
scarce()
{
	local t name size n less memory=$share zone

	for t in "${join_tables[@]}"; do
		read -r name size n <<<"$t"
		[[ $name = *-1 || $name = Large-2 ]] || continue
		less=$(calc "$n * $share")
		scarce_input "$less" "$size"
		joined --algorithm=hybrid --volume="$(join_machine)" "$work/supplier-$less" "$work/partsupp"
		join_down "$name" "$n" HHJ-scarce
		joined --algorithm=shj --volume="$(join_machine)" "$work/supplier-$less" "$work/partsupp"
		join_down "$name" "$n" SHJ-scarce
		[[ $name != Large-* ]] || for zone in 0 2 4 6 8 10 12; do
			by_track "$name" $zone
		done
	done
	rm "$work/partsupp" "$work/half"
}

# scarce_input PARTITIONS MB: a partsupp of two halves, since a supplier has not enough rows for one.
scarce_input()
{
	join_input "$1" "$(calc "$2 / 2")"
	mv "$work/partsupp" "$work/half"
	seed=2 join_input "$1" "$(calc "$2 / 2")"
	cat "$work/half" >>"$work/partsupp"
}

# tracks_of ZONE: the drive with all tracks as long as those of one zone.
tracks_of()
{
	local model=lib/dev/models/ide300-like.json

	# shellcheck disable=SC2094 # it is read twice
	awk -v zone="$1" '
		{ at = index($0, "\"spt\"") }
		NR == FNR {
			if (at && n++ == zone) {
				tracks = substr($0, at)
				sub(/},?$/, "", tracks)
			}
			next
		}
		at { $0 = substr($0, 1, at - 1) tracks (/,$/ ? "}," : "}") }
		!/"total_blocks"/' $model $model
}

# by_track NAME ZONE: both joins on such a drive.
by_track()
{
	local machine algorithm took=()

	tracks_of "$2" >"$work/tracks.json"
	machine=$(join_machine)
	for algorithm in hybrid shj; do
		joined --algorithm=$algorithm --volume="${machine/ide300-like/$work/tracks.json}" "$work/supplier-$less" "$work/partsupp"
		took+=("$(field result.elapsed_s)")
	done
	row tracks table="$1" blocks="$(awk -F'"spt": ' '/first_cyl/ { print $2 + 0; exit }' "$work/tracks.json")" \
		HHJ="$(calc "${took[0]} / $part")" SHJ="$(calc "${took[1]} / $part")" gain="$(calc "${took[0]} / ${took[1]}" %.3f)"
}
# on_tracks TABLE: HHJ's times over SHJ's.
on_tracks() { column tracks gain "v[\"table\"] == \"$1\""; }
judge_scarce()
{
	local t hhj shj blocks='' near=0 good=0 small medium

	for t in Small-1 Medium-1 Large-1; do
		read -r hhj shj <<<"${paper_blocks[$t]}"
		within "$(of $t SHJ-scarce region_blocks)" "$shj" 25 && near=$((near + 1))
		blocks+="${blocks:+; }$t $(of $t SHJ-scarce region_blocks) (paper $shj)"
	done
	verdict wc06.tab10.memory "the same regions of SHJ if records take as much memory as in PostgreSQL 8.0" \
		"$blocks" "$(fitted "$(all_of "$near of 3")")" \
		"within 25 %. 1 MB then sorts $share MB: computed from its allocator and the lengths of partsupp, to explain wc06.tab10"
	small=$(gain Small-1 -scarce) medium=$(gain Medium-1 -scarce)
	holds "$small < 1" && good=1
	holds "$medium > 1" && good=$((good + 1))
	holds "$(on_tracks Large-1 | mean) > 1" && good=$((good + 1))
	holds "$(on_tracks Large-2 | mean) < 1" && good=$((good + 1))
	verdict wc06.fig7.memory "figure 7 if records take as much memory as in PostgreSQL 8.0" \
		"$good of 4 of the paper's signs: HHJ's time over SHJ's for Small-1 $small, Medium-1 $medium; mean over seven lengths of tracks for Large-1 $(on_tracks Large-1 | spread), Large-2 $(on_tracks Large-2 | spread)" \
		"$(fitted "$(all_of "$good of 4")")" \
		"regions of Large-1 and Large-2 then have $(of Large-1 SHJ-scarce region_blocks) and $(of Large-2 SHJ-scarce region_blocks) blocks, a group as in HHJ, and HHJ's seeks are $(calc "$(of Large-1 HHJ-scarce seeks) / $(of Large-1 SHJ-scarce seeks)" %.2f) and $(calc "$(of Large-2 HHJ-scarce seeks) / $(of Large-2 SHJ-scarce seeks)" %.2f) times SHJ's. The groups of one partition lie about as many groups apart as there are partitions, so the length of a track decides how long the drive waits for each: HHJ and SHJ have not the same number of partitions, and the sign changes with the length of a track, from that of the first zone of the drive to that of the last but one. The paper does not give it"
}
