#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
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
tap_empty "the page on scaling has the tables of the simulation" \
	"$(python3 "$top/python/docs/twostage.py" | grep '^|' | grep -vxFf "$top/python/docs/scaling.md")"
wheel=$(python3 "$top/python/build.py" wheel "$build/python" "$work")
tap "the wheel is named after the version and the machine" \
	grep -qE '/spindle_io-[0-9.]+-py3-none-linux_[a-z0-9_]+\.whl$' <<<"$wheel"
python3 -m zipfile -e "$wheel" "$work/site"
tap "what is unpacked works without the build" env -i PATH="$PATH" PYTHONPATH="$work/site" \
	python3 -m spindle_io --version
tap "two wheels of one tree are the same bytes" \
	cmp "$wheel" "$(python3 "$top/python/build.py" wheel "$build/python" "$work/again")"
tap_done
