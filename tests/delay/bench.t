#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Classes of requests on threads of their own: every request is counted once.

# shellcheck source=tests/delay/lib.bash
. "$(dirname "$0")/lib.bash"

head -c 1M /dev/urandom >area
bench() { "$aiobench" run --engine=sync --direct=0 --io_size=4M --stats=report "$@" area >out 2>err; }

a_bench()
{
	bench --class=a:share=50,prio=be/0 --class=b:share=30,prio=be/7 --class=c:share=20 ||
		echo "status $?: $(head -c 200 err)"
	[ "$(sed -n 's/^ *"requests": *\([0-9]*\).*/\1/p' report | sort -n | tail -n 1)" = 1024 ] ||
		echo 'not 1024 requests'
}

seeds a_bench
tap_done
