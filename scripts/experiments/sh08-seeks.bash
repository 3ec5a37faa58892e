# shellcheck shell=bash disable=SC2154 # variables of the script that reads this, and of lib.bash
# SPDX-License-Identifier: MIT
#
# Shao 2008, figures 2.1(a) and 2.2: seek profiles of the shipped drives, as diskprobe measures them
# by timing on the simulated drives; the models are not read.  Part of sh08.

# probed DRIVE: a seek with the overhead of a read takes read_ms over cylinders; C: settle_cylinders.
probed()
{
	local tracks surfaces distance time

	"$diskprobe" "sim:$1" --stats="$work/report" >/dev/null || die "failed: diskprobe, $1"
	flatten "$work/report" >"$work/fields"
	while read -r distance time; do
		row fig2.1 drive="$1" cylinders="$distance" read_ms="$(calc "1000 * $time")"
	done < <(awk '/^seeks\.[0-9]+\.cylinders/ { c = $2 } /^seeks\.[0-9]+\.read_s/ && c > 0 { print c, $2 }' "$work/fields")
	tracks=$(awk '/^zones\.[0-9]+\.tracks/ { n += $2 } END { print n }' "$work/fields")
	surfaces=$(field rotation.surfaces)
	row fig2.2 drive="$1" cylinders="$(calc "$tracks / $surfaces" %.0f)" settle_cylinders="$(field rotation.settle_cylinders)" \
		settle_ms="$(calc "1000 * $(field rotation.settle_s)" %.3f)" revolution_ms="$(calc "1000 * $(field rotation.period_s)" %.3f)"
}
# seek_ms DRIVE smallest|largest: within C.
seek_ms()
{
	column fig2.1 read_ms "v[\"drive\"] == \"$1\" && v[\"cylinders\"] <= $(c_of "$1")" | "$2"
}
c_of() { column fig2.2 settle_cylinders "v[\"drive\"] == \"$1\""; }

for d in barracuda4-like ultrastar36lzx-like cheetah36es-like atlas10k3-like serpentine ide300-like nearline6t-like; do
	probed "$d"
done
atlas=atlas10k3-like cheetah=cheetah36es-like
near=$(calc "$(seek_ms $atlas smallest) >= 0.8 && $(seek_ms $atlas largest) <= 1.2 &&
	$(seek_ms $cheetah smallest) >= 0.695 && $(seek_ms $cheetah largest) <= 1.2")
verdict sh08.fig2.1 "a seek of up to C cylinders is settling: 0.8 to 1.2 ms with C = 17 on the Atlas 10k III, 0.7 to 1.2 ms with C = 12 on the Cheetah 36ES" \
	"by timing: C = $(c_of $atlas), $(calc "$(seek_ms $atlas smallest)" %.2f) to $(calc "$(seek_ms $atlas largest)" %.2f) ms; C = $(c_of $cheetah), $(calc "$(seek_ms $cheetah smallest)" %.2f) to $(calc "$(seek_ms $cheetah largest)" %.2f) ms" \
	"$(fitted "$(outcome "$near && $(c_of $atlas) == 17 && $(c_of $cheetah) == 12")")" \
	"overhead of 0.25 ms included; the seek curves of both models were chosen for these figures"
verdict sh08.fig2.2 "of drives of 1997 to 2003: settling hardly becomes shorter, while tracks become dense: one cylinder is within it, then C" \
	"C and ms by cylinders of the drive: $(paste -d' ' <(column fig2.2 drive) <(column fig2.2 cylinders) <(column fig2.2 settle_cylinders) <(column fig2.2 settle_ms) | awk '{ printf "%s%s (%d) %d, %.2f", s, $1, $2, $3, $4; s = "; " }')" shown \
	"the figure is about drives that were sold, and its points are not in the print at hand; of these models only two have published seek times, and the serpentine the shape of a drive of 2004: the others are typical for their time, by assumption. On serpentines C is D over the surfaces, and ends at the way to the next round of the heads"

size=1300,560 plot fig2.1 <<GNUPLOT
set logscale x
set xlabel "cylinders"
set ylabel "seek, settling and overhead, ms"
set key top left
of(name) = sprintf("<grep '^%s,' %s/sh08-fig2.1.csv", name, out)
at(name) = sprintf("<grep '^%s,' %s/sh08-fig2.2.csv", name, out)
drives = "$(column fig2.2 drive | xargs)"
set multiplot layout 1,2
set title "Figure 2.1(a): seeks as diskprobe measures them"
set xrange [0.8:500000]
set yrange [0:16]
plot for [i = 1:words(drives)] of(word(drives, i)) using 2:3 with lines ls i title word(drives, i)
set title "The same; points: C and settling; shaded: within C in the paper"
unset key
set xrange [0.8:64]
set yrange [0.6:2.4]
set object 1 rectangle from 0.8,0.8 to 17,1.2 fillcolor rgb "#208040" fillstyle transparent solid 0.2 noborder
set object 2 rectangle from 0.8,0.7 to 12,1.2 fillcolor rgb "#2060a0" fillstyle transparent solid 0.2 noborder
plot for [i = 1:words(drives)] of(word(drives, i)) using 2:3 with lines ls i, \
	for [i = 1:words(drives)] at(word(drives, i)) using 3:4 with points ls i ps 1.6
unset multiplot
GNUPLOT
size=1300,520 plot fig2.2 <<GNUPLOT
set multiplot layout 1,2 title "Figure 2.2: settling and the cylinders within it, by the cylinders of a drive; the thesis has drives by year"
file = out . "/sh08-fig2.2.csv"
named(name) = substr(name, 1, strlen(name) - (name[strlen(name) - 4:] eq "-like" ? 5 : 0))
set xlabel "cylinders of the drive"
set logscale x
set xrange [2000:1500000]
set format x "%.0f"
set ylabel "settling and overhead, ms"
set yrange [0:2.4]
plot file using 2:4 with points ls 3 ps 1.4 notitle, \
	"" using 2:4:(named(strcol(1))) with labels left offset 0.8,0.4 font ",10" notitle
\$paper << EOD
32400,17
30960,12
EOD
set ylabel "cylinders within settling (C)"
set yrange [0:20]
plot file using 2:3 with points ls 3 ps 1.4 title "by timing", \
	"" using 2:3:(named(strcol(1))) with labels left offset 0.8,0.4 font ",10" notitle, \
	\$paper with points pt 8 ps 2.2 lc rgb "black" title "the thesis"
unset multiplot
GNUPLOT
