# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Functions for the scripts of the papers.  Such a script, run by
# scripts/experiments/run, begins with
#
#	# shellcheck source=scripts/experiments/lib.bash
#	. "$(dirname "$0")/lib.bash"
#	begin zl98 "Zhang and Larson 1998: buffering and read-ahead for external mergesort"
#
# and then is in the source tree, with
#
#	$out	build/experiments, where CSV, pictures and results stay
#	$work	a folder of its own for everything else, temporary data too; removed at the end
#	$scale	1: the sizes of the paper; 0.1: a tenth of them
#
# It records measurements with row, draws with plot, and judges with verdict.
# Numbers may have fractions; computations go through calc.  The results of the
# papers are in the scripts, not here.

set -u
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
bin=${SP_BUILD:-build}/bin
xsort=$(readlink -f "${XSORT:-$bin/xsort}")
xgen=$(readlink -f "${XGEN:-$bin/xgen}")
xjoin=$(readlink -f "${XJOIN:-$bin/xjoin}")
blockseq=$(readlink -f "${BLOCKSEQ:-$bin/blockseq}")
diskprobe=$(readlink -f "${DISKPROBE:-$bin/diskprobe}")
aiobench=$(readlink -f "${AIOBENCH:-$bin/aiobench}")
mmap_cube=$(readlink -f "${MMAP_CUBE:-$bin/mmap-cube}")
# shellcheck disable=SC2034 # sh08tables uses it
xtable=$(readlink -f "${XTABLE:-$bin/xtable}")
scale=${SCALE:-0.1}
out=${EXPERIMENTS_DIR:-build/experiments}
mkdir -p "$out" || exit 2
out=$(readlink -f "$out")
paper='' work=''

say() { echo "experiments: $*" >&2; }
die() { say "$*"; exit 2; }

# begin PAPER TITLE: removes the files of an earlier run of this paper.
begin()
{
	paper=$1
	[ -x "$xsort" ] && [ -x "$xgen" ] || die "build first: make"
	rm -f "$out/$paper".* "$out/$paper"-*
	work=$(mktemp -d "$out/tmp.$paper.XXXXXX") || exit 2
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM HUP
	export TMPDIR=$work
	echo "$2" >"$out/$paper.title"
	: >"$out/$paper.rows"
}

# calc EXPRESSION [FORMAT]: prints the value of an awk expression; FORMAT is %.10g by default.
calc() { awk "BEGIN { printf \"${2:-%.10g}\", ($1) }"; }
# holds CONDITION: the same as an exit status.
holds() { awk "BEGIN { exit !($1) }"; }
# within VALUE WANTED PERCENT
within() { holds "($1 - $2) * ($1 - $2) <= ($2 * $3 / 100) ^ 2"; }
# scaled SIZE [UNIT]: SIZE times the scale, rounded to a multiple of UNIT (1), at least one.
scaled() { awk -v n="$1" -v s="$scale" -v u="${2:-1}" 'BEGIN { k = int(n * s / u + 0.5); printf "%.0f", (k < 1 ? 1 : k) * u }'; }

# generate FILE ARGUMENT...: runs xgen, once for each FILE of $work.
generate()
{
	[ -e "$work/$1" ] && return
	"$xgen" "${@:2}" -o "$work/$1" || die "failed: xgen ${*:2}"
}

# sorted ARGUMENT...: runs xsort with a report, which field reads, and discards the
# result.  With trace=yes before it, the requests are in $work/trace.
sorted()
{
	local more=()

	[ "${trace:-no}" = yes ] && more=(--trace="$work/trace")
	"$xsort" --stats="$work/report" "${more[@]}" "$@" >/dev/null || die "failed: xsort $*"
	flatten "$work/report" >"$work/fields"
}

# flatten REPORT: a JSON report of a Spindle tool as lines "key.key value".
flatten() { scripts/report-fields "$1"; }

# field KEY [FILE]: a value of the last report (or of flatten's output), such as
# io.cluster_reads or phases.merge.elapsed_s.
field()
{
	awk -v key="$1" '$1 == key { print $2; found = 1; exit } END { exit !found }' "${2:-$work/fields}" ||
		die "no field $1 in the report"
}

# row TABLE KEY=VALUE...: adds a line to PAPER-TABLE.csv, whose first line has the keys.
row()
{
	local file=$out/$paper-$1.csv pair keys=() values=()

	for pair in "${@:2}"; do
		keys+=("${pair%%=*}")
		values+=("${pair#*=}")
	done
	[ -e "$file" ] || (IFS=,; echo "${keys[*]}") >"$file"
	(IFS=,; echo "${values[*]}") >>"$file"
}

# column TABLE KEY [CONDITION]: the values of a key, in the lines that an awk
# condition over v["KEY"] selects.
column()
{
	awk -F, -v want="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) key[i] = $i; next }
		{ for (i = 1; i <= NF; i++) v[key[i]] = $i }
		'"${3:-1}"' { print v[want] }' "$out/$paper-$1.csv"
}

# Of numbers on standard input; without any, nothing, which no verdict accepts as a yes.
mean() { awk '{ s += $1 } END { if (NR) printf "%.10g", s / NR }'; }
median() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'; }
largest() { awk 'NR == 1 || $1 > m { m = $1 } END { if (NR) printf "%.10g", m }'; }
smallest() { awk 'NR == 1 || $1 < m { m = $1 } END { if (NR) printf "%.10g", m }'; }

# plot NAME: draws PAPER-NAME.png from gnuplot commands on standard input.  The data
# separator is a comma; $out is the gnuplot variable `out`.  Series use the line styles 1 to
# 8; an expectation has the colour of the measurement and dashes (dt 2).
plot()
{
	command -v gnuplot >/dev/null || { say "no gnuplot: no picture $paper-$1"; return; }
	{
		cat <<-GNUPLOT
		set terminal pngcairo size ${size:-900,600} font "sans,12"
		set output "$out/$paper-$1.png"
		out = "$out"
		set datafile separator ","
		set border 3
		set tics nomirror
		set grid lt 1 lw 0.5 lc rgb "#dddddd"
		set key top right samplen 3.5 spacing 1.1
		set style line 1 lc rgb "#b03030" lw 2 pt 7 ps 0.9
		set style line 2 lc rgb "#d08020" lw 2 pt 5 ps 0.9
		set style line 3 lc rgb "#2060a0" lw 2 pt 9 ps 1.0
		set style line 4 lc rgb "#208040" lw 2 pt 11 ps 1.0
		set style line 5 lc rgb "#804090" lw 2 pt 13 ps 1.0
		set style line 6 lc rgb "#606060" lw 2 pt 6 ps 0.9
		set style line 7 lc rgb "#20a0a0" lw 2 pt 4 ps 0.9
		set style line 8 lc rgb "#a0a020" lw 2 pt 8 ps 1.0
		GNUPLOT
		cat
	} | gnuplot || die "gnuplot failed for $paper-$1"
}

# verdict ID PAPER HERE VERDICT [REASON]: a line of the table of results.  Text is Markdown without
# "|".  VERDICT is yes: within the stated tolerance, and nothing was chosen for this row; fitted:
# as yes, with a parameter of model or load that was chosen at this point, which REASON names; by
# construction: it could not have come out otherwise; partly; no; or shown: there is no expectation.
verdict()
{
	case $4 in
	yes | fitted | 'by construction' | partly | no | shown) ;;
	*) die "verdict of $1: '$4'" ;;
	esac
	printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "${5:-}" >>"$out/$paper.rows"
	say "$1: $4 ($3)"
}
# note: writes a paragraph of Markdown, from standard input, below the table.
note() { { echo; cat; } >>"$out/$paper.notes"; }
# outcome CONDITION: yes or no, for verdict.
outcome() { if holds "$1"; then echo yes; else echo no; fi; }
# fitted OUTCOME, constructed OUTCOME: what a yes is worth; others stay.
fitted() { if [ "$1" = yes ]; then echo fitted; else echo "$1"; fi; }
constructed() { if [ "$1" = yes ]; then echo 'by construction'; else echo "$1"; fi; }

# all_of "n of m": yes; partly if it is half of them at least; else no.
all_of() { awk '{ print ($1 == $3 ? "yes" : $1 * 2 >= $3 ? "partly" : "no") }' <<<"$1"; }
# toward BEFORE AFTER WANTED PERCENT: yes if AFTER is within PERCENT of WANTED; partly if it is a
# quarter of the way from BEFORE to WANTED, and not beyond WANTED by more than that; else no.
toward()
{
	if within "$2" "$3" "$4"; then
		echo yes
	elif holds "($2 - $1) / ($3 - $1) >= 0.25 && ($2 - $1) / ($3 - $1) <= 1.75"; then
		echo partly
	else
		echo no
	fi
}

# checked ID PAPER TEST PATTERN [WORTH]: a row that a unit test of make check covers: runs it, and
# counts the checks whose names the pattern takes.  WORTH: fitted or constructed, if it is.
checked()
{
	local program=${SP_BUILD:-build}/tests/unit/$3 good bad

	[ -x "$program" ] || die "build first: make $program"
	"$program" >"$work/checks" 2>&1
	good=$(grep -cE "^ok .*($4)" "$work/checks")
	bad=$(grep -cE "^not ok .*($4)" "$work/checks")
	verdict "$1" "$2" "$good of $((good + bad)) checks hold" "$("${5:-echo}" "$(outcome "$good > 0 && $bad == 0")")" "exact, in make check: $3"
}
