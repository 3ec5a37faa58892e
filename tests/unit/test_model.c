/* SPDX-License-Identifier: MIT */
/*
 * Model files: the shipped ones, and what is refused with which words.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dev/device.h"
#include "dev/drive.h"
#include "dev/model.h"
#include "tap.h"

#define HEAD "\"rpm\": 10000, \"surfaces\": 2, \"head_switch_ms\": 0.5, "
#define ZONE(first, last, rest)                                                                    \
	"{ \"first_cyl\": " first ", \"last_cyl\": " last ", \"spt\": 10, \"track_skew\": 1, "     \
	"\"cyl_skew\": 2" rest " }"
#define ZONES "\"zones\": [" ZONE("0", "9", "") "], "
#define SEEK "\"seek_ms\": [[1, 1], [9, 2]]"
#define GOOD HEAD ZONES SEEK
#define MEMS(groups, cylinders, rows, kbit)                                                        \
	"\"kind\": \"mems\", \"active\": 16, \"row_bits\": 90, \"travel_um\": 100, "               \
	"\"bit_nm\": 40, \"acceleration_m_s2\": 803.6, \"resonance_hz\": 739, \"groups\": " groups \
	", \"cylinders\": " cylinders ", \"rows\": " rows ", \"tip_kbit_s\": " kbit
#define SPRING ", \"spring_factor\": 0.75"

static int load(struct sp__model **m, struct sp_errinfo *err, const char *body)
{
	char text[2048];
	int n = snprintf(text, sizeof(text), "{ %s }", body);

	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return sp__model_parse(m, "a/file.json", text, (size_t)n, err);
}

/* Each is refused, with the field and the reason. */
static const char *const refused[][2] = {
	{ HEAD ZONES "\"seek_ms\": 3", "seek_ms: must be an array" },
	{ HEAD ZONES "\"seek_ms\": [[1, 1], [1, 2]]",
	  "seek_ms: member 1: distances do not ascend" },
	{ HEAD ZONES "\"seek_ms\": [[1, 1, 2]]", "seek_ms: member 0 is not a pair" },
	{ HEAD ZONES "\"seek_ms\": [[1, \"1\"]]", "seek_ms: member 0 is not a number" },
	{ HEAD ZONES "\"seek_ms\": [[0, 1]]", "seek_ms: member 0: 0 is not between 1" },
	{ HEAD ZONES "\"seek_ms\": []", "seek_ms: has 0 members" },
	{ HEAD ZONES "\"x\": 1", "seek_ms: is missing" },
	{ HEAD SEEK, "zones: is missing" },
	{ HEAD SEEK ", \"zones\": [3]", "zones[0]: must be an object" },
	{ HEAD SEEK ", \"zones\": [" ZONE("1", "9", "") "]", "zones[0].first_cyl: 1, but" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "4", "") ", " ZONE("6", "9", "") "]",
	  "zones[1].first_cyl: 6, but the zone before ends at 4: zones leave a gap" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "4", "") ", " ZONE("4", "9", "") "]",
	  "zones overlap" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9", ", \"spd\": 1") "]",
	  "zones[0].spd: is not known" },
	{ HEAD SEEK ", \"zones\": [{ \"first_cyl\": 0, \"last_cyl\": 9, \"spt\": 0 }]",
	  "zones[0].spt: 0 is not between 1" },
	{ HEAD SEEK ", \"zones\": [{ \"first_cyl\": 0, \"last_cyl\": 9, \"spt\": [3, 4, 5] }]",
	  "zones[0].spt: 3 numbers for 2 surfaces" },
	{ HEAD SEEK ", \"zones\": [{ \"first_cyl\": 0, \"last_cyl\": 9, \"spt\": [3, 4.5] }]",
	  "zones[0].spt: member 1: 4.5 is not a whole number" },
	{ HEAD SEEK ", \"zones\": [{ \"first_cyl\": 0, \"last_cyl\": 9, \"spt\": 8, "
		    "\"track_skew\": 8 }]",
	  "zones[0].track_skew: is a revolution or more" },
	{ HEAD SEEK ", \"zones\": [{ \"first_cyl\": 0, \"last_cyl\": 9, \"spt\": 8, "
		    "\"track_skew\": 1 }]",
	  "zones[0].cyl_skew: is missing" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9", ", \"start_skew\": 10") "]",
	  "zones[0].start_skew: is a revolution or more" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9", ", \"slips\": [[1, 2, 3]]") "]",
	  "zones[0].slips: member 0 is not a sector or [first, sectors]" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9", ", \"slips\": [7, \"8\"]") "]",
	  "zones[0].slips: member 1 is not a sector" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9", ", \"slips\": [200]") "]",
	  "zones[0].slips: sectors 200 to 200 of a zone of 200" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9", ", \"slips\": [[5, 2], 6]") "]",
	  "slips: one sector is given twice" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9", ", \"spares\": [5]") "]",
	  "zones[0].spares: member 0 is not [first, sectors] or [first, sectors, every]" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9", ", \"spares\": [[5, 0]]") "]",
	  "zones[0].spares: no sectors" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9", ", \"spares\": [[195, 6]]") "]",
	  "zones[0].spares: sectors 195 to 200 of a zone of 200" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9", ", \"spares\": [[5, 4, 3]]") "]",
	  "zones[0].spares: areas overlap" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9", ", \"spares\": [[0, 200]]") "]",
	  "every block is slipped" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9", ", \"remaps\": [[3, 4]]") "]",
	  "zones[0].remaps: sector 4 is not a spare sector" },
	{ HEAD SEEK
	  ", \"zones\": [" ZONE("0", "9", ", \"spares\": [[5, 4]], \"remaps\": [[6, 7]]") "]",
	  "zones[0].remaps: sector 6 has no block" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9",
					  ", \"spares\": [[5, 4]], \"remaps\": [[1, 5, 2], "
					  "[9, 6]]") "]",
	  "remaps: one sector is given twice" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9",
					  ", \"spares\": [[5, 4]], \"remaps\": [[1, 5, 2], "
					  "[2, 8]]") "]",
	  "remaps: one sector is given twice" },
	{ HEAD SEEK ", \"zones\": [" ZONE("0", "9",
					  ", \"slips\": [20], \"spares\": [[5, 4]], "
					  "\"remaps\": [[1, 20]]") "]",
	  "zones[0].remaps: sector 20 is not a spare sector" },
	{ HEAD SEEK ", \"slips\": [[0, 0, 6]], \"zones\": [" ZONE(
		  "0", "9", ", \"spares\": [[5, 4]], \"remaps\": [[1, 5, 2]]") "]",
	  "zones[0].remaps: sector 6 is not a spare sector" },
	{ GOOD ", \"cylinders\": 11", "cylinders: the zones have 10" },
	{ GOOD ", \"total_blocks\": 201", "total_blocks: the zones and slips give 200" },
	{ GOOD ", \"slips\": [[10, 0, 0]]", "slips[0]: cylinder 10, head 0 is not on the drive" },
	{ GOOD ", \"slips\": [[9, 2, 0]]", "head 2 is not on the drive" },
	{ GOOD ", \"slips\": [[9, 0, 10]]", "sector 10 of a track of 10" },
	{ GOOD ", \"slips\": [[9, 0, 1], [9, 0, 1]]", "one sector is given twice" },
	{ GOOD ", \"slips\": [[9, 0]]", "slips: member 0 is not [cylinder, head, sector]" },
	{ GOOD ", \"schema\": \"spindle.model/2\"", "schema: 'spindle.model/2' is not" },
	{ GOOD ", \"kind\": \"drum\"",
	  "kind: 'drum' is not one of: rotating, linear, flash, mems" },
	{ GOOD ", \"block_bytes\": 1000", "block_bytes: 1000 is not a power of two" },
	{ GOOD ", \"block_bytes\": \"512\"", "block_bytes: must be a number" },
	{ GOOD ", \"about\": 3", "about: must be a string" },
	{ GOOD ", \"period_ns\": 6000000", "rpm: contradicts period_ns" },
	{ GOOD ", \"layout\": \"spiral\"", "layout: 'spiral' is not one of" },
	{ GOOD ", \"layout\": \"cylinder\", \"layout_mapping\": 0", "layout: contradicts" },
	{ GOOD ", \"layout_mapping\": 2", "layout_mapping: 2 is not between 0 and 1" },
	{ GOOD ", \"layout\": \"hybrid-serpentine\"", "band_tracks: is missing" },
	{ GOOD ", \"band_tracks\": 4", "band_tracks: applies to hybrid-serpentine only" },
	{ GOOD ", \"first_head_descends\": true", "first_head_descends: applies to serpentines" },
	{ GOOD ", \"first_head_descends\": 1", "first_head_descends: must be true or false" },
	{ GOOD ", \"write_settle_ms\": -0.6",
	  "write_settle_ms: the time of a head switch for a write would be negative" },
	{ GOOD ", \"write_settle_ms\": -0.4, \"write_seek_ms\": [[1, 0.4], [3, 0.3]]",
	  "write_settle_ms: the time of a seek over 3 cylinders for a write would be negative" },
	{ GOOD ", \"write_seek_ms\": [[2, 1], [1, 1]]",
	  "write_seek_ms: member 1: distances do not ascend" },
	{ GOOD ", \"write_seek_ms\": []", "write_seek_ms: has 0 members" },
	{ GOOD ", \"bus_mb_s\": 20, \"bus_ms_per_block\": 1", "bus_ms_per_block: contradicts" },
	{ GOOD ", \"bus_overlap\": \"none\"", "bus_overlap: without a bus time above 0" },
	{ GOOD ", \"bus_mb_s\": 5, \"bus_overlap\": true", "bus_overlap: must be a string" },
	{ GOOD ", \"bus_mb_s\": 5, \"bus_overlap\": \"read\"",
	  "bus_overlap: 'read' is not one of: both, reads, writes, none" },
	{ GOOD ", \"cache\": \"on\"", "cache: must be \"off\" or an object" },
	{ GOOD ", \"cache\": { \"segments\": 2 }", "cache.segment_blocks: is missing" },
	{ GOOD ", \"cache\": { \"segments\": 2, \"segment_blocks\": 8, \"readahead_blocks\": 9 }",
	  "cache.readahead_blocks: 9 blocks are more than a segment has" },
	{ GOOD ", \"cache\": { \"write_blocks\": 9 }", "cache.write_blocks: without write_behind" },
	{ GOOD ", \"cache\": { \"write_segments\": 1 }",
	  "cache.write_segments: without write_behind" },
	{ GOOD ", \"cache\": { \"write_behind\": true, \"write_segments\": 129 }",
	  "cache.write_segments: 129 is not between 1 and 128" },
	{ GOOD ", \"cache\": { \"keep_writes\": true }", "cache.keep_writes: without segments" },
	{ GOOD ", \"cache\": { \"keep_passing\": true }", "cache.keep_passing: without segments" },
	{ GOOD ", \"cache\": { \"write_behind\": true, \"write_drops\": true }",
	  "cache.write_drops: without segments" },
	{ GOOD ", \"cache\": { \"write_drops\": 1 }", "cache.write_drops: must be true or false" },
	{ GOOD ", \"cache\": { \"segments\": 2, \"segment_blocks\": 8, \"keep_reads\": true }",
	  "cache.keep_reads: without readahead_blocks" },
	{ GOOD ", \"cache\": { \"segments\": 2, \"segment_blocks\": 8, "
	       "\"readahead_misses\": true }",
	  "cache.readahead_misses: without readahead_blocks" },
	{ GOOD ", \"cache\": { \"segment_blocks\": 8 }", "cache.segment_blocks: without segments" },
	{ GOOD ", \"cache\": { \"readahead_blocks\": 0 }",
	  "cache.readahead_blocks: without segments" },
	{ GOOD ", \"cache\": { \"readahead_until\": \"end\" }",
	  "cache.readahead_until: without readahead_blocks" },
	{ GOOD ", \"cache\": { \"write_behind\": true, \"readahead_within\": \"track\" }",
	  "cache.readahead_within: without readahead_blocks" },
	{ GOOD ", \"cache\": { \"segments\": 2, \"segment_blocks\": 8, "
	       "\"readahead_streams\": true }",
	  "cache.readahead_streams: without readahead_blocks" },
	{ GOOD ", \"cache\": { \"read_hit_ms\": 1 }",
	  "cache.read_hit_ms: without segments or write_behind" },
	{ GOOD ", \"cache\": { \"segments\": 2, \"segment_blocks\": 8, \"write_hit_ms\": 1 }",
	  "cache.write_hit_ms: without write_behind" },
	{ GOOD ", \"cache\": { \"readahead_within\": \"zone\" }",
	  "cache.readahead_within: 'zone' is not one of: drive, cylinder, track" },
	{ GOOD ", \"cache\": { \"readahead_until\": \"dawn\" }",
	  "cache.readahead_until: 'dawn' is not one of: request, track, end" },
	{ GOOD ", \"overheads\": 3", "overheads: must be an object" },
	{ GOOD ", \"overheads\": { \"read_ms\": 1 }", "overheads.read_ms: is not known" },
	{ GOOD ", \"overheads\": { \"read_miss_ms\": [1] }",
	  "overheads.read_miss_ms: is not a time or [after a read, after a write]" },
	{ GOOD ", \"overheads\": { \"write_miss_ms\": [1, -1] }",
	  "overheads.write_miss_ms: member 1: -1 is not between 0" },
	{ GOOD ", \"overheads\": { \"read_hit_ms\": 1 }",
	  "overheads.read_hit_ms: without a cache" },
	{ GOOD ", \"cache\": { \"segments\": 1, \"segment_blocks\": 8 }, "
	       "\"overheads\": { \"write_hit_ms\": 1 }",
	  "overheads.write_hit_ms: without write_behind" },
	{ GOOD ", \"cache\": { \"segments\": 1, \"segment_blocks\": 8, \"read_hit_ms\": 0.1 }, "
	       "\"overheads\": { \"read_hit_ms\": 1 }",
	  "overheads.read_hit_ms: contradicts that of the cache: give one of them" },
	{ GOOD ", \"cache\": { \"write_behind\": true, \"write_hit_ms\": 0.1 }, "
	       "\"overheads\": { \"write_hit_ms\": 1 }",
	  "overheads.write_hit_ms: contradicts that of the cache: give one of them" },
	{ GOOD ", \"queue\": { \"depth\": 0 }", "queue.depth: 0 is not between 1" },
	{ GOOD ", \"queue\": { \"policy\": \"lifo\" }",
	  "queue.policy: 'lifo' is not one of: fifo, sptf" },
	{ GOOD ", \"queue\": { \"age_ms\": -1 }", "queue.age_ms: -1 is not between 0" },
	{ GOOD ", \"queue\": { \"depth\": 4, \"age_ms\": 2.5 }",
	  "queue.age_ms: without the policy sptf" },
	{ GOOD ", \"host\": { \"compare_us\": 1 }", "host.compare_us: is not known" },
	{ GOOD ", \"colour\": \"red\"", "colour: is not known" },
	{ GOOD ", \"rpm\": 5400", "duplicate" },
	{ GOOD ",", "line 1" },
	{ "\"kind\": \"linear\", \"seek_ms\": 7", "transfer_s_per_mb: is missing" },
	{ "\"kind\": \"linear\", \"rpm\": 7, \"seek_ms\": 7, \"transfer_s_per_mb\": 1, "
	  "\"total_blocks\": 9",
	  "rpm: is not known" },
	{ GOOD ", \"name\": \"\"", "name: is empty" },
	{ "\"kind\": \"linear\", \"seek_ms\": 7, \"transfer_s_per_mb\": 1, "
	  "\"block_bytes\": 1048576, \"total_blocks\": 1125899906842624",
	  "total_blocks: 1125899906842624 blocks of 1048576 bytes are more than 2^62 bytes" },
	{ MEMS("100", "2500", "27", "700") SPRING,
	  "active: 16 does not divide the 100 groups of tips" },
	{ MEMS("8", "2500", "27", "700") SPRING, "active: 16 does not divide the 8 groups" },
	{ MEMS("0", "2500", "27", "700") SPRING, "groups: 0 is not between 1 and 65536" },
	{ MEMS("96", "2501", "27", "700") SPRING, "cylinders: 2501 bits do not fit into 100 um" },
	{ MEMS("96", "2500", "28", "700") SPRING, "rows: 2520 bits do not fit into 100 um" },
	{ MEMS("96", "2500", "27", "2000") SPRING,
	  "tip_kbit_s: too fast for the sled to turn within 100 um" },
	{ MEMS("96", "2500", "27", "900000") SPRING, "tip_kbit_s: too fast for the sled" },
	{ MEMS("96", "2500", "27", "0") SPRING, "tip_kbit_s: 0 is not between 1 and 1000000" },
	{ MEMS("96", "2500", "27", "700"), "spring_factor: is missing" },
	{ MEMS("96", "2500", "27", "700") ", \"spring_factor\": 1",
	  "spring_factor: 1 is not between 0.01 and 0.99" },
	{ MEMS("96", "2500", "27", "700") SPRING ", \"total_blocks\": 6750000",
	  "total_blocks: groups, rows and cylinders give 6480000" },
	{ MEMS("96", "2500", "27", "700") SPRING ", \"cache\": \"off\"", "cache: is not known" },
	{ MEMS("96", "2500", "27", "700") SPRING ", \"settle_constants\": -1",
	  "settle_constants: -1 is not between 0 and 10" },
	{ "\"kind\": \"flash\", \"channels\": 65", "channels: 65 is not between 1 and 64" },
};

static void check_refused(void)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct sp_errinfo err;
		struct sp__model *m;
		int rc = load(&m, &err, refused[i][0]);

		if (!ok(rc == SP_EFORMAT && !m && strstr(err.text, refused[i][1]) &&
				!strcmp(err.path, "a/file.json"),
			"refused: %s", refused[i][1]))
			diag("rc %d, message: %s", rc, err.text);
	}
}

static void check_shipped(void)
{
	unsigned n = 0;

	for (; sp__shipped_models[n].name; n++) {
		const char *name = sp__shipped_models[n].name;
		struct sp_errinfo err = SP_ERRINFO_INIT;
		struct sp__model *m, *f;
		struct sp__device d;
		struct sp__subreq p[SP__DEV_SUBREQS_MAX];
		struct sp__service s;
		uint32_t blocks = 8;
		char path[256];

		snprintf(path, sizeof(path), "lib/dev/models/%s.json", name);
		if (!ok(!sp__model_load(&m, name, &err) && !sp__model_load(&f, path, &err),
			"%s loads by name and as a file %s", name, err.text))
			continue;
		ok(!strcmp(m->name, name) && !strcmp(m->about, sp__shipped_models[n].about) &&
			   *m->about && m->blocks == f->blocks && m->window >= 1,
		   "%s knows its name, and the library has the file's text", name);
		ok(!sp__device_open(&d, m) && m->ops->split(m, d.state, 0, false, m->blocks - 8,
							    &blocks, p, SP__DEV_SUBREQS_MAX) >= 1,
		   "%s opens", name);
		m->ops->serve(m, d.state, 1000, &p[0], &s);
		ok(s.done_ns > 1000 && sp__device_drain(&d, s.done_ns) >= s.done_ns,
		   "%s serves its last blocks", name);
		sp__device_close(&d);
		sp__model_free(m);
		sp__model_free(f);
	}
	ok(n >= 12, "there are %u shipped models", n);
	ok(!strcmp(sp__shipped_models[0].name, "atlas10k3-like"), "the default is the first");
}

static void check_names(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__model *m;

	ok(sp__model_load(&m, "atlas", &err) == -ENOENT && !m &&
		   strstr(err.text, "atlas10k3-like") && strstr(err.text, "ultrastar36lzx-like"),
	   "an unknown name is answered with all known ones");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp__model_load(&m, "no/such", &err) == -ENOENT && !strcmp(err.path, "no/such") &&
		   !strcmp(err.op, "open"),
	   "a name with a slash is a file");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp__model_load(&m, "absent.json", &err) == -ENOENT && !strcmp(err.op, "open"),
	   "so is one that ends in .json");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp__model_load(&m, "lib/dev", &err) == -EISDIR && !strcmp(err.op, "read"),
	   "a folder is not a model");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	ok(sp__model_load(&m, "/dev/null", &err) == SP_EFORMAT, "an empty file is not a model");
}

static void check_defaults(void)
{
	struct sp_errinfo err;
	struct sp__model *m;
	const struct sp__drive *d;

	if (!ok(!load(&m, &err, GOOD), "a model needs no more than its mechanics %s", err.text))
		return;
	d = sp__model_drive(m);
	ok(!strcmp(m->name, "file") && !*m->about && m->block_bytes == 512 && m->blocks == 200 &&
		   m->window == 1 && m->window_policy == SP__WINDOW_FIFO,
	   "name from the file, blocks of 512 bytes, one request at a time");
	ok(d->layout == SP__LAYOUT_CYLINDER && !m->overhead_ns[0] && !d->bus_ps &&
		   !d->cache.segments && !d->cache.write_blocks && !d->zero_latency[0],
	   "cylinder order, no overhead, no bus, no cache");
	sp__model_free(m);
	ok(!load(&m, &err,
		 HEAD "\"layout_mapping\": 1, \"read_miss_overhead_ms\": 0.25, "
		      "\"cache\": \"off\", \"bus_ms_per_block\": 0.0, " ZONES SEEK) &&
		   sp__model_drive(m)->layout == SP__LAYOUT_CYLINDER_SERPENTINE &&
		   m->overhead_ns[0] == 250000,
	   "the names of the oracle's files are understood %s", err.text);
	sp__model_free(m);
	ok(!load(&m, &err,
		 "\"period_ns\": 8333333.5, \"surfaces\": 2, \"head_switch_ms\": 0.5, " ZONES
			 SEEK) &&
		   2 * sp__model_drive(m)->period_den == 16666667 * sp__model_drive(m)->period_num,
	   "the period can be given instead of rpm %s", err.text);
	sp__model_free(m);
	ok(!load(&m, &err,
		 GOOD ", \"queue\": { \"depth\": 4, \"policy\": \"sptf\", \"age_ms\": 2.5 }") &&
		   m->window == 4 && m->window_policy == SP__WINDOW_SPTF &&
		   m->window_age_ns == 2500000,
	   "the drive's own choice has an age limit %s", err.text);
	sp__model_free(m);
}

int main(void)
{
	check_shipped();
	check_names();
	check_defaults();
	check_refused();
	return done();
}
