/* SPDX-License-Identifier: MIT */
/*
 * The journal of a sort's checkpoints, and one that another version has begun.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/sort.h>
#include "keysets.h"
#include "base/journal.h"
#include "sort/resume_impl.h"
#include "tap.h"

static char dir[4096], path[4200], in[4200], out[4200];

static off_t size(void)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

static bool append(struct sp__journal *j, uint32_t type, const void *data, size_t bytes)
{
	const struct iovec piece = { (void *)(uintptr_t)data, bytes };

	return sp__journal_append(j, type, &piece, 1) == 0;
}

static void check_torn(void)
{
	struct sp__journal j = { .fd = open(path, O_RDWR | O_CREAT, 0600), .name = "journal" };
	struct sp__journal_record rec = { 0 };
	off_t whole;

	ok(append(&j, 7, "whole", 5), "a record is appended");
	whole = size();
	ok(append(&j, 8, "torn", 4) && ftruncate(j.fd, size() - 1) == 0, "another is torn");
	j.end = 0;
	ok(sp__journal_next(&j, &rec) == 1 && rec.type == 7 && rec.bytes == 5 &&
		   !memcmp(rec.data, "whole", 5),
	   "the whole one is read");
	free(rec.data);
	ok(sp__journal_next(&j, &rec) == 0 && size() == whole && (off_t)j.end == whole,
	   "the torn one ends the journal, and is cut off");
	close(j.fd);
	unlink(path);
}

/* Its identity begins with the version; what else it has, only that version knows. */
static void check_version(uint64_t version, size_t words, int type)
{
	uint64_t identity[16] = { version };
	struct sp__journal j = { .fd = open(path, O_RDWR | O_CREAT, 0600), .name = "journal" };
	const char *const inputs[] = { in };
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_sort_io io = { .inputs = inputs, .ninputs = 1, .output = out, .resume = dir };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_keyset *ks = order_open(&orders[0]);
	off_t before;
	int rc;

	append(&j, SP__RECORD_IDENTITY, identity, words * sizeof(*identity));
	append(&j, (uint32_t)type, identity, sizeof(*identity));
	close(j.fd);
	before = size();
	o.format = (struct sp_recfmt){ SP_REC_LINE, '\n', 0, 0 };
	o.keys = ks;
	rc = sp_sort_run(&o, &io, NULL, &err);
	ok(rc == SP_EUNSUP &&
		   !strcmp(err.text, "was begun by another version: remove this directory to begin "
				     "again"),
	   "version %llu, %zu words, then a record of type %d: refused (%s)",
	   (unsigned long long)version, words, type, err.text);
	ok(size() == before && access(out, F_OK) < 0, "its journal stays, and nothing is written");
	sp_keyset_free(ks);
	unlink(path);
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/journalXXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 2;
	snprintf(path, sizeof(path), "%s/spindle.journal", dir);
	snprintf(in, sizeof(in), "%s/in", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
	close(open(in, O_WRONLY | O_CREAT, 0600));
	check_torn();
	check_version(1, 9, SP__RECORD_RUN);
	/* Its keys of versions were others. */
	check_version(2, 2, SP__RECORD_RUN);
	check_version(5, 2, 99);
	check_version(5, 16, SP__RECORD_MARK);
	unlink(in);
	rmdir(dir);
	return done();
}
