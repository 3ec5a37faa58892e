/* SPDX-License-Identifier: MIT */
/*
 * xindex: builds indexes of records, and looks up keys.
 */
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "keys.h"
#include "signals.h"
#include "xindex/xindex.h"

/* exit status of negative answers */
#define NOTHING_FOUND 1
#define FOUND_BAD 1

static void report(struct config *c, const struct sp_index_stats *st)
{
	say_no_effects(&st->run.no_effects);
	if (c->common.stats)
		statsfile_finish(&c->stats, sp_report_index(st));
}

int command_build(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_index_stats st;
	int rc = sp_index_build(&c->build, c->operands.text[0], c->output, &st, &err);

	progress_wipe();
	if (rc)
		die_of(rc, &err);
	report(c, &st);
	return 0;
}

static struct sp_index *open_index(struct config *c, bool any_source, struct sp_errinfo *err)
{
	const struct sp_index_opts o = { .run = c->run,
					 .depth = c->depth,
					 .any_source = any_source,
					 .progress = c->show,
					 .progress_arg = &c->progress };
	struct sp_index *index;
	int rc = sp_index_open(&index, c->operands.text[0], &o, err);

	if (rc)
		die_next(err, -ENOENT, c->operands.text[0], "build makes an index");
	return rc ? NULL : index;
}

static void close_index(const struct config *c, struct sp_index *index)
{
	int rc = sp_index_close(index);

	if (rc)
		die("%s: %s", c->run.trace_path, sp_strerror(rc));
}

struct printing {
	bool offsets;
	struct sp_recfmt format;
};

static int print(void *arg, const struct sp_index_match *m)
{
	const struct printing *p = arg;

	if (p->offsets) {
		printf("%" PRIu64 " %" PRIu64 "\n", m->offset, m->bytes);
	} else {
		fwrite_unlocked(m->record, 1, m->bytes, stdout);
		if (p->format.kind != SP_REC_FIXED)
			putchar_unlocked(p->format.kind == SP_REC_LINE ? p->format.eol : '\n');
	}
	return ferror_unlocked(stdout) ? errno ? -errno : -EIO : 0;
}

static struct printing printing(const struct config *c, const struct sp_index *index)
{
	struct sp_index_info info;

	sp_index_info(index, &info);
	return (struct printing){ c->offsets, info.format };
}

/* True if the key of a line ends before its last byte. */
static bool key_ends_early(const struct sp_index_info *info, const char *line, size_t bytes)
{
	struct sp_key key = SP_KEY_INIT;
	struct sp_keyset_opts o = { .format = info->format,
				    .keys = &key,
				    .nkeys = 1,
				    .separator = info->separator,
				    .bytes = true };
	struct sp_keyset *keyset;
	size_t begin, end;

	if (info->format.json || !*info->key || sp_key_parse(info->key, &key, NULL) ||
	    sp_keyset_new(&keyset, &o, NULL))
		return false;
	sp_keyset_extent(keyset, 0, line, bytes, &begin, &end);
	sp_keyset_free(keyset);
	return end < bytes;
}

/* True if the first line of the index ends with a carriage return that its key does not have. */
static bool lines_end_with_cr(const struct sp_index *index)
{
	struct sp_index_info info;
	char *line = NULL;
	size_t room = 0;
	ssize_t n = 0;
	FILE *file;
	bool cr;

	sp_index_info(index, &info);
	if (info.format.kind != SP_REC_LINE || info.format.eol != '\n')
		return false;
	file = fopen(info.source, "re");
	if (!file)
		return false;
	for (uint64_t i = 0; i <= info.header_records && n >= 0; i++)
		n = getline(&line, &room, file);
	cr = n >= 2 && line[n - 1] == '\n' && line[n - 2] == '\r' &&
	     key_ends_early(&info, line, (size_t)n - 1);
	free(line);
	fclose(file);
	return cr;
}

static void open_keys(struct keys *k, const struct config *c, const struct printing *p,
		      const struct sp_index *index)
{
	const bool csv = p->format.kind == SP_REC_CSV || p->format.json;
	struct sp_index_info info;

	keys_open(k, &c->operands, 1, c->keys);
	if (!c->keys)
		return;
	sp_index_info(index, &info);
	/* Without a header, a mark of lines is a part of the first key. */
	k->mark = csv || (p->format.kind == SP_REC_LINE && info.header_records);
	k->cr = csv || lines_end_with_cr(index);
	k->end = p->format.kind == SP_REC_LINE ? p->format.eol : '\n';
}

/* Ends a query; if the sink could not write, rc is the reason. */
static int finish(struct config *c, struct sp_index *index, int rc, const struct sp_errinfo *err,
		  const struct sp_index_stats *st)
{
	if (ferror(stdout))
		die_sys(-rc, "write error");
	if (rc)
		die_query(c, rc, err);
	report(c, st);
	close_index(c, index);
	return st->records ? 0 : NOTHING_FOUND;
}

static bool is_dash_alone(const struct config *c)
{
	return c->operands.n == 2 && !strcmp(c->operands.text[1], "-");
}

int command_lookup(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_index *index = open_index(c, false, &err);
	struct keys keys;
	struct sp_index_stats st;
	struct printing p;
	int rc;

	if (!index)
		die_query(c, err.code, &err);
	p = printing(c, index);
	open_keys(&keys, c, &p, index);
	rc = sp_index_lookup(index, keys_next, &keys, !c->offsets, print, &p, &st);
	if (!rc && !st.records && !c->keys && is_dash_alone(c))
		msg("lookup: no record has the key -; --keys=- reads keys from standard input");
	keys_close(&keys);
	return finish(c, index, rc, &err, &st);
}

int command_range(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_index *index = open_index(c, false, &err);
	struct sp_index_stats st;
	struct printing p;
	int rc;

	if (!index)
		die_query(c, err.code, &err);
	p = printing(c, index);
	rc = sp_index_range(index, c->lo, c->hi, !c->offsets, print, &p, &st);
	return finish(c, index, rc, &err, &st);
}

static void print_time(int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[64];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(text, sizeof(text), "%" PRId64, ns / 1000000000);
	printf("source modified: %s.%09" PRId64 " UTC\n", text, ns % 1000000000);
}

static void print_format(const struct sp_index_info *i)
{
	printf("records are: %s", i->format.json ? "json" : sp_recfmt_name((int)i->format.kind));
	if (i->format.kind == SP_REC_FIXED)
		printf(" of %zu bytes", i->format.fixed_bytes);
	if (i->format.kind == SP_REC_LINE && !i->format.eol)
		printf(" that end with a zero byte");
	if (i->format.kind != SP_REC_FIXED && i->separator >= 0)
		printf(", fields separated by '%s'",
		       i->separator ? quote_plain((char[]){ (char)i->separator, 0 }) : "\\0");
	putchar('\n');
}

int command_stat(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_index *index = open_index(c, true, &err);
	struct sp_index_info i;

	if (!index)
		die_of(err.code, &err);
	sp_index_info(index, &i);
	printf("source: %s\n", quote_file(i.source));
	printf("source bytes: %" PRIu64 "\n", i.source_bytes);
	print_time(i.source_mtime_ns);
	if (i.stale)
		printf("source has changed: %s\n", i.stale);
	printf("source checksum: %016" PRIx64 "\n", i.source_checksum);
	print_format(&i);
	printf("header records: %" PRIu64 "\n", i.header_records);
	printf("key: %s\n", i.key[0] ? quote_bare(i.key) : "the whole record");
	printf("records: %" PRIu64 "\n", i.records);
	printf("different keys: %" PRIu64 "\n", i.keys);
	printf("levels: %u\n", i.levels);
	printf("pages: %" PRIu64 " of %" PRIu32 " bytes\n", i.pages, i.page_bytes);
	close_index(c, index);
	return 0;
}

int command_check(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_index *index = open_index(c, true, &err);
	struct sp_index_stats st;
	bool good = index && !sp_index_check(index, &st);

	progress_wipe();
	if (good) {
		report(c, &st);
		close_index(c, index);
		printf("%" PRIu64 " pages, %" PRIu64 " records, %" PRIu64 " keys: no fault\n",
		       st.pages, st.records, st.keys);
		return 0;
	}
	if (err.code != SP_ECORRUPT && err.code != -ESTALE)
		die_of(err.code, &err);
	say_error(err.code, &err);
	if (index)
		close_index(c, index);
	return FOUND_BAD;
}

int main(int argc, char **argv)
{
	static struct config c;
	const struct command *command;

	msg_init(argv);
	setlocale(LC_ALL, "");
	stdio_guard();
	signals_catch();
	command = options_parse(&c, argc, argv);
	return commands_run(command, &c, &c.stats, c.common.stats, c.result);
}
