/* SPDX-License-Identifier: MIT */
/*
 * A journal: records torn at each byte, an area inside a file; and the journal of a sort's
 * checkpoints that another version has begun.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/sort.h>
#include "keysets.h"
#include "cells/journal.h"
#include "sort/resume/resume.h"
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

static struct sp__journal journal_at(int fd, uint64_t end, uint64_t limit)
{
	return (struct sp__journal){ .fd = fd, .name = "journal", .end = end, .limit = limit };
}

/* Reads records of type 1, 2, ... whose data is this text; returns how many there are. */
static int count(struct sp__journal *j, const char *text)
{
	struct sp__journal_record rec;
	int n = 0, rc;

	while ((rc = sp__journal_next(j, &rec)) > 0) {
		n += rec.type == (uint32_t)n + 1 && rec.bytes == strlen(text) &&
		     !memcmp(rec.data, text, rec.bytes);
		free(rec.data);
	}
	return rc < 0 ? rc : n;
}

/* The second of two records is cut, or changed, at each of its bytes. */
static void check_torn(void)
{
	static const char text[] = "some data";
	const size_t bytes = SP__JOURNAL_HEADER_BYTES + strlen(text);
	int fd = open(path, O_RDWR | O_CREAT, 0600), whole = 0, cut = 0, changed = 0;
	struct sp__journal j = journal_at(fd, 0, 0);

	ok(append(&j, 1, text, strlen(text)) && (size_t)size() == bytes, "a record is appended");
	for (size_t at = 0; at < bytes; at++) {
		char byte;

		j = journal_at(fd, bytes, 0);
		whole += append(&j, 2, text, strlen(text));
		j.end = 0;
		whole += count(&j, text) == 2 && (size_t)size() == 2 * bytes && j.end == 2 * bytes;
		whole += pread(fd, &byte, 1, (off_t)(bytes + at)) == 1;
		byte ^= 1;
		whole += pwrite(fd, &byte, 1, (off_t)(bytes + at)) == 1;
		j.end = 0;
		changed += count(&j, text) == 1 && (size_t)size() == bytes && j.end == bytes;
		whole += append(&j, 2, text, strlen(text)) && !ftruncate(fd, (off_t)(bytes + at));
		j.end = 0;
		cut += count(&j, text) == 1 && (size_t)size() == bytes && j.end == bytes;
	}
	ok((size_t)whole == 5 * bytes, "two records are read");
	ok((size_t)changed == bytes, "one changed at any byte ends the journal, and is cut off");
	ok((size_t)cut == bytes, "one torn at any byte ends the journal, and is cut off");
	close(fd);
	unlink(path);
}

/* A journal in an area of a file, without syncs. */
static void check_area(void)
{
	static const char text[] = "in an area", other[] = "the next area";
	const uint64_t begin = 100, bytes = SP__JOURNAL_HEADER_BYTES + strlen(text),
		       limit = begin + 2 * bytes + SP__JOURNAL_HEADER_BYTES - 1;
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__journal j = journal_at(fd, begin, limit);
	char found[sizeof(other)] = "";

	j.unsynced = true;
	j.err = &err;
	ok(pwrite(fd, other, sizeof(other), (off_t)limit) == sizeof(other) &&
		   count(&j, text) == 0 && j.end == begin,
	   "an area of zeros has no record");
	ok(append(&j, 1, text, strlen(text)) && append(&j, 2, text, strlen(text)) &&
		   !sp__journal_sync(&j),
	   "two records fit");
	ok(!append(&j, 3, "", 0) && err.code == -ENOSPC && j.end == begin + 2 * bytes,
	   "a third one would pass the limit: refused");
	j.end = begin;
	ok(count(&j, text) == 2, "both are read");
	ok(pread(fd, found, sizeof(found), (off_t)limit) == sizeof(found) &&
		   !memcmp(found, other, sizeof(other)),
	   "bytes after the area are not cut off");
	j = journal_at(fd, begin, limit - SP__JOURNAL_HEADER_BYTES);
	ok(count(&j, text) == 1, "a record that passes the limit is not read");
	close(fd);
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
	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.keys = ks;
	rc = sp_sort_run(&o, &io, NULL, &err);
	ok(rc == SP_EUNSUP &&
		   !strcmp(err.text,
			   "was started by another version: remove this directory to start "
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
	check_area();
	check_version(1, 9, SP__RECORD_RUN);
	/* Its keys of versions were others. */
	check_version(2, 2, SP__RECORD_RUN);
	check_version(4, 9, SP__RECORD_RUN);
	check_version(6, 2, 99);
	check_version(6, 16, SP__RECORD_MARK);
	unlink(in);
	rmdir(dir);
	return done();
}
