#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Which client sends the most requests?  Counts the addresses in a log (equal lines
# become one, prefixed with their number) and shows the five most frequent:
# --limit keeps only five lines in memory, however long the log is.
set -e -o pipefail

PATH="${EXAMPLE_BIN:-$(dirname "$0")/../build/bin}:$PATH"

log()
{
	xgen lines --order=zipf --distinct=300 --records=20000 --words=1 --seed=7 |
		awk '{ print "client-" $1, "GET", "/page/" NR % 50, 200 }'
}

log | awk '{ print $1 }' | LC_ALL=C xsort -u --count | LC_ALL=C xsort -k1,1nr --limit=5
