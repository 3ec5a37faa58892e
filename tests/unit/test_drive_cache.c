/* SPDX-License-Identifier: MIT */
/*
 * The drive's cache: read-ahead, segments, zero latency, write-behind.
 */
#include <stdlib.h>
#include "base/rng.h"
#include "dev/device.h"
#include "tap.h"

#define TURN 6000000u
#define BLOCK 10000u /* 600 on a track */
#define HIT 50000u

static struct sp__device dev;
static struct sp__service last;

/* 3 heads, 600 blocks on a track, skew 0.7 ms for a head switch of 0.5 ms. */
static void begin(const char *cache)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__model *m;
	char text[1024];
	int n = snprintf(text, sizeof(text),
			 "{ \"rpm\": 10000, \"surfaces\": 3, \"head_switch_ms\": 0.5,"
			 "\"seek_ms\": [[1, 0.6], [99, 4]], \"queue\": { \"depth\": 8, \"policy\": "
			 "\"sptf\" },"
			 "\"zones\": [{ \"first_cyl\": 0, \"last_cyl\": 99, \"spt\": 600,"
			 "\"track_skew\": 70, \"cyl_skew\": 70 }], \"cache\": { %s } }",
			 cache);

	if (!ok(!sp__model_parse(&m, "text", text, (size_t)n, &err), "a drive with %s %s", cache,
		err.text) ||
	    sp__device_open(&dev, m))
		exit(done() | 1);
}

static void end(void)
{
	struct sp__model *m = NULL;

	sp__device_close(&dev);
	/* Only the test owns the model. */
	m = (struct sp__model *)(uintptr_t)dev.model;
	sp__model_free(m);
}

/* Returns how long it took. */
static uint64_t serve(uint64_t now, bool write, uint64_t lbn, uint32_t blocks)
{
	struct sp__subreq p = { .lbn = lbn, .blocks = blocks, .write = write };

	dev.model->ops->serve(dev.model, dev.state, now, &p, &last);
	return last.done_ns - now;
}

static uint64_t position(uint64_t now, bool write, uint64_t lbn, uint32_t blocks)
{
	struct sp__subreq p = { .lbn = lbn, .blocks = blocks, .write = write };

	return dev.model->ops->position(dev.model, dev.state, now, &p, UINT64_MAX);
}

static void read_ahead(void)
{
	uint64_t t;

	begin("\"segments\": 2, \"segment_blocks\": 300, \"readahead_blocks\": 200,"
	      "\"read_hit_ms\": 0.05");
	serve(0, false, 0, 100);
	ok(!last.hit && last.done_ns == 100 * BLOCK, "blocks that are not in the cache are read");
	t = 100 * BLOCK + 80 * BLOCK;
	ok(position(t, false, 100, 80) == 0, "blocks read ahead are in reach immediately");
	ok(serve(t, false, 100, 80) == HIT && last.hit, "a read of blocks read ahead is a hit");
	ok(serve(t + HIT, false, 180, 40) == 40 * BLOCK - HIT && !last.hit,
	   "a read waits for blocks that are being read ahead, without a new start");
	t = last.done_ns + 5 * TURN;
	ok(serve(t, false, 220, 200) == HIT && last.hit,
	   "left alone, the drive reads ahead as far as it may");
	ok(serve(t + HIT, false, 50, 10) > HIT, "blocks that left the segment are read again");
	end();
	for (uint32_t more = 0; more < 2; more++) {
		begin("\"segments\": 2, \"segment_blocks\": 300, \"readahead_blocks\": 200,"
		      "\"read_hit_ms\": 0.05");
		serve(0, false, 0, 100);
		serve(110 * BLOCK, false, 290, 10 + more);
		serve(last.done_ns, false, 150, 50);
		ok(last.hit == !more, "read-ahead goes on for a read that ends %u blocks after it",
		   more);
		end();
	}
}

static void streams(void)
{
	uint64_t now = 0, was = 0;
	uint64_t tracks;

	begin("\"segments\": 2, \"segment_blocks\": 600, \"readahead_blocks\": 600,"
	      "\"read_hit_ms\": 0.01");
	for (uint64_t lbn = 0; lbn < 60000; lbn += 60) {
		if (lbn == 6000)
			was = now;
		now += 100000; /* the host thinks */
		now += serve(now, false, lbn, 60);
	}
	tracks = (now - was) / (TURN + TURN * 70 / 600);
	ok(tracks >= 89 && tracks <= 91, "a stream with pauses comes at the speed of the medium");
	serve(now, false, 150000, 60);
	serve(last.done_ns + TURN, false, 170000, 60);
	serve(last.done_ns + TURN, false, 150010, 300);
	ok(last.hit, "a segment keeps its data while another stream is read");
	serve(last.done_ns + TURN, false, 100, 8);
	serve(last.done_ns + TURN, false, 150010, 300);
	ok(last.hit, "the segment unused for longest is given to the next stream");
	serve(last.done_ns + TURN, false, 170000, 60);
	ok(!last.hit, "and its blocks are dropped");
	end();
}

/* After a read of the first 100 blocks of a track of 600, and immediately one elsewhere. */
static void left(const char *until)
{
	char cache[200];

	snprintf(cache, sizeof(cache),
		 "\"segments\": 2, \"segment_blocks\": 1000, \"readahead_blocks\": 800,"
		 "\"readahead_until\": \"%s\", \"write_behind\": true",
		 until);
	begin(cache);
	serve(0, false, 0, 100);
	serve(last.done_ns, false, 100000, 10);
}

static void until(void)
{
	uint64_t waits[3];

	left("request");
	waits[0] = last.done_ns;
	serve(last.done_ns + 1, false, 100, 10);
	ok(!last.hit, "another request stops reading ahead");
	end();

	left("track");
	waits[1] = last.done_ns;
	serve(last.done_ns + 1, false, 100, 500);
	ok(last.hit, "or waits for the end of the track");
	serve(last.done_ns + 1, false, 600, 10);
	ok(!last.hit, "and not for more");
	end();

	left("end");
	waits[2] = last.done_ns;
	serve(last.done_ns + 1, false, 100, 800);
	ok(last.hit, "or for all that is read ahead");
	end();
	ok(waits[1] == waits[0] + TURN && waits[2] == waits[1], "it waits a revolution longer");

	begin("\"segments\": 2, \"segment_blocks\": 1000, \"readahead_blocks\": 400,"
	      "\"readahead_until\": \"end\", \"write_behind\": true");
	serve(0, false, 0, 100);
	serve(200 * BLOCK, true, 100000, 10);
	ok(last.hit && last.done_ns == 200 * BLOCK, "a write does not wait for the medium");
	serve(200 * BLOCK, false, 100, 400);
	ok(last.hit && last.done_ns == 500 * BLOCK,
	   "blocks still to be read are transferred after that");
	end();
}

static void second(void)
{
	begin("\"segments\": 2, \"segment_blocks\": 1000, \"readahead_blocks\": 400,"
	      "\"readahead_streams\": true");
	serve(0, false, 0, 100);
	serve(last.done_ns + 5 * TURN, false, 100, 100);
	ok(!last.hit, "after a single read the drive does not read ahead");
	serve(last.done_ns + 5 * TURN, false, 200, 100);
	ok(last.hit, "but after one that continues where another ended");
	end();
}

static void zero_latency(void)
{
	uint64_t worst = 0, now = 0;

	begin("\"zero_latency\": true");
	ok(serve(3 * TURN + 100 * BLOCK + 1, false, 0, 600) == TURN + BLOCK - 1,
	   "a whole track takes a revolution from the next block's edge");
	ok(serve(9 * TURN + 700 * BLOCK, false, 100, 100) == 100 * BLOCK,
	   "a head that comes down at the start reads as ever");
	ok(serve(12 * TURN + 50 * BLOCK, false, 100, 100) == 150 * BLOCK,
	   "a head that comes down before waits");
	ok(serve(15 * TURN + 150 * BLOCK, false, 100, 100) == TURN,
	   "a head that comes down inside is done after a revolution");
	ok(position(20 * TURN + 150 * BLOCK, false, 100, 100) == TURN - 100 * BLOCK,
	   "for the choice that counts as waiting");
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t took = serve(now, false, 600, 600);

		worst = took > worst ? took : worst;
		now += took + i * 7919;
	}
	ok(worst <= TURN + BLOCK + 500000, "no read of a whole track takes more than that");
	ok(serve(now - now % TURN + 3 * TURN, true, 1210, 600) > 6 * TURN / 5,
	   "writes do not start in the middle");
	end();
}

static void write_behind(void)
{
	uint64_t t, sum = 0;

	begin("\"segments\": 2, \"segment_blocks\": 300, \"readahead_blocks\": 100,"
	      "\"write_behind\": true, \"write_blocks\": 64, \"write_hit_ms\": 0.05,"
	      "\"read_hit_ms\": 0.05");
	ok(serve(0, true, 50000, 8) == HIT && last.hit, "a write is answered from the buffer");
	ok(serve(HIT, false, 50000, 8) == HIT && last.hit, "and its data are read from there");
	t = sp__device_drain(&dev, 2 * HIT);
	ok(t > 2 * HIT + 8 * BLOCK && t < 2 * TURN, "it is on the medium some time later");
	ok(sp__device_drain(&dev, t + 5) == t + 5,
	   "when all is on the medium there is nothing to wait for");
	ok(serve(t, true, 300, 65) > HIT, "a write larger than the buffer waits for the medium");
	t = sp__device_drain(&dev, last.done_ns);
	serve(t, false, 1000, 8);
	t = last.done_ns + TURN;
	serve(t, true, 1010, 8);
	serve(last.done_ns + TURN, false, 1000, 10);
	ok(last.hit, "a write leaves what was read before it");
	serve(last.done_ns + 2 * TURN, false, 1000, 20);
	ok(!last.hit, "a segment does not keep the written blocks");
	t = last.done_ns + TURN;
	for (unsigned i = 0; i < 40; i++)
		sum += serve(t + sum, true, i * 4000, 8);
	ok(sum > 32 * 8 * BLOCK && sum < 40 * TURN, "a full buffer takes what the medium takes");
	t = last.done_ns;
	ok(serve(t, false, 160, 8) > HIT && !last.hit && last.done_ns > t + 8 * BLOCK,
	   "a read waits for the write that has begun, no more");
	end();
}

static void write_stream(void)
{
	uint64_t now = 0;

	begin("\"write_behind\": true, \"write_blocks\": 512, \"write_hit_ms\": 0.05");
	for (uint64_t lbn = 0; lbn < 60000; lbn += 32)
		now += serve(now, true, lbn, 32) + 100000;
	ok(now < (uint64_t)100 * (TURN + TURN * 70 / 600) * 21 / 20,
	   "a stream of small writes goes at the speed of the medium");
	end();
	for (unsigned blocks = 512; blocks <= 1024; blocks *= 2) {
		begin("\"write_behind\": true, \"write_blocks\": 512, \"write_hit_ms\": 0.05");
		now = 0;
		for (uint64_t lbn = 0; lbn < 60000; lbn += blocks)
			now += serve(now, true, lbn, blocks) + 100000;
		ok(now < (uint64_t)100 * (TURN + TURN * 70 / 600) * 21 / 20,
		   "and one of writes of %u blocks", blocks);
		end();
	}
}

/* Equal calls, with and without queries between them. */
static void pure(const char *words)
{
	static uint64_t took[2][3000];
	size_t same = 0;

	for (int run = 0; run < 2; run++) {
		struct sp__rng rng = { 3 };
		uint64_t now = 0;

		begin(words);
		for (int i = 0; i < 3000; i++) {
			uint64_t lbn = sp__rng_below(&rng, 20) * 8000 + sp__rng_below(&rng, 500);
			bool write = !sp__rng_below(&rng, 3);
			uint64_t wait = sp__rng_below(&rng, 4000000);

			for (int k = 0; run && k < 3; k++)
				position(now + wait * (unsigned)k / 2, write, lbn, 16);
			now += wait;
			took[run][i] = serve(now, write, lbn, 16);
			now += took[run][i];
		}
		end();
	}
	for (int i = 0; i < 3000; i++)
		same += took[0][i] == took[1][i];
	ok(same == 3000, "asking for positions changes nothing");
}

/* A bus of 4 us for a block that moves none while the medium is read. */
static void bus_apart(void)
{
	begin("\"segments\": 2, \"segment_blocks\": 300, \"readahead_blocks\": 200 },"
	      "\"bus_ms_per_block\": 0.004, \"bus_overlap\": \"writes\", \"host\": {");
	ok(serve(0, false, 0, 100) == 100 * (BLOCK + 4000), "100 blocks are read, then moved");
	/* The head is at block 140, and passes 230 at 2.3 ms. */
	ok(serve(1400000, false, 130, 100) == 900000 + 400000,
	   "the drive waits for what it is reading ahead, then moves it");
	ok(serve(2700000, false, 130, 100) == 400000, "its blocks are transferred immediately");
	end();
}

#define OVERHEADS                                                                                  \
	"\"overheads\": { \"read_hit_ms\": [0.01, 0.02], \"read_miss_ms\": [0.3, 0.4],"            \
	"\"write_hit_ms\": [0.05, 0.06], \"write_miss_ms\": [0.7, 0.8], \"read_end_ms\": 0.001,"   \
	"\"write_end_ms\": 0.002"

/* In 0.1 ms the head passes ten blocks, so requests are put where it is when overheads end. */
static void overheads(void)
{
	begin("\"segments\": 2, \"segment_blocks\": 300, \"readahead_blocks\": 100,"
	      "\"write_behind\": true, \"write_blocks\": 100 }," OVERHEADS);
	ok(position(0, false, 30, 10) == 300000, "the choice knows of the overhead");
	ok(serve(0, false, 30, 10) == 300000 + 10 * BLOCK + 1000, "a miss, first of all");
	/* The head is at block 45, and passes 54 at 0.54 ms. */
	ok(serve(450000, false, 44, 10) == 90000 + 1000, "a read of blocks being read is a hit");
	ok(serve(1000000, false, 44, 10) == 10000 + 1000, "a hit after a read");
	ok(serve(2000000, true, 5000, 10) == 50000 + 2000, "a write to the buffer after a read");
	ok(serve(3000000, true, 6000, 10) == 60000 + 2000, "and after a write");
	ok(serve(60000000, false, 44, 10) == 20000 + 1000, "a hit after a write");
	ok(serve(61000000, false, 44, 10) == 10000 + 1000, "and once more after a read");
	end();
	begin("\"write_behind\": true, \"write_blocks\": 100 }," OVERHEADS);
	ok(position(0, true, 70, 200) == 700000, "the choice knows that of a write");
	/* Four times 26 blocks make room for the second half. */
	ok(serve(0, true, 70, 200) == 700000 + 104 * BLOCK + 2000,
	   "a write that the buffer cannot hold is a miss, here after a read");
	ok(serve(12000000, true, 80, 200) == 800000 + 104 * BLOCK + 2000, "and after a write");
	ok(serve(18000000, false, 40, 1) == 400000 + BLOCK + 1000, "a miss after a write");
	end();
}

/* Block n is under the head at n times 10 us, once in a revolution of 6 ms. */
static void write_segments(void)
{
	begin("\"write_behind\": true, \"write_blocks\": 512, \"write_segments\": 1");
	ok(serve(0, true, 100, 10) == 0, "a write goes to the only segment immediately");
	ok(serve(500000, true, 300, 10) == 600000, "the next one waits until that is written");
	ok(serve(1200000, true, 310, 10) == 0, "a write that continues the last one does not");
	ok(position(1300000, true, 320, 10) == 0 && position(1300000, true, 330, 10) > 0,
	   "the choice knows of it");
	ok(serve(1300000, true, 330, 10) == 1900000, "and another waits for both");
	end();
	begin("\"write_behind\": true, \"write_blocks\": 512, \"write_segments\": 2");
	serve(0, true, 100, 10);
	ok(serve(500000, true, 300, 10) == 0, "of two segments one is free");
	ok(serve(600000, true, 400, 10) == 500000, "and again when the first is written");
	end();
}

static void within(void)
{
	begin("\"segments\": 1, \"segment_blocks\": 900, \"readahead_blocks\": 900,"
	      "\"readahead_within\": \"track\"");
	serve(0, false, 500, 10);
	ok(serve(60000000, false, 590, 10) == 0 && serve(60000000, false, 600, 1) > 0,
	   "reading ahead within a track ends with it");
	end();
	begin("\"segments\": 1, \"segment_blocks\": 900, \"readahead_blocks\": 900,"
	      "\"readahead_within\": \"cylinder\"");
	serve(0, false, 1100, 10);
	ok(serve(60000000, false, 1790, 10) == 0 && serve(60000000, false, 1800, 1) > 0,
	   "within a cylinder, with that");
	end();
}

static void keep_writes(const char *more, bool kept)
{
	begin(more);
	serve(0, false, 100, 10);
	serve(60000000, true, 5000, 10);
	serve(120000000, true, 5010, 10);
	serve(180000000, true, 5004, 2);
	ok((serve(240000000, false, 5000, 20) == 0) == kept, "blocks on the medium are %s",
	   kept ? "still in the segment" : "not in the cache");
	ok((serve(300000000, false, 100, 10) == 0) == !kept && last.hit == !kept,
	   "of which there is one");
	end();
}

/* In a segment of 300 blocks, 290 blocks can be read ahead after a read of 10. */
static void keep_reads(const char *more, bool kept)
{
	char words[200];

	snprintf(words, sizeof(words),
		 "\"segments\": 2, \"segment_blocks\": 300, \"readahead_blocks\": 300%s", more);
	begin(words);
	serve(0, false, 100, 10);
	serve(5 * TURN, false, 100, 10);
	ok(last.hit == kept, "blocks that were read are %s",
	   kept ? "kept" : "the first to fall off");
	end();
	begin(words);
	serve(0, false, 100, 10);
	serve(5 * TURN, false, 400, 1);
	ok(last.hit == !kept, "reading ahead ends where the segment is full %s what was read",
	   kept ? "with" : "without");
	end();
	begin(words);
	serve(0, false, 100, 10);
	serve(5 * TURN, false, 399, 1);
	ok(last.hit, "and no earlier");
	end();
}

/* A hit in the middle of what was read ahead. */
static void only_misses(const char *more, bool only)
{
	char words[200];

	snprintf(words, sizeof(words),
		 "\"segments\": 2, \"segment_blocks\": 300, \"readahead_blocks\": 200%s", more);
	begin(words);
	serve(0, false, 100, 10);
	serve(5 * TURN, false, 200, 10);
	ok(last.hit, "a hit");
	serve(10 * TURN, false, 310, 1);
	ok(last.hit == !only, "%s reading ahead", only ? "does not extend" : "extends");
	end();
	begin(words);
	serve(0, false, 100, 10);
	serve(5 * TURN, false, 200, 10);
	serve(10 * TURN, false, 101, 1);
	ok(last.hit == only, "so the first blocks are %s", only ? "still there" : "gone");
	end();
}

/* Block n of the first track is under the head at n times 10 us. */
static void keep_passing(void)
{
	static const char words[] = "\"segments\": 2, \"segment_blocks\": 300,"
				    "\"readahead_blocks\": 100, \"readahead_streams\": true,"
				    "\"keep_passing\": true";

	begin(words);
	serve(500000, false, 80, 10);
	serve(5 * TURN, false, 50, 30);
	ok(last.hit, "blocks that pass while a read waits are kept");
	serve(10 * TURN, false, 49, 1);
	ok(!last.hit, "but not what had passed before");
	serve(last.done_ns, false, 540, 10);
	serve(15 * TURN, false, 250, 300);
	ok(last.hit, "as much as fits in front of it");
	serve(20 * TURN, false, 249, 1);
	ok(!last.hit, "and no more");
	end();
	begin(words);
	serve(0, false, 620, 10);
	serve(5 * TURN, false, 600, 20);
	ok(last.hit, "on the track");
	serve(10 * TURN, false, 599, 1);
	ok(!last.hit, "of the read only");
	end();
	begin("\"segments\": 2, \"segment_blocks\": 300, \"keep_passing\": true,"
	      "\"write_behind\": true, \"write_blocks\": 512");
	serve(0, true, 20, 4);
	serve(100000, true, 300, 4);
	serve(110000, true, 60, 4);
	serve(120000, false, 80, 10);
	serve(120001, false, 40, 40);
	ok(!last.hit, "not with what waits to be written");
	end();
	begin("\"segments\": 2, \"segment_blocks\": 300");
	serve(500000, false, 80, 10);
	serve(5 * TURN, false, 50, 30);
	ok(!last.hit, "other drives keep nothing of it");
	end();
}

/* A read of 100 blocks, and a write in the middle. */
static void write_drops(const char *more, bool before, bool written, bool after)
{
	char words[200];

	snprintf(words, sizeof(words), "\"segments\": 2, \"segment_blocks\": 300%s", more);
	begin(words);
	serve(0, false, 100, 100);
	serve(5 * TURN, true, 150, 10);
	serve(10 * TURN, false, 160, 10);
	ok(last.hit == after, "a write %s what is behind it", after ? "leaves" : "drops");
	end();
	begin(words);
	serve(0, false, 100, 100);
	serve(5 * TURN, true, 150, 10);
	serve(10 * TURN, false, 100, 50);
	ok(last.hit == before, "%s what is before it", before ? "leaves" : "drops");
	serve(15 * TURN, false, 150, 10);
	ok(last.hit == written, "its data are %s", written ? "there" : "not there");
	end();
}

static void zero_latency_writes(void)
{
	begin("\"zero_latency_writes\": true");
	ok(serve(1000000, true, 0, 600) == TURN,
	   "with zero latency a track is written in a revolution, wherever the head is");
	ok(serve(3 * TURN + 1000000, false, 0, 600) == TURN - 1000000 + TURN, "but not read");
	end();
}

int main(void)
{
	write_segments();
	within();
	zero_latency_writes();
	keep_reads("", false);
	keep_reads(", \"keep_reads\": true", true);
	only_misses("", false);
	only_misses(", \"readahead_misses\": true", true);
	keep_passing();
	write_drops("", true, false, false);
	write_drops(", \"keep_writes\": true", true, true, true);
	write_drops(", \"write_drops\": true", false, false, false);
	write_drops(", \"write_drops\": true, \"keep_writes\": true", false, true, false);
	keep_writes("\"segments\": 1, \"segment_blocks\": 300, \"write_behind\": true,"
		    "\"keep_writes\": true",
		    true);
	keep_writes("\"segments\": 1, \"segment_blocks\": 300, \"keep_writes\": true", true);
	keep_writes("\"segments\": 2, \"segment_blocks\": 300, \"write_behind\": true", false);
	overheads();
	bus_apart();
	read_ahead();
	streams();
	zero_latency();
	write_behind();
	write_stream();
	until();
	second();
	pure("\"segments\": 4, \"segment_blocks\": 200, \"readahead_blocks\": 150,"
	     "\"zero_latency\": true, \"write_behind\": true, \"write_blocks\": 128");
	pure("\"segments\": 3, \"segment_blocks\": 200, \"readahead_blocks\": 150,"
	     "\"readahead_within\": \"track\", \"zero_latency_writes\": true,"
	     "\"write_behind\": true, \"write_segments\": 2, \"keep_writes\": true");
	pure("\"segments\": 4, \"segment_blocks\": 900, \"readahead_blocks\": 800,"
	     "\"readahead_until\": \"track\", \"write_behind\": true, \"write_blocks\": 128");
	pure("\"segments\": 4, \"segment_blocks\": 900, \"readahead_blocks\": 800,"
	     "\"readahead_until\": \"end\", \"readahead_streams\": true, \"write_behind\": true");
	pure("\"segments\": 3, \"segment_blocks\": 200, \"readahead_blocks\": 200,"
	     "\"readahead_misses\": true, \"keep_reads\": true, \"keep_passing\": true,"
	     "\"write_behind\": true, \"write_drops\": true, \"keep_writes\": true");
	return done();
}
