#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Compiles the examples of the pages of section 3, without warnings, and runs those that need no
# device.  An example is the body of a function, or names files of examples/.
. "$(dirname "$0")/../../scripts/tap.bash"

needs cc
top=$PWD
build=$(cd "${SP_BUILD:-build}" && pwd)
if [ ! -e "$build/lib/libspindle.so" ] || [ "${build##*/}" != build ]; then
	echo "1..0 # SKIP no shared library without a sanitizer in $build"
	exit 0
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export PATH=$build/bin:$PATH LD_LIBRARY_PATH=$build/lib LC_ALL=C

# example PAGE: its literal block below EXAMPLES, as C.
example()
{
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$1" | awk '/^\.Ed/ { on = 0 } on { print } /^\.Bd -literal/ { on = 1 }' |
		sed 's/\\e/\\/g; s/^\\&//'
}
# compiles PAGE PROGRAM: the program ends with status 1 if the example has left an error.
compiles()
{
	{
		printf '#include <stdio.h>\n#include <time.h>\n#include <spindle.h>\n'
		printf 'int main(void)\n{\n'
		example "$1"
		! example "$1" | grep -q 'sp_errinfo err\b' ||
			printf 'if (err.code)\n\tfprintf(stderr, "%%d %%s %%s\\n", err.code, err.path, err.text);\nreturn err.code != 0;\n'
		printf '}\n'
	} >"$2.c"
	cc -std=gnu17 -Wall -Wextra -Werror -I"$top/lib/include" -o "$2" "$2.c" -L"$build/lib" -lspindle
}
make_data()
{
	xgen lines -n 20000 -o big.txt
	xgen orders --scale=0.001 -o orders.tbl
	printf 'name,price\na,1\n' >goods.csv
	printf 'a 1\n' >left.txt
	printf 'a 2\n' >right.txt
	printf '[job]\nfilename=x\nrw=read\nsize=1m\n' >job.fio
	xsort -S 1M --trace=sort.trace big.txt >/dev/null
	xtable load -t'|' orders.table orders.tbl
	printf 'client 4\nget 3 c1\n' >orders.run
	mmap-cube create sea.cube --dims 64x512x8 --dtype f32
}
# runs PROGRAM: without an error; its output is kept as PROGRAM.out.
runs() { (cd "$work" && "$1" >"$1.out"); }

(cd "$work" && set -e && make_data) >"$work/log" 2>&1 || { cat "$work/log"; exit 2; }
n=0
for page in man/spindle_*.3; do
	[ -n "$(example "$page")" ] || continue
	n=$((n + 1))
	name=$(basename "$page" .3)
	tap "the example of $name compiles" compiles "$page" "$work/$name"
	case $name in
	spindle_dbm | spindle_error | spindle_preflight | spindle_watch) ;; # an installed folder, an error, a device, a process
	*) tap "the example of $name runs" runs "$work/$name" ;;
	esac
done
tap "there are at least 34 of them" [ "$n" -ge 34 ]
tap "the sorted buffer is in order" [ "$(cat "$work/spindle_buffers.out")" = $'a\nb' ]
tap "the joined line is a pair" [ "$(cat "$work/pairs.txt")" = "a 1 2" ]
tap "the sorted file is that of sort" cmp "$work/sorted.txt" <(sort "$work/big.txt")
tap "the index has the keys of the table" [ "$(cat "$work/spindle_index.out")" = "1500 keys" ]
tap "the table has its records" [ "$(cat "$work/spindle_table.out")" = 1500 ]
tap "the stream has all records" [ "$(cat "$work/spindle_tablearrow.out")" = "1500 records" ]
tap "three splitters make four parts" [ "$(wc -l <"$work/spindle_split.out")" = 3 ]
tap "the price is the second column" [ "$(cat "$work/spindle_columns.out")" = 2 ]

printf '%s\n' '.Sh EXAMPLES' '.Bd -literal' 'int rc = sp_size_parse("1", 1);' '.Ed' '.Sh SEE ALSO' >"$work/page"
refused() { ! compiles "$1" "$work/refused"; }
tap "seen: an example with a wrong call" refused "$work/page"
tap_done
