# SPDX-License-Identifier: MIT
# gnuplot -c scripts/demo.gp FOLDER PICTURE: what scripts/demo has measured.
set terminal pngcairo size 1500,520 font "sans,11"
set output ARG2
set datafile separator "\t"
set multiplot layout 1,3
set style fill solid 0.9 border 0
set border 3
set tics nomirror

set title "Seconds to sort: GNU sort and xsort, same memory"
set style data histograms
set style histogram clustered gap 1
set yrange [0:*]
set ylabel "seconds"
set grid ytics lc rgb "#dddddd"
set xtics rotate by -25
set key top left
plot ARG1 . "/times" using 2:xtic(1) title "sort" lc rgb "#b0b0b0", \
     "" using 3 title "xsort" lc rgb "#2060a0", \
     "" using ($0 + 0.17):3:(sprintf("%.2f", $3)) with labels offset 0,0.6 font ",9" notitle, \
     "" using ($0 - 0.17):2:(sprintf("%.2f", $2)) with labels offset 0,0.6 font ",9" notitle

set title "Every file of this machine, by size"
set datafile separator whitespace
set xtics norotate
set logscale xy
set xrange [1:*]
set yrange [1:*]
set xlabel "rank"
set ylabel "bytes"
set format xy "10^{%L}"
unset key
plot ARG1 . "/rank" using 1:2 with lines lw 2 lc rgb "#2060a0"

unset logscale
set format xy "%g"
set xrange [0:*]
set yrange [0:*]
set title "Block requests of the last sort to its temporary file"
set xlabel "seconds"
set ylabel "place, MB"
set key top left
stats ARG1 . "/writes" using 1 nooutput
if (exists("STATS_records") && STATS_records > 0) {
	plot ARG1 . "/writes" using 1:2 with points pt 7 ps 0.3 lc rgb "#d08020" title "written", \
	     ARG1 . "/reads" using 1:2 with points pt 7 ps 0.3 lc rgb "#2060a0" title "read"
}
unset multiplot
