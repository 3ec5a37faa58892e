/* SPDX-License-Identifier: MIT */
/*
 * The virtual drive in virtual time: exact moments, flushes, continuations of split
 * requests, specifications.
 */
#include <errno.h>
#include <string.h>
#include <spindle/vdrive.h>
#include "dev/drive.h"
#include "tap.h"

#define US UINT64_C(1000)
#define MS (1000 * US)

static struct sp_vdrive *drive(const char *spec)
{
	struct sp_vdrive *v = NULL;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_vdrive_open(&v, spec, &err) < 0)
		diag("%s: %s", spec, err.text);
	return v;
}

/* Lets everything finish; the number of completions, the first 16 of them in done. */
static size_t drain(struct sp_vdrive *v, struct sp_vdrive_done *done)
{
	struct sp_vdrive_done more[16];
	size_t n = 0, k;

	while (sp_vdrive_next_ns(v) != SP_VDRIVE_NEVER) {
		k = sp_vdrive_advance(v, sp_vdrive_next_ns(v), more, 16);
		for (size_t i = 0; i < k; i++, n++)
			if (n < 16)
				done[n] = more[i];
	}
	return n;
}

/* Serves the blocks from start_ns on; when that ends. */
static uint64_t serve(struct sp__device *d, uint64_t start_ns, uint64_t lbn, uint32_t blocks,
		      bool write)
{
	struct sp__subreq subreq;
	struct sp__service s;

	if (d->model->ops->split(d->model, d->state, 0, write, lbn, &blocks, &subreq, 1) != 1)
		return 0;
	d->model->ops->serve(d->model, d->state, start_ns, &subreq, &s);
	return s.done_ns;
}

/* One request after the other, against the drive's own answer. */
static void test_serial(void)
{
	static const struct {
		uint64_t offset, bytes;
		bool write;
	} jobs[] = {
		{ 0, 4096, false },	     { 40960, 512, true }, { 700000, 1, false },
		{ 1386 * 512 - 1, 1, true }, { 511, 2, false },	   { 100 * 512, 30000, true }
	};
	struct sp_vdrive *v = drive("tiny");
	struct sp__model *m;
	struct sp__device d;
	struct sp_vdrive_done done[16];
	struct sp_vdrive_stats s;
	uint64_t now = 12345, want;
	bool same = true;

	if (sp__model_load(&m, "tiny", NULL) < 0 || sp__device_open(&d, m) < 0) {
		ok(false, "the model opens");
		return;
	}
	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
		uint64_t lbn = jobs[i].offset / 512;
		uint64_t end = (jobs[i].offset + jobs[i].bytes - 1) / 512 + 1;

		want = serve(&d, now + m->overhead_ns[jobs[i].write], lbn, (uint32_t)(end - lbn),
			     jobs[i].write);
		same &= sp_vdrive_submit(v, now, (enum sp_vdrive_op)jobs[i].write, jobs[i].offset,
					 jobs[i].bytes, &same) == 0;
		same &= drain(v, done) == 1 && done[0].cookie == &same &&
			done[0].submit_ns == now && done[0].done_ns == want;
		now = want + 777;
	}
	ok(same, "one request after the other takes what the model says, to the nanosecond");
	sp_vdrive_stats(v, &s);
	ok(s.reads == 3 && s.writes == 3 && s.completed == 6 && s.outstanding == 0 &&
		   s.read_bytes == 4096 + 1 + 2 && s.continuations == 0,
	   "requests and bytes are counted as they were asked for");
	sp_vdrive_close(v);
	sp__device_close(&d);
	sp__model_free(m);
}

static void test_time(void)
{
	struct sp_vdrive *v = drive("tiny,sched=clook,window=1");
	struct sp_vdrive_done done[16];
	uint64_t at;
	int a, b;

	ok(sp_vdrive_next_ns(v) == SP_VDRIVE_NEVER, "an idle drive has nothing to come");
	ok(sp_vdrive_advance(v, 5 * MS, done, 16) == 0, "time may pass all the same");
	ok(sp_vdrive_submit(v, 0, SP_VDRIVE_READ, 0, 512, &a) == 0 &&
		   sp_vdrive_next_ns(v) == 5 * MS + 250 * US,
	   "a request of the past counts as one of now; first its overhead passes");
	ok(sp_vdrive_submit(v, 5 * MS, SP_VDRIVE_READ, 600 * 512, 512, &b) == 0 &&
		   sp_vdrive_advance(v, 5 * MS + 250 * US, done, 16) == 0,
	   "nothing is done at the end of the overhead");
	at = sp_vdrive_next_ns(v);
	ok(sp_vdrive_advance(v, at - 1, done, 16) == 0 && sp_vdrive_advance(v, at, done, 16) == 1 &&
		   done[0].cookie == &a && done[0].done_ns == at,
	   "a request is done at its moment and not before");
	ok(sp_vdrive_submit(v, at, SP_VDRIVE_READ, 512, 512, NULL) == 0 && drain(v, done) == 2,
	   "others follow");
	ok(sp_vdrive_submit(v, UINT64_C(60000) * MS, SP_VDRIVE_READ, 0, 512, &a) == 0 &&
		   sp_vdrive_submit(v, UINT64_C(60000) * MS, SP_VDRIVE_READ, 600 * 512, 512, &b) ==
			   0 &&
		   sp_vdrive_advance(v, SP_VDRIVE_NEVER, done, 1) == 1 && done[0].cookie == &b &&
		   sp_vdrive_next_ns(v) < SP_VDRIVE_NEVER &&
		   sp_vdrive_advance(v, 0, done, 1) == 1 && done[0].cookie == &a,
	   "completions that do not fit into one answer come with the next");
	sp_vdrive_close(v);
}

/* Reads [0, 512K) whole, or cut in the middle; when the last half is done. */
static uint64_t split_read(const char *spec, bool cut, bool swap, uint64_t gap_ns)
{
	struct sp_vdrive *v = drive(spec);
	struct sp_vdrive_done done[16];
	uint64_t half = 256 << 10, t = 3 * MS, end;
	int rc;

	if (!cut) {
		rc = sp_vdrive_submit(v, t, SP_VDRIVE_READ, 0, 2 * half, NULL);
	} else {
		rc = sp_vdrive_submit(v, t, SP_VDRIVE_READ, swap ? half : 0, half, NULL);
		rc |= sp_vdrive_submit(v, t + gap_ns, SP_VDRIVE_READ, swap ? 0 : half, half, NULL);
	}
	end = rc == 0 && drain(v, done) == (cut ? 2 : 1) ? done[cut].done_ns : 0;
	sp_vdrive_close(v);
	return end;
}

static void test_continuations(void)
{
	uint64_t whole = split_read("atlas10k3-like", false, false, 0);

	ok(whole > 3 * MS, "a large read takes its time");
	ok(split_read("atlas10k3-like", true, false, 30 * US) == whole,
	   "cut in two by the host it takes exactly as long");
	ok(split_read("atlas10k3-like", true, true, 30 * US) == whole,
	   "also if the second half comes first");
	ok(split_read("atlas10k3-like,merge=no", true, true, 30 * US) > whole,
	   "without merging both halves are requests of their own");
	ok(split_read("atlas10k3-like", true, true, 101 * US) > whole,
	   "a later request is another one");
}

static void test_small_requests(void)
{
	struct sp_vdrive *v = drive("atlas10k3-like");
	struct sp_vdrive_done done[16];
	struct sp_vdrive_stats s;
	int rc = sp_vdrive_submit(v, 0, SP_VDRIVE_READ, 0, 4096, NULL);

	rc |= sp_vdrive_submit(v, 10 * US, SP_VDRIVE_READ, 4096, 4096, NULL);
	ok(rc == 0 && drain(v, done) == 2, "two small reads in sequence");
	sp_vdrive_stats(v, &s);
	ok(s.continuations == 0, "are not continuations");
	rc = sp_vdrive_submit(v, s.now_ns, SP_VDRIVE_READ, 0, 64 << 10, NULL);
	rc |= sp_vdrive_submit(v, s.now_ns, SP_VDRIVE_WRITE, 64 << 10, 64 << 10, NULL);
	ok(rc == 0 && drain(v, done) == 2, "a read and a write in sequence are not either");
	sp_vdrive_stats(v, &s);
	ok(s.continuations == 0, "a read and a write");
	sp_vdrive_close(v);
}

static void test_flush(void)
{
	struct sp_vdrive *v = drive("ide300-like");
	struct sp_vdrive_done done[16];
	int w, r, f, g;
	int rc = sp_vdrive_submit(v, MS, SP_VDRIVE_FLUSH, 0, 0, &f);

	ok(rc == 0 && drain(v, done) == 1 && done[0].cookie == &f && done[0].done_ns == MS,
	   "an idle drive is flushed immediately");
	rc = sp_vdrive_submit(v, 2 * MS, SP_VDRIVE_WRITE, 1 << 20, 4096, &w);
	rc |= sp_vdrive_submit(v, 2 * MS + 1, SP_VDRIVE_FLUSH, 0, 0, &f);
	rc |= sp_vdrive_submit(v, 2 * MS + 2, SP_VDRIVE_FLUSH, 0, 0, &g);
	rc |= sp_vdrive_submit(v, 2 * MS + 3, SP_VDRIVE_READ, 0, 512, &r);
	ok(rc == 0 && drain(v, done) == 4 && done[0].cookie == &w, "a write, two flushes, a read:");
	ok(done[0].done_ns < 4 * MS, "the write is done when it is in the buffer");
	ok(done[1].cookie == &f && done[2].cookie == &g && done[1].op == SP_VDRIVE_FLUSH &&
		   done[1].done_ns > done[0].done_ns + 2 * MS,
	   "the flushes when it is on the medium");
	ok(done[3].cookie == &r && done[3].done_ns >= done[1].done_ns,
	   "and completions are in the order of time");
	sp_vdrive_close(v);
}

static int open_code(const char *spec, struct sp_errinfo *err)
{
	struct sp_vdrive *v;
	int rc;

	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	rc = sp_vdrive_open(&v, spec, err);
	sp_vdrive_close(v);
	return rc;
}

static void test_errors(void)
{
	struct sp_errinfo err;
	struct sp_vdrive_info info;
	struct sp_vdrive *v = drive("tiny");

	ok(open_code("tiny,cache=1M", &err) == SP_ESYNTAX && strstr(err.text, "cache=1M") &&
		   strstr(err.text, "sched, window, merge"),
	   "a word that is of the machine is refused, with those that are known");
	ok(open_code("tiny,sched=clook,fs=none", &err) == SP_ESYNTAX, "wherever it is");
	ok(open_code("tiny,window=0", &err) == SP_ESYNTAX && strstr(err.text, "window"),
	   "so is a value that cannot be");
	ok(open_code("tiny,sched=best", &err) == SP_ESYNTAX && strstr(err.text, "clook"),
	   "and an unknown scheduler");
	ok(open_code("ramdisk", &err) == -ENOENT && strstr(err.text, "tiny"),
	   "an unknown model is reported with the known ones");
	ok(sp_vdrive_submit(v, 0, SP_VDRIVE_READ, 1386 * 512 - 1, 2, NULL) == -ERANGE &&
		   sp_vdrive_submit(v, 0, SP_VDRIVE_READ, UINT64_MAX, 1, NULL) == -ERANGE,
	   "nothing is beyond the end");
	ok(sp_vdrive_submit(v, 0, SP_VDRIVE_WRITE, 0, 0, NULL) == -EINVAL,
	   "a request has at least a byte");
	sp_vdrive_info(v, &info);
	ok(!strcmp(info.model, "tiny") && !strcmp(info.kind, "rotating") &&
		   info.bytes == 1386 * 512 && info.block_bytes == 512,
	   "a drive says what it is");
	ok(sp_vdrive_submit(v, 0, SP_VDRIVE_READ, 0, 512, NULL) == 0,
	   "and may be closed in between");
	sp_vdrive_close(v);
	sp_vdrive_close(NULL);
}

int main(void)
{
	test_serial();
	test_time();
	test_continuations();
	test_small_requests();
	test_flush();
	test_errors();
	return done();
}
