/* SPDX-License-Identifier: MIT */
/*
 * Parses and loads a trace.
 *
 * Lines are read one by one.  A request takes 48 bytes, and a volume its name.  A hash table finds
 * names, so a line costs the same in a merge of thousands of files as in a merge of two.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/error.h>
#include "base/array.h"
#include "base/enum.h"
#include "base/err.h"
#include "base/hashtable.h"
#include "base/minmax.h"
#include "base/utf8mark.h"
#include "base/whole.h"
#include "trace/sequence.h"

/*
 * Fields are separated by blanks and taken from the left.  A number that does not fit its member is
 * refused, never cut.  A line that is empty or begins with "#" is a comment.  Only the lookup of a
 * name needs a copy without escapes.
 */

/* The rest of a line. */
struct text {
	const char *at, *end;
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes the next field; fields are separated by blanks. */
static struct text field(struct text *line)
{
	struct text f;

	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
	f.at = line->at;
	while (line->at < line->end && *line->at != ' ' && *line->at != '\t')
		line->at++;
	f.end = line->at;
	return f;
}

static bool number(struct text f, uint64_t most, uint64_t *value)
{
	uint64_t v = 0;

	if (f.at == f.end)
		return false;
	for (; f.at < f.end; f.at++) {
		unsigned d = (unsigned)(*f.at - '0');

		if (!digit(*f.at) || v > most / 10 || v * 10 > most - d)
			return false;
		v = v * 10 + d;
	}
	*value = v;
	return true;
}

static bool signed_number(struct text f, int64_t *value)
{
	bool minus = f.at < f.end && *f.at == '-';
	uint64_t v;

	f.at += minus;
	if (!number(f, INT64_MAX, &v))
		return false;
	*value = minus ? -(int64_t)v : (int64_t)v;
	return true;
}

/* Parses the numbers after op and volume. */
static const char *numbers(struct text *line, struct sp__seqline *out)
{
	uint64_t v;

	if (!number(field(line), INT64_MAX, &out->offset))
		return "offset is not a number of bytes";
	if (!number(field(line), UINT32_MAX, &v))
		return "bytes is not a number of bytes";
	out->bytes = (uint32_t)v;
	if (!number(field(line), UINT16_MAX, &v))
		return "prio is not an I/O priority";
	out->prio = (uint16_t)v;
	if (!signed_number(field(line), &out->submit_ns))
		return "submit_ns is not a time";
	if (!signed_number(field(line), &out->done_ns))
		return "done_ns is not a time";
	if (!signed_number(field(line), &out->result))
		return "result is not a number";
	if (out->done_ns < out->submit_ns)
		return "done_ns is before submit_ns";
	if (out->result > (int64_t)out->bytes)
		return "result is more than bytes";
	if (out->offset > INT64_MAX - (uint64_t)out->bytes)
		return "the request ends beyond all offsets";
	return NULL;
}

int sp__sequence_line(const char *line, size_t len, struct sp__seqline *out, const char **reason)
{
	struct text rest = { line, line + len }, f = field(&rest);

	if (f.at == f.end || *f.at == '#')
		return 0;
	out->write = *f.at == 'W';
	if (f.end - f.at != 1 || (*f.at != 'R' && *f.at != 'W')) {
		*reason = "op is neither R nor W";
		return SP_EFORMAT;
	}
	f = field(&rest);
	out->name = f.at;
	out->name_len = (size_t)(f.end - f.at);
	*reason = f.at == f.end ? "volume is missing" : numbers(&rest, out);
	return *reason ? SP_EFORMAT : 1;
}

bool sp__sequence_foreign(const char *line, size_t len)
{
	static const char heading[] = "# spindle-trace/";
	size_t n = sizeof(heading) - 1;

	if (len <= n || memcmp(line, heading, n))
		return false;
	return line[n] != '1' || (len > n + 1 && digit(line[n + 1]));
}

static int hex(char c)
{
	return digit(c)		      ? c - '0'
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
				      : -1;
}

size_t sp__sequence_name(const char *name, size_t name_len, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < name_len; i++) {
		if (name[i] == '%' && i + 2 < name_len && hex(name[i + 1]) >= 0 &&
		    hex(name[i + 2]) >= 0) {
			out[n++] = (char)(hex(name[i + 1]) << 4 | hex(name[i + 2]));
			i += 2;
		} else {
			out[n++] = name[i];
		}
	}
	out[n] = '\0';
	return n;
}

struct loader {
	struct sp_sequence *seq;
	struct sp_errinfo *err;
	const char *path;
	uint64_t line;
	struct sp__hashtable numbers; /* volume number + 1, by name */
	char *name;		      /* volume of the line, unescaped */
	size_t name_cap;
};

static int no_memory(const struct loader *l)
{
	return sp__err(l->err, -ENOMEM, "read", l->path, -1);
}

static uint64_t hash_of(const struct loader *l, const char *name)
{
	return sp__hashtable_hash(&l->numbers, name, strlen(name));
}

/* Returns the slot where the name of the line is or belongs. */
static inline uint64_t *find_slot(const struct loader *l, uint64_t hash)
{
	return SP__HASHTABLE_FIND(&l->numbers, hash, number,
				  !strcmp(l->seq->volume[number - 1].name, l->name));
}

static int find_volume(struct loader *l, const struct sp__seqline *line, uint32_t *number)
{
	struct sp_sequence *seq = l->seq;
	uint64_t hash, *slot;

	if (line->name_len >= l->name_cap) {
		free(l->name);
		l->name_cap = line->name_len + 256;
		l->name = malloc(l->name_cap);
		if (!l->name)
			return no_memory(l);
	}
	sp__sequence_name(line->name, line->name_len, l->name);
	if (sp__hashtable_is_full(&l->numbers, seq->nvolumes) && sp__hashtable_grow(&l->numbers))
		return no_memory(l);
	hash = hash_of(l, l->name);
	slot = find_slot(l, hash);
	*number = (uint32_t)(*slot ? *slot - 1 : seq->nvolumes);
	if (!*slot) {
		if (!SP__ARRAY_GROW_BY_ONE(seq->volume, seq->nvolumes))
			return no_memory(l);
		seq->volume[seq->nvolumes] = (struct sp__seqvolume){ .name = strdup(l->name) };
		if (!seq->volume[seq->nvolumes].name)
			return no_memory(l);
		sp__hashtable_fill(slot, hash, (uint32_t)++seq->nvolumes);
		if (sp__hashtable_is_long(&l->numbers, hash, slot))
			SP__HASHTABLE_STRENGTHEN(&l->numbers, seq->nvolumes, i,
						 hash_of(l, seq->volume[i - 1].name));
	}
	return 0;
}

static int add(struct loader *l, const struct sp__seqline *line, uint32_t number)
{
	struct sp_sequence *seq = l->seq;
	struct sp__seqvolume *volume = &seq->volume[number];

	if (line->result <= 0) {
		volume->counts.failed += line->result < 0;
		volume->counts.empty += !line->result;
		return 0;
	}
	if (!SP__ARRAY_GROW_BY_ONE(seq->req, seq->n))
		return no_memory(l);
	seq->req[seq->n++] = (struct sp__seqreq){
		.offset = line->offset,
		.submit_ns = line->submit_ns,
		.done_ns = line->done_ns,
		.line = l->line,
		.bytes = (uint32_t)line->result,
		.volume = number,
		.prio = line->prio,
		.write = line->write,
	};
	volume->end = sp__max(volume->end, line->offset + (uint64_t)line->result);
	return 0;
}

/* Without a newline at its end, the last number can be truncated. */
static int one_line(struct loader *l, const char *text, size_t len, bool whole)
{
	struct sp__seqline line;
	const char *reason;
	uint32_t number = 0;
	int rc;

	l->line++;
	if (l->line == 1 && sp__sequence_foreign(text, len))
		return sp__errf(l->err, SP_EFORMAT, "read", l->path, -1,
				"line 1: a version of the format that is not known here");
	rc = sp__sequence_line(text, len, &line, &reason);
	if (rc < 0)
		return sp__errf(l->err, rc, "read", l->path, -1, "line %llu: %s",
				(unsigned long long)l->line, reason);
	if (!rc)
		return 0;
	if (!whole)
		return sp__errf(l->err, SP_EFORMAT, "read", l->path, -1,
				"line %llu: is cut off: there is no end of line",
				(unsigned long long)l->line);
	rc = find_volume(l, &line, &number);
	return rc < 0 ? rc : add(l, &line, number);
}

static int read_lines(struct loader *l, FILE *f)
{
	uint64_t file_bytes = sp__file_bytes(fileno(f)), done = 0;
	struct sp__progress progress = sp__sequence_progress(l->seq);
	char *text = NULL;
	size_t cap = 0;
	ssize_t len;
	int rc = 0;

	sp__skip_mark(f);
	while (rc == 0 && (errno = 0, len = getline(&text, &cap, f)) > 0) {
		bool whole = text[len - 1] == '\n';

		sp__sequence_report(&progress, SP_SEQUENCE_PHASE_LOAD, l->line, done, file_bytes);
		done += (uint64_t)len;
		rc = one_line(l, text, (size_t)len - whole, whole);
	}
	if (rc == 0 && !feof(f))
		rc = sp__err(l->err, errno ? -errno : -EIO, "read", l->path, -1);
	if (rc == 0)
		rc = sp__check_uncut(fileno(f), file_bytes, l->path, l->err);
	free(text);
	return rc;
}

static int by_submission(const void *pa, const void *pb)
{
	const struct sp__seqreq *a = pa, *b = pb;

	int order = SP__ORDER(a->submit_ns, b->submit_ns);

	return order ? order : SP__ORDER(a->line, b->line);
}

static int by_completion(const void *pa, const void *pb)
{
	const struct sp__seqreq *a = pa, *b = pb;

	int order = SP__ORDER(a->done_ns, b->done_ns);

	return order ? order : SP__ORDER(a->line, b->line);
}

static int read_path(struct loader *l)
{
	bool standard = !strcmp(l->path, "-");
	FILE *f = standard ? stdin : fopen(l->path, "re");
	int rc;

	if (!f)
		return sp__err(l->err, -errno, "open", l->path, -1);
	rc = read_lines(l, f);
	if (!standard)
		fclose(f);
	return rc;
}

int sp_sequence_load(struct sp_sequence **out, const char *path,
		     const struct sp_sequence_opts *opts, struct sp_errinfo *err)
{
	struct loader l = { .err = err, .path = path };
	int rc;

	l.seq = calloc(1, sizeof(*l.seq));
	if (!l.seq)
		return no_memory(&l);
	if (opts)
		l.seq->opts = *opts;
	rc = read_path(&l);
	sp__hashtable_close(&l.numbers);
	free(l.name);
	if (rc == 0) {
		if (l.seq->n)
			qsort(l.seq->req, l.seq->n, sizeof(*l.seq->req),
			      l.seq->opts.order == SP_SEQUENCE_DONE ? by_completion
								    : by_submission);
		rc = sp__sequence_count(l.seq);
		if (rc < 0)
			sp__err(err, rc, "read", path, -1);
	}
	if (rc < 0)
		sp_sequence_free(l.seq);
	else
		*out = l.seq;
	return rc;
}

void sp_sequence_free(struct sp_sequence *seq)
{
	if (!seq)
		return;
	for (size_t i = 0; i < seq->nvolumes; i++)
		free(seq->volume[i].name);
	free(seq->volume);
	free(seq->req);
	free(seq);
}

struct sp_sequence_request sp__sequence_request(const struct sp_sequence *seq, size_t i)
{
	const struct sp__seqreq *r = &seq->req[i];

	return (struct sp_sequence_request){ .write = r->write,
					     .volume = seq->volume[r->volume].name,
					     .number = r->volume,
					     .offset = r->offset,
					     .bytes = r->bytes,
					     .line = r->line,
					     .submit_ns = r->submit_ns,
					     .done_ns = r->done_ns };
}

int sp_sequence_at(const struct sp_sequence *seq, size_t i, struct sp_sequence_request *request)
{
	if (i >= seq->n)
		return -ERANGE;
	*request = sp__sequence_request(seq, i);
	return 0;
}

int sp__sequence_pages(const struct sp_sequence *seq, uint32_t page_bytes, struct sp__seqpages *out)
{
	uint64_t base = 0;
	size_t n = 0;

	for (size_t i = 0; i < seq->n; i++)
		n += sp__seqreq_pages(&seq->req[i], page_bytes);
	out->n = 0;
	out->pages = calloc(n ? n : 1, sizeof(*out->pages));
	out->base = calloc(seq->nvolumes ? seq->nvolumes : 1, sizeof(*out->base));
	if (!out->pages || !out->base) {
		sp__sequence_pages_release(out);
		return -ENOMEM;
	}
	for (size_t i = 0; i < seq->nvolumes; i++) {
		out->base[i] = base;
		base += (seq->volume[i].end + page_bytes - 1) / page_bytes + 1;
	}
	for (size_t i = 0; i < seq->n; i++) {
		const struct sp__seqreq *r = &seq->req[i];
		uint64_t first = out->base[r->volume] + sp__seqreq_page(r, page_bytes);
		uint64_t write = r->write ? SP__SEQPAGE_WRITE : 0;

		n = sp__seqreq_pages(r, page_bytes);
		for (size_t k = 0; k < n; k++)
			out->pages[out->n++] = (first + k) | write;
	}
	return 0;
}

void sp__sequence_pages_release(struct sp__seqpages *pages)
{
	free(pages->pages);
	free(pages->base);
	pages->pages = pages->base = NULL;
	pages->n = 0;
}

SP__ENUM_TABLE(sp_sequence_order, { "submit", SP_SEQUENCE_SUBMIT }, { "done", SP_SEQUENCE_DONE })
SP__ENUM_TABLE(sp_sequence_policy, { "lru", SP_SEQUENCE_LRU }, { "opt", SP_SEQUENCE_OPT })
SP__ENUM_TABLE(sp_sequence_verdict, { "legal", SP_SEQUENCE_LEGAL },
	       { "missing", SP_SEQUENCE_MISSING }, { "extra", SP_SEQUENCE_EXTRA },
	       { "read-after-write", SP_SEQUENCE_READ_AFTER_WRITE },
	       { "write-after-read", SP_SEQUENCE_WRITE_AFTER_READ },
	       { "write-after-write", SP_SEQUENCE_WRITE_AFTER_WRITE })
