# SPDX-License-Identifier: MIT
# gnuplot -c scripts/demo.gp FOLDER PICTURE: draws the measurements of scripts/demo.
set terminal pngcairo size 1000,520 font "sans,11"
set output ARG2
set datafile separator "\t"
set multiplot layout 1,2
set style fill solid 0.9 border 0
set border 3
set tics nomirror
set key outside top center horizontal
set tmargin 4
set bmargin 4

set title "Seconds to sort, with the same memory"
set style data histograms
set style histogram clustered gap 1
stats ARG1 . "/bars" using 2 nooutput
set yrange [0:STATS_max * 1.08]
set xrange [-0.6:STATS_records - 0.4]
set ylabel "seconds"
set grid ytics lc rgb "#dddddd"
# Puts the last word of a name on a second line.
two_lines(s) = words(s) < 2 ? s : s[1:strlen(s) - strlen(word(s, words(s))) - 1] . "\n" . word(s, words(s))
seconds(s) = sprintf(s < 10 ? "%.2f" : s < 100 ? "%.1f" : "%.0f", s)
plot ARG1 . "/bars" using 2:xtic(two_lines(strcol(1))) title "GNU sort" lc rgb "#b0b0b0", \
     "" using 3 title "xsort" lc rgb "#2060a0", \
     "" using ($0 + 0.17):3:(seconds($3)) with labels offset 0,0.6 font ",9" notitle, \
     "" using ($0 - 0.17):2:(seconds($2)) with labels offset 0,0.6 font ",9" notitle

set title "Every file of this machine, by size"
set datafile separator whitespace
set logscale xy
set xrange [1:*]
set yrange [1:*]
set xlabel "rank"
set ylabel "bytes"
set format xy "10^{%L}"
unset key
plot ARG1 . "/rank" using 1:2 with lines lw 2 lc rgb "#2060a0"
unset multiplot
