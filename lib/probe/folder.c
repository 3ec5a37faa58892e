/* SPDX-License-Identifier: MIT */
/*
 * Measures the device of a folder in about two seconds, by a temporary file: the transfer of
 * sequential reads of 1 MiB, and the additional time of a read of 4096 bytes at a random offset.
 *
 * Not modelled: tracks, concurrent requests, and a cache of the device that holds the file.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <spindle/probe.h>
#include "base/clock.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "base/whole.h"
#include "dev/geometry.h"
#include "io/volume.h"

#define MIB ((size_t)1 << 20)
#define FILE_MIB 64
#define FILE_MIN_MIB 4
#define SMALL 4096
#define PHASE_NS UINT64_C(600000000) /* writing, sequential and random reads */
#define BLOCK 512

struct folder {
	struct sp__volume *v;
	uint8_t *data;		      /* 1 MiB */
	uint64_t mib;		      /* size of the file */
	double transfer_ns, small_ns; /* per MiB; per random read of 4096 bytes */
	struct sp_errinfo *err;
};

/* Writes the file, whose bytes cannot be compressed, and removes it from the page cache. */
static int write_file(struct folder *f)
{
	const uint64_t end = sp__now_ns() + PHASE_NS;
	struct sp__rng rng = { 1 };
	int rc = 0;

	for (; !rc && f->mib < FILE_MIB && (f->mib < FILE_MIN_MIB || sp__now_ns() < end);
	     f->mib++) {
		for (size_t i = 0; i < MIB / sizeof(uint64_t); i++)
			((uint64_t *)f->data)[i] = sp__rng_next(&rng);
		rc = sp__write_whole(f->v->fd, f->data, MIB, f->mib * MIB);
	}
	if (!rc && fdatasync(f->v->fd))
		rc = -errno;
	if (!rc)
		(void)!posix_fadvise(f->v->fd, 0, 0, POSIX_FADV_DONTNEED);
	return rc;
}

/* Returns the mean time of reads, or an error; random: of 4096 bytes, else of 1 MiB in order. */
static double time_reads(const struct folder *f, bool random)
{
	const uint64_t begin = sp__now_ns(), bytes = random ? SMALL : MIB;
	struct sp__rng rng = { 2 };
	uint64_t n = 0;

	for (; (random || n < f->mib) && sp__now_ns() - begin < PHASE_NS; n++) {
		uint64_t at =
			random ? sp__rng_next(&rng) % (f->mib * MIB / SMALL) * SMALL : n * MIB;
		ssize_t got = sp__read_whole(f->v->fd, f->data, bytes, at);

		if (got < 0)
			return (double)got;
	}
	return (double)(sp__now_ns() - begin) / (double)n;
}

static int measure(struct folder *f)
{
	int rc = write_file(f);

	if (!rc)
		f->transfer_ns = time_reads(f, false);
	if (!rc && f->transfer_ns >= 0)
		f->small_ns = time_reads(f, true);
	rc = rc ? rc : (int)sp__min(sp__min(f->transfer_ns, f->small_ns), 0);
	return rc ? sp__err(f->err, rc, "measure", f->v->name, -1) : 0;
}

static int fill_in(struct sp_geometry *g, const struct folder *f, const char *folder)
{
	struct statvfs fs;

	if (fstatvfs(f->v->fd, &fs))
		return sp__err(f->err, -errno, "stat", folder, -1);
	g->block_bytes = BLOCK;
	g->blocks = (uint64_t)fs.f_blocks * fs.f_frsize / BLOCK;
	g->transfer_s_per_mib = f->transfer_ns * 1e-9;
	g->seek_s = sp__max(f->small_ns - f->transfer_ns * SMALL / MIB, 0) * 1e-9;
	if (sp__geometry_text(&g->device, folder) || sp__geometry_text(&g->source, "probe") ||
	    sp__geometry_text(&g->verdict, "inconclusive"))
		return sp__err(f->err, -ENOMEM, "malloc", NULL, -1);
	return sp__geometry_seal(g, f->err);
}

int sp_probe_folder(struct sp_geometry **g, const char *folder, struct sp_errinfo *err)
{
	struct folder f = { .err = err };
	int rc = sp__volume_temp(&f.v, folder, SP__DIRECT_AUTO, err);

	*g = NULL;
	if (rc)
		return rc;
	*g = sp__geometry_alloc();
	f.data = aligned_alloc(SMALL, MIB);
	rc = *g && f.data ? measure(&f) : sp__err(err, -ENOMEM, "malloc", NULL, -1);
	if (!rc)
		rc = fill_in(*g, &f, folder);
	free(f.data);
	sp__volume_close(f.v);
	if (rc) {
		sp_geometry_free(*g);
		*g = NULL;
	}
	return rc;
}
