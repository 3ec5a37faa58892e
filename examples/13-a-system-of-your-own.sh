#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Lets a system of your own, here awk, answer the queries of DBmbench, next to Spindle's tools on
# text files.  dbmbench(1) says what each verb of an adapter does.
set -e

PATH="${EXAMPLE_BIN:-$(dirname "$0")/../build/bin}:$PATH"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/my-awk" <<'ADAPTER'
#!/bin/sh
answers='
	BEGIN { FS = "|" }
	FNR == NR { known[$1]; next }
	$2 > lo && $2 < hi && (query != "unj" || $1 in known) { n++; sum += $3; seen[$3] }
	END {
		if (query != "uss") { printf n ? "%.15g\n" : "null\n", sum / (n ? n : 1); exit }
		for (i = 1; i <= 50; i++) if (i in seen) { printf "%s%d", comma, i; comma = "," }
		print ""
	}'
case $1 in
version) echo "awk of $(uname -s)" ;;
load | index | pids | cold | drop) ;; # it reads the text of the tables, and has no server
run)
	while read -r query lo hi; do
		$DBM_WRAP awk -v query="$query" -v lo="$lo" -v hi="$hi" "$answers" "$DBM_T2" "$DBM_T1" || exit
	done
	;;
plan) echo "scan of T1, join by a table of T2 in memory; no index" ;;
*) echo "my-awk: unknown verb: $1" >&2 && exit 2 ;;
esac
ADAPTER
chmod +x "$dir/my-awk"

dbmbench run --systems="text,$dir/my-awk" --queries=uss,unj --selectivity=1,20 --scale=0.01 --unit=3 \
	--repeat=3 --counters=none -o "$dir/result"
