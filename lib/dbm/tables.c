/* SPDX-License-Identifier: MIT */
/*
 * Generates tables into files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <spindle/gen.h>
#include "base/err.h"
#include "base/whole.h"
#include "dbm/tables.h"

#define BLOCK ((size_t)1 << 20)

struct table {
	const struct sp_dbm_opts *opts;
	const char *path;
	struct sp_gen *gen;
	int fd;
	char *block;
	struct sp__dbm_truth *truth; /* of T1; or NULL */
	uint64_t bytes;
};

static int write_blocks(struct table *t, struct sp_errinfo *err)
{
	long n = 0;
	int rc = 0;

	while (!rc && (n = sp_gen_fill(t->gen, t->block, BLOCK)) > 0) {
		if (t->opts->stop && *t->opts->stop)
			return sp__err(err, -ECANCELED, "write", t->path, -1);
		if (t->truth && !sp__truth_add(t->truth, t->block, (size_t)n))
			return sp__errf(err, SP_EFORMAT, "write", t->path, -1,
					"the generator made what is no record of T1");
		rc = sp__write_whole(t->fd, t->block, (size_t)n, t->bytes);
		t->bytes += (uint64_t)n;
	}
	rc = rc ? rc : (int)n;
	return rc < 0 ? sp__err(err, rc, "write", t->path, -1) : 0;
}

static int make(struct table *t, enum sp_gen_kind kind, uint64_t *records, struct sp_errinfo *err)
{
	struct sp_gen_opts o = SP_GEN_OPTS_INIT;
	int rc;

	o.kind = kind;
	o.scale = t->opts->scale;
	o.record_bytes = t->opts->record_bytes;
	o.shuffle = t->opts->shuffle;
	o.seed = t->opts->seed;
	rc = sp_gen_new(&t->gen, &o, err);
	if (rc)
		return rc;
	t->fd = open(t->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	t->block = malloc(BLOCK);
	if (t->fd < 0 || !t->block)
		rc = sp__err(err, t->fd < 0 ? -errno : -ENOMEM, "create", t->path, -1);
	if (!rc)
		rc = write_blocks(t, err);
	*records = sp_gen_count(t->gen);
	if (t->fd >= 0 && close(t->fd) && !rc)
		rc = sp__err(err, -errno, "close", t->path, -1);
	free(t->block);
	sp_gen_free(t->gen);
	return rc;
}

int sp__tables_make(const struct sp_dbm_opts *opts, const char *t1, const char *t2,
		    struct sp__dbm_tables *made, struct sp__dbm_truth *truth,
		    struct sp_errinfo *err)
{
	struct table a = { .opts = opts, .path = t1, .truth = truth },
		     b = { .opts = opts, .path = t2 };
	int rc = make(&a, SP_GEN_T1, &made->t1_records, err);

	if (!rc)
		rc = make(&b, SP_GEN_T2, &made->t2_records, err);
	sp__truth_end(truth);
	made->t1_bytes = a.bytes;
	made->t2_bytes = b.bytes;
	return rc;
}
