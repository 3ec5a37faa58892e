#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# The Python package: its unit tests, and its wheel, packed and installed as pip would.
. "$(dirname "$0")/../../scripts/tap.bash"

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${SP_BUILD:-$top/build}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

needs python3
if [ ! -e "$build/python/.done" ]; then
	tap_skip "the Python package" "it is not part of this build"
	tap_done
	exit
fi
export PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$build/python tap_lines "$work/log" python3 "$top/tests/python/test_spindle_io.py"
PYTHONPATH=$build/python tap_lines "$work/groups" python3 "$top/tests/python/test_group.py"
XTABLE=$build/bin/xtable PYTHONPATH=$build/python tap_lines "$work/tables" python3 "$top/tests/python/test_table.py"
# The first Python that has pyarrow, or any.
arrow_python()
{
	local python

	for python in python3 /usr/bin/python3; do
		! "$python" -c 'import pyarrow' 2>/dev/null || { echo "$python"; return; }
	done
	echo python3
}
PYTHONPATH=$build/python tap_lines "$work/arrow" "$(arrow_python)" "$top/tests/python/test_arrow.py"
PYTHONPATH=$build/python tap_lines "$work/cubes" "$(numpy_python)" "$top/tests/python/test_cube.py"
tap_empty "the page on scaling has the tables of the simulation" \
	"$(python3 "$top/python/docs/twostage.py" | grep '^|' | grep -vxFf "$top/python/docs/scaling.md")"
wheel=$(python3 "$top/python/build.py" wheel "$build/python" "$work")
tap "the wheel is named after the version and the machine" \
	grep -qE '/spindle_io-[0-9.]+-py3-none-linux_[a-z0-9_]+\.whl$' <<<"$wheel"
python3 -m zipfile -e "$wheel" "$work/site"
tap "what is unpacked works without the build" env -i PATH="$PATH" PYTHONPATH="$work/site" \
	python3 -m spindle_io --version
# As pip does it: scripts go to bin/, data to the prefix.
mkdir "$work/prefix"
cp -r "$work"/site/*.data/data/* "$work/prefix"
cp -r "$work"/site/*.data/scripts "$work/prefix/bin"
chmod +x "$work"/prefix/bin/*
tools_of_wheel()
{
	local tool

	for tool in aiobench blockseq dbmbench diskprobe mmap-cube xgen xgroup xindex xjoin xsort xtable; do
		env -i "$work/prefix/bin/$tool" --version || return
	done
}
tap "the tools of the wheel start without the build" tools_of_wheel
# loaded COMMAND...: the libraries that it loads, apart from those of the C library.
loaded()
{
	env -i LD_DEBUG=libs "$@" 2>&1 >"$work/out" | sed -n 's/.*calling init: //p' |
		grep -vE '/(ld-linux[^/]*|lib(c|m)\.so\.[0-9]+)$'
}
own_libraries()
{
	local found

	found=$(loaded "$work/prefix/bin/xsort" --compress-output=zstd "$0"
		loaded "$work/prefix/bin/xgen" lines -n 1)
	grep -q 'spindle-io/libzstd' <<<"$found" && grep -q 'spindle-io/libspindle' <<<"$found" &&
		! grep -v "^$work/prefix/bin/../lib/spindle-io/" <<<"$found"
}
tap "they load the libraries of the wheel" own_libraries
tap "pip makes the tools and the adapters executable, and nothing else" python3 -c '
import sys, zipfile
modes = {i.filename: i.external_attr >> 16 & 0o111 for i in zipfile.ZipFile(sys.argv[1]).infolist()}
programs = [n for n in modes if ".data/scripts/" in n or "/share/spindle/dbmbench/" in n]
sys.exit(len(programs) < 12 or any((m > 0) != (n in programs) for n, m in modes.items()))' "$wheel"
tap "type checkers know its types" test -e "$work/site/spindle_io/py.typed"
sources=$(python3 "$top/python/build.py" sdist "$work")
tap "the sources are named after the version" grep -qE '/spindle_io-[0-9.]+\.tar\.gz$' <<<"$sources"
tap "they have what a build needs" sh -c 'for f in PKG-INFO pyproject.toml python/spindle_io/py.typed Makefile python/build.py lib/libspindle.map; do
	tar -tzf "$1" | grep -q "^spindle_io-[0-9.]*/$f\$" || exit; done' - "$sources"
tap "two wheels of one tree are the same bytes" \
	cmp "$wheel" "$(python3 "$top/python/build.py" wheel "$build/python" "$work/again")"
tap_done
