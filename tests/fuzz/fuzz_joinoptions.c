/* SPDX-License-Identifier: MIT */
/*
 * xjoin's command line: options, lists of fields, keys, binary parts.  The
 * input is its words, one a line.  Whatever is accepted makes sense as a whole;
 * what is accepted under the name join is accepted without it, and means the
 * same.  What ends the program jumps back here.
 *
 * Words are parsed by the objects of the tool; free() is wrapped, because what
 * was allocated before a jump is freed here.
 */
#include <errno.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../tools/xjoin/xjoin.h"
#include "number.h"
#include "columns.h"
#include "help.h"
#include "msg.h"
#include "version.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
void __real_free(void *p);
void __wrap_free(void *p);

const char *const sp_fuzz_tokens[] = { "\n",	     "\n-1\n",	   "\n-2\n",	 "\n-j\n",
				       "\n-j1",	     "\n-j2",	   "\n-o\n",	 "\n-a\n",
				       "\n-v\n",     "\n-e\n",	   "\n-t\n",	 "1.1",
				       "2.3,0",	     " 1.2",	   "1.0:8",	 "2.8:4",
				       "0:8:u64le",  ",0:8:i64be", "\nauto",	 "\n--type=",
				       "semi",	     "full",	   "\n--csv\n",	 "\n--header",
				       "\n-i",	     "\n-z",	   "\n-S\n",	 "1M",
				       "\n-T\n",     "\n--bkey=",  "\n--rec",	 "\n--algo=",
				       "merge",	     "hybrid",	   "grace",	 "\n--check-order",
				       "\n--no",     "\n--build=", "\n--page=",	 "\n--join-mem=",
				       "\n--direct", "\n--seed=",  "\n--",	 "\n--output=x",
				       "\n--expl",   "\n--stats",  "\n--help",	 "\n--usage",
				       "1n,2M",	     "3f",	   "\n\303\227", "\n\\0",
				       "8,20",	     "1.b,2.c",	   "a:n,\"b\"",	 NULL };

#define WORDS_MAX 64
#define KEPT_MAX 1024

static jmp_buf out;
static void *kept[KEPT_MAX];
static size_t nkept;

static void require(bool cond)
{
	if (!cond)
		abort();
}

/* Functions that the tool's components call. */

void __wrap_free(void *p)
{
	for (size_t i = 0; p && i < nkept; i++)
		if (kept[i] == p)
			kept[i] = kept[--nkept];
	__real_free(p);
}

void *must_alloc(void *old, unsigned long count, unsigned long bytes)
{
	void *p = malloc(count * bytes + 1);

	require(p && nkept < KEPT_MAX);
	for (size_t i = 0; old && i < nkept; i++)
		if (kept[i] == old)
			memcpy(p, old, (count - 1) * bytes);
	__wrap_free(old);
	return kept[nkept++] = p;
}

char *must_copy(const char *text)
{
	return strcpy(must_alloc(NULL, strlen(text) + 1, 1), text);
}

/* No gnuplot runs. */
void gnuplot_set(void *to, const char *option, const char *file)
{
	(void)option;
	*(const char **)to = file;
}

/* Names of a header with the columns a, b and c; no file is read. */

bool sp_columns_is_name(const char *text)
{
	return strchr("abcd\"", *text) && *text;
}

int sp_columns_read(struct sp_columns *c, struct sp_errinfo *err)
{
	(void)err;
	require(c->input && c->header_records == 1);
	return 0;
}

static int no_column(struct sp_errinfo *err)
{
	err->code = -EINVAL;
	strcpy(err->text, "no such column");
	return -EINVAL;
}

int sp_columns_find(const struct sp_columns *c, const char *text, const char *ends, size_t *number,
		    const char **rest, struct sp_errinfo *err)
{
	const char *p = text + (*text == '"');

	(void)c;
	*number = *p ? (size_t)(*p - 'a' + 1) : 0;
	p += *p != '\0';
	p += *text == '"' && *p == '"';
	if (*number < 1 || *number > 3 || (*p && !strchr(ends, *p)))
		return no_column(err);
	*rest = p;
	return 0;
}

int sp_columns_check(const struct sp_columns *c, size_t number, struct sp_errinfo *err)
{
	(void)c;
	return number > 3 ? no_column(err) : 0;
}

void sp_columns_close(struct sp_columns *c)
{
	(void)c;
}

void columns_failed(const struct sp_errinfo *err)
{
	require(err->code && err->text[0]);
	longjmp(out, 1);
}

static void tell(const char *fmt, va_list ap)
{
	char text[256];

	require(vsnprintf(text, sizeof(text), fmt, ap) > 0);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell(fmt, ap);
	va_end(ap);
	longjmp(out, 1);
}

void die_sys(int errnum, const char *fmt, ...)
{
	va_list ap;

	(void)errnum;
	va_start(ap, fmt);
	tell(fmt, ap);
	va_end(ap);
	longjmp(out, 1);
}

void die_argument(const struct sp_errinfo *err)
{
	die("%s%s", err->text, err->where ? err->where : "");
}

void msg(const char *fmt, ...)
{
	(void)fmt;
}

void usage_error(void)
{
	longjmp(out, 1);
}

void die_usage(const char *fmt, ...)
{
	(void)fmt;
	longjmp(out, 1);
}

void help_print(const struct args *args, const char *me)
{
	(void)args;
	(void)me;
	longjmp(out, 1);
}

void usage_print(const struct args *args, const char *me)
{
	help_print(args, me);
}

void help_table(const struct args *args)
{
	help_print(args, NULL);
}

void version_print(void)
{
	longjmp(out, 1);
}

const char *quote(const char *text)
{
	return text;
}

const char *quote_file(const char *name)
{
	return name;
}

const char *quote_file_always(const char *name)
{
	return name;
}

void say_nearest(const struct sp_enum_value *names, const char *before, const char *text)
{
	require(names->name && before && text);
}

int choice_option(const char *option, const char *text, const struct sp_enum_value *table)
{
	int value;

	if (!sp_enum_parse(table, text, &value))
		return value;
	die("invalid argument %s for %s", text, option);
}

/* Judging. */

static void binary_makes_sense(const struct settings *set)
{
	const struct sp_join_opts *o = &set->opts;

	require(o->fixed_bytes[1] && o->fields && !o->csv && !o->separator && !o->types);
	for (size_t i = 0; i < o->nkeys; i++)
		require(o->keys[0][i] < set->form.nparts && o->keys[1][i] < set->form.nparts);
	for (size_t i = 0; i < o->ncolumns; i++)
		require(!o->columns[i].file || o->columns[i].field < set->form.nparts);
	for (size_t i = 0; i < set->form.nparts; i++)
		require(o->fields[i].length && !o->fields[i].reverse);
}

static void makes_sense(const struct settings *set)
{
	const struct sp_join_opts *o = &set->opts;
	bool merge = o->algorithm == SP_JOIN_MERGE;

	require(set->noperands == 2 && set->inputs[0] && set->inputs[1]);
	require(o->nkeys && o->keys[0] && o->keys[1]);
	require(!o->separator || (o->separator_bytes && o->separator_bytes <= 16));
	require(!o->csv || (o->separator_bytes == 1 && o->eol));
	require(!merge || (o->nkeys == 1 && !o->types && !o->csv && !o->semi));
	require(!o->semi || !(o->pairs || o->unpaired[0] || o->unpaired[1]));
	require(!o->ncolumns || o->columns);
	for (size_t i = 0; i < o->ncolumns; i++)
		require(o->columns[i].file <= 2);
	require(o->run.ntmpdirs && o->run.tmpdirs);
	require(!set->form.plain || merge);
	if (o->fixed_bytes[0])
		binary_makes_sense(set);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void mean_the_same(const struct settings *a, const struct settings *b)
{
	const struct sp_join_opts *x = &a->opts, *y = &b->opts;

	for (int i = 0; i < 2; i++) {
		require(same_text(a->inputs[i], b->inputs[i]) && x->unpaired[i] == y->unpaired[i]);
		require(x->keys[i][0] == y->keys[i][0]);
	}
	require(x->nkeys == 1 && y->nkeys == 1 && !y->types && !y->fixed_bytes[0]);
	require(x->ncolumns == y->ncolumns && x->auto_columns == y->auto_columns);
	for (size_t i = 0; i < x->ncolumns; i++)
		require(x->columns[i].file == y->columns[i].file &&
			x->columns[i].field == y->columns[i].field);
	require(same_text(x->filler, y->filler) && x->eol == y->eol && x->pairs == y->pairs);
	require(!x->separator == !y->separator && x->separator_bytes == y->separator_bytes &&
		!memcmp(a->form.separator, b->form.separator, sizeof(a->form.separator)));
	require(x->header == y->header && x->order == y->order && x->ignore_case == y->ignore_case);
}

static bool accepted(struct settings *set, int argc, char **argv)
{
	opterr = 0;
	if (setjmp(out))
		return false;
	options_parse(set, argc, argv);
	return true;
}

/* Parses the words of text, which are cut in place; false: they were refused. */
static bool parse(struct settings *set, char *text, bool plain_join)
{
	char *argv[WORDS_MAX + 2] = { (char[]){ "xjoin" } }, *word;
	int argc = 1;

	*set = (struct settings){ .form.plain = plain_join,
				  .common.run = &set->opts.run,
				  .opts = SP_JOIN_OPTS_INIT };
	while (argc <= WORDS_MAX && (word = strsep(&text, "\n")))
		argv[argc++] = word;
	if (!accepted(set, argc, argv))
		return false;
	makes_sense(set);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct settings as_join, as_xjoin;
	char *text[2];
	bool good;

	for (int i = 0; i < 2; i++) {
		text[i] = malloc(bytes + 1);
		require(text[i] != NULL);
		memcpy(text[i], data, bytes);
		text[i][bytes] = '\0';
	}
	good = parse(&as_join, text[0], true);
	require(parse(&as_xjoin, text[1], false) || !good);
	if (good)
		mean_the_same(&as_join, &as_xjoin);
	sp_join_form_release(&as_join.form);
	sp_join_form_release(&as_xjoin.form);
	while (nkept)
		__wrap_free(kept[nkept - 1]);
	free(text[0]);
	free(text[1]);
	return 0;
}
