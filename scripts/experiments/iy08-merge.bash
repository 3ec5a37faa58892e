# shellcheck shell=bash disable=SC2154 # variables of the script that reads this, and of lib.bash
# SPDX-License-Identifier: MIT
#
# The merge joins of Iyengar et al. 2008, as sorts and merges on the simulated machine, one after
# the other; part of iy08.
#
# In the paper's plans inputs of a merge join are sorted ("much larger relations need to be sorted",
# section 8.2): `sorted` here.  `clustered` takes orders and lineitem for sorted, as they are.  The
# A sort is that of PostgreSQL before 8.2, as wc06 has it: replacement selection, polyphase merging
# with seven tapes, and a result that is a run, which is read by the merge join.  It has read all
# of its input before the first row; reading the results of the sorts below a merge join, and tables
# that it reads as they are, take time in step with the rows.

declare -A sort_s=() # "MACHINE TABLE": seconds before the first and from the first to the last row

# stage PROGRAM ARGUMENT...: runs it on `machine`.
stage()
{
	"$@" --volume="$(volume "$machine" files=in)" --stats="$work/report" || die "failed: $*"
	flatten "$work/report" >"$work/fields"
}

# sort_times FILE INTO: sorts rows by their first field; prints the times.
sort_times()
{
	stage "$xsort" -t'|' -k1,1 -S "$((4 * ${sort_memory%K}))K" --run-formation=replacement \
		--run-size="$sort_memory" --merge-policy=ppms --fan-in=6 --recycle=all --merge-buffer="$sort_memory" \
		--page-size=8K --readahead=equal --parallel=1 "$1" >"$2"
	echo "$(field phases.run_formation.elapsed_s) $(field phases.merge.elapsed_s)"
}

# add_times BEFORE DURING
add_times()
{
	before=$(calc "$before + $1")
	during=$(calc "$during + $2")
}

# sort_rows: the rows of the last merge, which end before their sort gives any.
sort_rows()
{
	before=$(calc "$before + $during") during=0
	# shellcheck disable=SC2046
	add_times $(sort_times - "$work/sorted" < <(cat "$work/rows"))
	mv "$work/sorted" "$work/rows"
}

# sort_table NAME: the pipe or the file in `input`.
sort_table()
{
	local size=${database[$machine]} into=/dev/null

	table "$1" "$size"
	input=$work/$size/$1
	[ "$how" = clustered ] && [[ $1 =~ ^(orders|lineitem)$ ]] && return
	case $1 in
	orders | lineitem) ;;
	myorders) table orders "$size" && input=$work/$size/orders ;;
	*) input=$work/$size/sorted.$1 into=$input ;;
	esac
	[ -n "${sort_s[$machine $1]:-}" ] || sort_s[$machine $1]=$(sort_times "$work/$size/$1" "$into")
	# shellcheck disable=SC2086
	add_times ${sort_s[$machine $1]}
	pipe_of "$input"
}

# pipe_of FILE: as a pipe, in `input`; until the pipes are closed.
pipe_of()
{
	local pipe

	exec {pipe}< <(cat "$1")
	pipes+=("$pipe")
	input=/dev/fd/$pipe
}

# merge_rows COLUMNS NAME [NAME]: joins two tables, or the rows so far with one.
merge_rows()
{
	local left pipe pipes=()

	if [ $# -eq 3 ]; then
		sort_table "$2"
	else
		pipe_of "$work/rows"
	fi
	left=$input
	sort_table "${*: -1}"
	stage "$xjoin" --algorithm=merge -t'|' -o "$1" "$left" "$input" >"$work/joined"
	mv "$work/joined" "$work/rows"
	for pipe in "${pipes[@]}"; do
		exec {pipe}<&-
	done
	add_times 0 "$(field result.elapsed_s)"
}

# merged QUERY MACHINE sorted|clustered TIMELINE: a timeline with the row numbers of another.
merged()
{
	local machine=$2 how=$3 before=0 during=0 input

	case $1 in
	1b) merge_rows 2.1,2.5 myorders lineitem ;;
	2b)
		merge_rows 1.2,2.1 myorders lineitem
		sort_rows
		merge_rows 1.2 customer
		;;
	4)
		merge_rows 1.2,2.2,2.3,2.4,2.15 orders lineitem
		sort_rows
		merge_rows 1.3,2.2,1.4,1.2,1.5 customer
		sort_rows
		merge_rows 1.2,1.3,1.4,1.5,2.1,2.2 supplier
		;;
	esac
	awk -F, -v before="$before" -v during="$during" -v rows="$(field result.output_records)" '
		NR == 1 { print; next }
		{ printf "%d,%.9f\n", $1, before + during * $1 / rows }' "$4"
}
