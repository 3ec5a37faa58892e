#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# file_tags=slow
#
# Damages cubes and indexes (mutate_cube.py); MUTATE_CUBES=1000 makes a long run of it.
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
exec python3 "$(dirname "$0")/mutate_cube.py" "${SP_BUILD:-build}"
