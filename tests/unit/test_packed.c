/* SPDX-License-Identifier: MIT */
/*
 * Compressed streams of many members: the same bytes for any number of tasks, and the same result
 * or message as one decoder that reads member after member.
 */
#define TAP_THREADS

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <lz4frame.h>
#include <zstd.h>
#include "base/rng.h"
#include "base/task.h"
#include "io/rstream.h"
#include "io/wstream.h"
#include "pack/member.h"
#include "pack/unpack.h"
#include "tap.h"

#define TRUTH ((size_t)1500 << 10)
#define CHUNK ((size_t)64 << 10)
#define LITTLE ((uint64_t)1 << 20) /* memory with which frames are small */
#define LARGE ((uint64_t)64 << 20)
#define DAMAGES 40 /* of each format */

static const enum sp_packed formats[] = { SP_PACKED_ZSTD, SP_PACKED_LZ4, SP_PACKED_GZIP,
					  SP_PACKED_XZ };
static char truth[TRUTH], back[TRUTH + CHUNK];

struct file {
	char data[2 * TRUTH];
	size_t bytes;
};

static struct file packed, hurt;

static int temp_file(const char *data, size_t bytes)
{
	char path[4096];
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%s/packedXXXXXX", dir && *dir ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0 || unlink(path) || (bytes && write(fd, data, bytes) != (ssize_t)bytes))
		ok(false, "a temporary file is made");
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Words of few letters and numbers, so that all formats save something. */
static void make_truth(void)
{
	struct sp__rng rng = { 7 };

	for (size_t i = 0; i < TRUTH; i++)
		truth[i] = "etaoin shrdlu\n0123456789"[sp__rng_below(&rng, i % 300 < 40 ? 24 : 8)];
}

/* Writes `bytes` of the truth, in puts of many sizes, and reads the file back. */
static void pack(struct file *f, enum sp_packed format, uint64_t memory, size_t bytes)
{
	struct sp__wstream_opts o = {
		.chunk_bytes = CHUNK,
		.depth = 2,
		.pack = format,
		.pack_bytes = memory,
		.pack_level = format == SP_PACKED_XZ, /* the others: the default */
	};
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int fd = temp_file(NULL, 0), rc;
	struct sp__wstream *ws;
	ssize_t n;

	rc = sp__wstream_open(&ws, fd, "packed", &o, &err);
	for (size_t at = 0, step = 1; !rc && at < bytes; at += step, step = step * 7 % 99991)
		rc = sp__wstream_put(ws, truth + at, step < bytes - at ? step : bytes - at);
	if (!rc)
		rc = sp__wstream_finish(ws);
	sp__wstream_close(ws);
	n = pread(fd, f->data, sizeof(f->data), 0);
	if (rc || n < 0)
		ok(false, "%s: packing works", sp_packed_name(format));
	f->bytes = n < 0 ? 0 : (size_t)n;
	close(fd);
}

static void check_packing(enum sp_packed format, uint64_t memory, size_t bytes)
{
	static const unsigned limits[] = { 1, 2, 3, 8, 16, 64 };
	static struct file first;
	bool same = true;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		sp__tasks_open(limits[i]);
		pack(i ? &packed : &first, format, memory, bytes);
		sp__tasks_close();
		same &= !i || (packed.bytes == first.bytes &&
			       !memcmp(packed.data, first.data, first.bytes));
	}
	ok(same, "%s: %zu bytes are packed the same by 1 to 64 tasks", sp_packed_name(format),
	   bytes);
}

struct outcome {
	int rc;
	size_t bytes; /* in back */
	char message[SP_ERRINFO_TEXT_MAX];
};

static void describe(struct outcome *o, int rc, const struct sp_errinfo *err)
{
	o->rc = rc;
	snprintf(o->message, sizeof(o->message), "%s", err->text);
}

/* The truth: one decoder for all members. */
static struct outcome decode(const struct file *f, enum sp_packed format)
{
	const struct sp__packmemory memory = { .bytes = LARGE, .share = 4 };
	struct sp__packspan span = { f->data, f->bytes, back, sizeof(back) };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct outcome o = { 0 };
	struct sp__decoder *u;
	int rc = sp__decoder_new(&u, format, "packed", &memory, &err);

	while (!rc && (rc = sp__decoder_run(u, &span)) == 1)
		rc = 0;
	if (!rc)
		rc = sp__decoder_end(u);
	sp__decoder_free(u);
	o.bytes = (size_t)(span.out - back);
	describe(&o, rc, &err);
	return o;
}

struct feed {
	const struct file *file;
	int fd;
	unsigned pause_us;
};

static void *feed(void *arg)
{
	const struct feed *f = arg;

	for (size_t at = 0, n; at < f->file->bytes; at += n) {
		n = f->file->bytes - at < 40000 ? f->file->bytes - at : 40000;
		if (write(f->fd, f->file->data + at, n) != (ssize_t)n)
			break;
		usleep(f->pause_us);
	}
	close(f->fd);
	return NULL;
}

static struct outcome read_all(int fd, enum sp_packed format)
{
	struct sp__rstream_opts ro = { .chunk_bytes = CHUNK,
				       .depth = 2,
				       .unpack = format,
				       .unpack_bytes = LARGE,
				       .unpack_share = 4 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct outcome o = { 0 };
	struct sp__rstream *rs;
	const char *data;
	size_t bytes;
	int rc = sp__rstream_open(&rs, fd, "packed", &ro, &err);

	while (!rc && (rc = sp__rstream_next(rs, &data, &bytes, true)) == SP_READY) {
		rc = o.bytes + bytes > sizeof(back) ? -E2BIG : 0;
		if (!rc)
			memcpy(back + o.bytes, data, bytes);
		o.bytes += bytes;
	}
	if (rc < 0 && sp__rstream_next(rs, &data, &bytes, true) != rc)
		ok(false, "an error stays");
	sp__rstream_close(rs);
	describe(&o, rc, &err);
	return o;
}

static struct outcome unpack(const struct file *f, enum sp_packed format, int pause_us)
{
	struct feed feeding = { .file = f, .pause_us = (unsigned)pause_us };
	struct outcome o;
	pthread_t thread;
	int fd, ends[2];

	if (pause_us < 0) {
		fd = temp_file(f->data, f->bytes);
		o = read_all(fd, format);
		close(fd);
		return o;
	}
	if (pipe(ends))
		ok(false, "a pipe is made");
	feeding.fd = ends[1];
	pthread_create(&thread, NULL, feed, &feeding);
	o = read_all(ends[0], format);
	close(ends[0]);
	pthread_join(thread, NULL);
	return o;
}

static bool is_truth(const struct outcome *o, size_t bytes)
{
	return o->rc == 0 && o->bytes == bytes && !memcmp(back, truth, bytes);
}

static void check_unpacking(enum sp_packed format, uint64_t memory, size_t bytes)
{
	bool same = true;
	struct outcome o;

	pack(&packed, format, memory, bytes);
	o = decode(&packed, format);
	ok(is_truth(&o, bytes), "%s: one decoder unpacks %zu bytes", sp_packed_name(format), bytes);
	for (unsigned limit = 1; limit <= 16; limit = limit < 3 ? limit + 1 : 2 * limit + 2) {
		sp__tasks_open(limit);
		for (int pause = -1; pause <= 1000; pause += 1001 - 500 * (pause < 0)) {
			o = unpack(&packed, pause ? format : SP_PACKED_AUTO, pause);
			same &= is_truth(&o, bytes);
		}
		sp__tasks_close();
	}
	ok(same, "so do several, from files and pipes");
}

/*
 * Only sizes of gzip members are unknown to one decoder; an error is otherwise found with the same
 * message, after the same bytes or fewer.
 */
static bool agrees(const struct outcome *got, const struct outcome *want, enum sp_packed format)
{
	if (memcmp(back, truth, got->bytes < TRUTH ? got->bytes : TRUTH) != 0 && !want->rc)
		return false;
	if (got->rc == want->rc && !strcmp(got->message, want->message))
		return got->rc || got->bytes == want->bytes;
	return format == SP_PACKED_GZIP && got->rc == SP_EFORMAT;
}

static void check_damage(enum sp_packed format)
{
	const size_t bytes = TRUTH - 77;
	unsigned wrong = 0, errors = 0;
	struct outcome got, want;
	struct sp__rng rng = { format };

	pack(&packed, format, LITTLE, bytes);
	sp__tasks_open(3);
	for (unsigned i = 0; i < DAMAGES; i++) {
		size_t at = (size_t)sp__rng_below(&rng, packed.bytes);

		hurt = packed;
		if (i % 3 == 0)
			hurt.bytes = at;
		else if (i % 3 == 1)
			hurt.data[at] ^= (char)(1 << sp__rng_below(&rng, 8));
		else if (i % 2)
			hurt.bytes += 1 + at % 30;
		else /* the beginning or the end of a member of several */
			hurt.data[i % 40 < 20 ? at % 40 : hurt.bytes - 1 - at % 40] ^= 0x10;
		if (!hurt.bytes)
			continue;
		want = decode(&hurt, format);
		got = unpack(&hurt, format, i % 2 ? -1 : 0);
		if (got.rc == SP_EFORMAT && strstr(got.message, "it is not in the format"))
			continue;
		errors += got.rc < 0;
		if (!agrees(&got, &want, format)) {
			wrong++;
			printf("# %u at %zu: %d %s, not %d %s\n", i, at, got.rc, got.message,
			       want.rc, want.message);
		}
	}
	sp__tasks_close();
	ok(!wrong && errors > DAMAGES * 5 / 12,
	   "%s: damage and missing bytes are found as by one decoder (%u)", sp_packed_name(format),
	   errors);
}

/* Threads find the members of a gzip file by their sizes. */
static void check_gzip_size(void)
{
	static unsigned char member[0x12345] = {
		0x1f, 0x8b, 8, 4, [10] = SP__MIGZ_EXTRA, [12] = 'M', 'Z', 4
	};
	enum sp_packed format = SP_PACKED_GZIP;
	struct sp__member m = { 0 };

	sp__migz_put((char *)member, sizeof(member));
	ok(sp__member_measure(&m, &format, member, sizeof(member)) == SP__MEMBER_WHOLE &&
		   m.packed_bytes == sizeof(member),
	   "a gzip member tells the size that it was given");
}

/* True if a member of the first half of `hurt` has the sizes: whole, and without its last byte. */
static bool has_sizes(enum sp_packed format, size_t packed_bytes, size_t bytes, size_t more)
{
	struct sp__member m = { 0 }, cut = { 0 };
	bool same = sp__member_measure(&m, &format, hurt.data, TRUTH) == SP__MEMBER_WHOLE &&
		    sp__member_measure(&cut, &format, hurt.data, packed_bytes - 1) ==
			    SP__MEMBER_PARTIAL &&
		    m.packed_bytes == packed_bytes && m.unpacked_bytes >= bytes &&
		    m.unpacked_bytes - bytes <= more;

	if (!same)
		diag("%s of %zu bytes: %zu, not %llu and %llu", sp_packed_name(format), bytes,
		     packed_bytes, (unsigned long long)m.packed_bytes,
		     (unsigned long long)m.unpacked_bytes);
	return same;
}

/* Threads find the frames of zstd and lz4 by the sizes of their headers and blocks. */
static void check_frame_sizes(void)
{
	static const size_t sizes[] = {
		1,     255,   256,	65535,	  65536,    65791,
		65792, 70000, 2u << 16, 3u << 16, 4u << 16, (4u << 16) + 1
	};
	const LZ4F_frameInfo_t infos[] = {
		{ .blockSizeID = LZ4F_max64KB, .blockMode = LZ4F_blockIndependent },
		{ .blockSizeID = LZ4F_max256KB, .blockChecksumFlag = LZ4F_blockChecksumEnabled },
		{ .blockSizeID = LZ4F_max64KB, .contentChecksumFlag = LZ4F_contentChecksumEnabled },
	};
	struct sp__rng rng = { 3 };
	bool zstd = true, lz4 = true;

	/* Odd ones do not get shorter, so their blocks are stored. */
	for (size_t k = 0; k < 2 * sizeof(sizes) / sizeof(sizes[0]); k++) {
		const size_t bytes = sizes[k / 2];

		for (size_t i = 0; i < bytes; i++)
			back[i] = k % 2 ? (char)sp__rng_next(&rng) : truth[i];
		zstd &= has_sizes(SP_PACKED_ZSTD, ZSTD_compress(hurt.data, TRUTH, back, bytes, 1),
				  bytes, 0);
		for (size_t i = 0; i < sizeof(infos) / sizeof(infos[0]); i++) {
			LZ4F_preferences_t p = { .frameInfo = infos[i] };
			size_t block = i == 1 ? 256u << 10 : 64u << 10;

			lz4 &= has_sizes(SP_PACKED_LZ4,
					 LZ4F_compressFrame(hurt.data, TRUTH, back, bytes, &p),
					 bytes, block);
			p.frameInfo.contentSize = bytes;
			lz4 &= has_sizes(SP_PACKED_LZ4,
					 LZ4F_compressFrame(hurt.data, TRUTH, back, bytes, &p),
					 bytes, 0);
		}
	}
	ok(zstd && lz4, "frames of zstd and lz4 are measured by their headers and blocks");
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	make_truth();
	check_gzip_size();
	check_frame_sizes();
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (sp_packed_missing(formats[i]))
			continue;
		check_packing(formats[i], LITTLE, TRUTH);
		check_packing(formats[i], LARGE, TRUTH);
		check_packing(formats[i], LITTLE, 2 * ((size_t)256 << 10));
		check_packing(formats[i], LITTLE, 0);
		check_unpacking(formats[i], LITTLE, TRUTH);
		check_unpacking(formats[i], LARGE, TRUTH);
		check_unpacking(formats[i], LITTLE, 0);
		check_damage(formats[i]);
	}
	return done();
}
