#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
#
# Converts DiskSim's descriptions of drives: a small drive computed by hand, and refused parameters.
. "$BATS_TEST_DIRNAME/suite.bash"

setup()
{
	needs python3
	[ -z "${SP_TEST_VARIANT:-}" ] || skip "Python is not built with the sanitizer of the library"
	begin_test
	export SP_BUILD=$build
	tool=$BATS_TEST_DIRNAME/../../scripts/experiments/disksim.py
	# A revolution of 10 ms, 100 blocks on a track.
	cat >drive.model <<-'END'
	dm_disk SMALL_model {
	   Number of data surfaces = 2,
	   Layout Model = dm_layout_g1 {
	      LBN-to-PBN mapping scheme = 0, # cylinders
	      Sparing scheme used = 8,
	      Rangesize for sparing = 2,
	      Zones = [
	         dm_layout_g1_zone {
	            First cylinder number = 0, Last cylinder number = 9,
	            Blocks per track = 100, Offset of first block = 5.0,
	            Empty space at zone front = 10, Number of spares = 7,
	            Skew for track switch = 10.0, Skew for cylinder switch = 12.0,
	            slips = [ 30, 31 ], defects = [ 40, 396 ]
	         },
	         dm_layout_g1_zone {
	            First cylinder number = 11, Last cylinder number = 19,
	            Blocks per track = 80, Offset of first block = 0,
	            Empty space at zone front = 0, Number of spares = 0,
	            Skew for track switch = 8, Skew for cylinder switch = 9,
	            slips = [], defects = []
	         }
	      ]
	   },
	   Mechanical Model = dm_mech_g1 {
	      Seek type = extracted,
	      Full seek curve = drive.seek,
	      Add. write settling delay = -0.5,
	      Head switch time = 0.9,
	      Rotation speed (in rpms) = 6000
	   }
	} # end
	END
	printf 'Seek distances measured: 2\n1,\t1.5\n19,\t6.0\n' >drive.seek
	cat >drive.diskspecs <<-'END'
	disksim_disk SMALL {
	   Model = source drive.model,
	   Bulk sector transfer time = 0.0,
	   Scheduler = disksim_ioqueue { Scheduling policy = 1 },
	   Allow read hits on write data = 0,
	   Number of buffer segments = 1,
	   Maximum number of write segments = 1,
	   Segment size (in blks) = 64,
	   Use separate write segment = 0,
	   Low (write) water mark = 1.0,
	   High (read) water mark = 0.0,
	   Enable caching in buffer = 1,
	   Buffer continuous read = 1,
	   Maximum read-ahead (blks) = 20,
	   Read-ahead over requested = 1,
	   Read-ahead on idle hit = 1,
	   Read any free blocks = 0,
	   Fast write level = 0,
	   Immediate buffer read = 0,
	   Immediate buffer write = 0,
	   Read hit over. after read = 0.2,
	   Read hit over. after write = 0.3,
	   Read miss over. after read = 1.0,
	   Read miss over. after write = 2.0,
	   Write hit over. after read = 9.0,
	   Write hit over. after write = 9.0,
	   Write miss over. after read = 3.0,
	   Write miss over. after write = 4.0,
	   Read completion overhead = 0.1,
	   Write completion overhead = 0.0
	}
	END
	cat >drive.parv <<-'END'
	disksim_global Global { Init Seed = 42 }
	disksim_bus BUS0 { type = 1, Read block transfer time = 0.02, Write block transfer time = 0.02 }
	source drive.diskspecs
	instantiate [ disk0 ] as SMALL
	END
	# Block 10 is sector 20, at angle 25: 1 ms, 1.5 to come there, 0.1 to read, 0.02 and 0.1.  Then
	# a hit in 0.2 + 0.02 + 0.1; a write of block 40 (sector 52, angle 57) that begins at 20 ms:
	# 3 ms later the head is at 30; 2.7 to come there and 0.1.  At 50 ms block 15 is written, which is
	# at angle 30: its byte is there in time.  That empties the segment: at 60 ms block 11, at angle
	# 26, is read after 2 ms, 0.6 to come there, and 0.1, 0.02 and 0.1.
	cat >trace <<-'END'
	R Hit 10 1 2720.0 7280.0
	R Hit 11 1 320.0 9680.0
	W Hit 40 1 5800.0 14200.0
	R Hit 15 1 420.0 9580.0
	W Hit 15 1 3100.0 6900.0
	R Hit 11 1 2820.0 1000.0
	END
}

@test "a drive by hand takes as long as its parameters say" {
	run -0 python3 "$tool" times drive.parv trace
	[ "$output" = "2.720 2.720
0.320 0.320
5.800 5.800
0.420 0.420
3.100 3.100
2.820 2.820" ]
	run -0 python3 "$tool" rms drive.parv trace
	[ "$output" = "requests 6  mean 2.530 2.530 ms  rms 0.000 ms" ]
}

@test "the distance is that of the sorted times" {
	sed 's/5800.0/6100.0/; s/ 320.0/ 120.0/' trace >other # differences 0.3 and 0.2 of six
	run -0 python3 "$tool" rms drive.parv other
	[ "$output" = "requests 6  mean 2.547 2.530 ms  rms 0.147 ms" ]
}

@test "spares, slips, remapped sectors and gaps between zones are in the model" {
	python3 "$tool" model drive.parv >model.json
	run -0 python3 -c 'import json; z = json.load(open("model.json"))["zones"]
print(z[0]["last_cyl"], z[0]["spares"], z[0]["slips"], z[0]["remaps"], z[0]["start_skew"])'
	[ "$output" = "10 [[0, 10], [393, 7, 400], [2000, 200]] [30, 31] [[40, 396]] 5" ]
}

# The areas of the first zone with a scheme, spares in each and an empty front.
areas()
{
	sed "s/scheme used = 8/scheme used = $1/; s/Number of spares = 7/Number of spares = $2/
		s/zone front = 10/zone front = $3/" drive.model >other.model
	sed 's/drive.model/other.model/' drive.diskspecs >other.diskspecs
	python3 "$tool" model other.diskspecs >model.json || return
	python3 -c 'import json; print(json.load(open("model.json"))["zones"][0]["spares"][:-1])'
}

@test "an empty front is counted in sectors that could have blocks" {
	# 99 on a track of 100: two tracks, and 10 sectors.
	[ "$(areas 3 1 198)" = "[[0, 200], [299, 1, 100]]" ]
	[ "$(areas 3 1 208)" = "[[0, 210], [299, 1, 100]]" ]
	[ "$(areas 3 1 0)" = "[[99, 1, 100]]" ]
	# 198 on a cylinder of 200, whose first two are spare.
	[ "$(areas 5 2 396)" = "[[0, 400], [400, 2, 200]]" ]
	[ "$(areas 5 2 400)" = "[[0, 406], [600, 2, 200]]" ]
	[ "$(areas 5 2 0)" = "[[0, 2, 200]]" ]
	[ "$(areas 9 5 10)" = "[[0, 10], [1995, 5]]" ]
	[ "$(areas 0 5 10)" = "[[0, 10]]" ]
}

@test "a seek curve may have times for writes" {
	printf 'Seek distances measured: 2\n1 1.5 0.1 1.75\n19 6.0 0.2 6.5\n' >drive.seek
	python3 "$tool" model drive.parv >model.json
	run -0 python3 -c 'import json; m = json.load(open("model.json"))
print(m["seek_ms"], m["write_seek_ms"])'
	[ "$output" = "[[1, 1.5], [19, 6.0]] [[1, 1.75], [19, 6.5]]" ]
	run -0 python3 "$tool" times drive.parv trace
	[ "${lines[0]}" = "2.720 2.720" ]
	printf '1 1.5 0.1\n19 6.0 0.2\n' >drive.seek
	python3 "$tool" model drive.parv >model.json
	run -1 grep write_seek_ms model.json
}

# The words of the cache that hold, of those that the parameters decide.
words()
{
	sed -i "$1" drive.diskspecs
	python3 "$tool" model drive.parv >model.json || return
	python3 -c 'import json; c = json.load(open("model.json"))["cache"]
print(*[w for w in c if c[w] is True])'
}

@test "read-ahead, kept and dropped blocks follow the parameters" {
	[ "$(words '')" = "write_drops" ]
	[ "$(words 's/idle hit = 1/idle hit = 0/; s/over requested = 1/over requested = 0/
		s/free blocks = 0/free blocks = 1/')" = "readahead_misses keep_reads keep_passing write_drops" ]
	[ "$(words 's/on write data = 0/on write data = 1/')" = \
		"readahead_misses keep_reads keep_passing keep_writes write_drops" ]
	[ "$(words 's/write level = 0/write level = 2/')" = \
		"readahead_misses keep_reads keep_passing keep_writes write_behind" ]
	# A segment of 64 blocks holds no track of 100.
	[[ "$(words 's/continuous read = 1/continuous read = 4/')" == "readahead_streams "* ]]
	[[ "$(words 's/Segment size (in blks) = 64/Segment size (in blks) = 100/')" == "readahead_misses "* ]]
}

@test "parameters that a model cannot express are refused" {
	sed -i 's/extracted/linear/' drive.model
	run -2 python3 "$tool" model drive.parv
	[ "$output" = "disksim.py: seek type linear" ]
	sed -i 's/linear/extracted/; s/settling delay = -0.5/settling delay = -1/' drive.model
	run -2 python3 "$tool" rms drive.parv trace
	[[ "$output" == *"write_settle_ms: the time of a head switch for a write would be negative"* ]]
	run -2 python3 "$tool" model drive.parv OTHER
	[ "$output" = "disksim.py: drive.parv: there is no disk OTHER" ]
	run -2 python3 "$tool" rms model.json
	[[ "$output" == "disksim.py: usage: "* ]]
}
