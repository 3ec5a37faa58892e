/* SPDX-License-Identifier: MIT */
/*
 * Parses the queries of a table's workload (run/workload.h reads the lines).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "columns/schema_text.h"
#include "rec/value.h"
#include "run/workload.h"
#include "table/cost/workload.h"

static const char form[] =
	"a line must have a weight above 0 and below 1e100, then scan, get, update or append";

/* A query that is being parsed. */
struct parser {
	struct sp__query_words words;
	struct sp__table_workload *w;
	const struct sp__schema *schema;
};

static bool fail(struct parser *p, const char *reason)
{
	return sp__query_fail(&p->words, "%s", reason);
}

static bool parse_columns(struct parser *p, bool **columns)
{
	return sp__query_columns(&p->words, p->schema, sp__query_word(&p->words), columns);
}

static bool parse_share(struct parser *p, char *word, double *share)
{
	size_t bytes = word ? strlen(word) : 0;
	bool percent = bytes && word[bytes - 1] == '%';

	if (percent)
		word[--bytes] = '\0';
	if (!bytes || !sp__value_parse(&sp__value_types[SP__VALUE_F64], word, bytes, share))
		return fail(p, "where needs the share of records after its columns, such as 1%");
	*share /= percent ? 100 : 1;
	return (*share >= 0 && *share <= 1) || fail(p, "a share is from 0 to 1, or 0% to 100%");
}

static bool parse_scan(struct parser *p, struct sp__table_query *q)
{
	const char *word;

	q->share = 1;
	if (!parse_columns(p, &q->columns))
		return false;
	word = sp__query_word(&p->words);
	if (!word)
		return true;
	if (strcmp(word, "where"))
		return fail(p, "only where can follow the columns of a scan");
	return parse_columns(p, &q->where) && parse_share(p, sp__query_word(&p->words), &q->share);
}

static bool parse(struct parser *p, struct sp__table_query *q)
{
	static const char *const kinds[] = { [SP__QUERY_SCAN] = "scan",
					     [SP__QUERY_GET] = "get",
					     [SP__QUERY_UPDATE] = "update",
					     [SP__QUERY_APPEND] = "append" };
	const char *word = sp__query_word(&p->words);
	unsigned kind = 0;
	bool valid;

	while (kind <= SP__QUERY_APPEND && strcmp(word, kinds[kind]))
		kind++;
	q->kind = (enum sp__table_query_kind)kind;
	if (kind > SP__QUERY_APPEND)
		return fail(p, "a query must be a scan, get, update or append");
	if (kind == SP__QUERY_SCAN)
		valid = parse_scan(p, q);
	else
		valid = sp__query_count(
				&p->words, &q->records,
				"get, update and append need a number of records above 0") &&
			(kind == SP__QUERY_APPEND || parse_columns(p, &q->columns));
	return valid &&
	       (!sp__query_word(&p->words) || fail(p, "there is text after the end of the query"));
}

static void free_query(struct sp__table_query *q)
{
	free(q->columns);
	free(q->where);
	free(q->text);
}

static int add(void *arg, double weight, char *words, char *reason)
{
	struct parser *p = arg;
	struct sp__table_query q = { .weight = weight };

	words[strcspn(words, "\r\n")] = '\0';
	q.text = strdup(words);
	p->words = (struct sp__query_words){ words, reason, !q.text };
	if (q.text && parse(p, &q)) {
		if (SP__ARRAY_GROW_BY_ONE(p->w->queries, p->w->n)) {
			p->w->queries[p->w->n++] = q;
			return 0;
		}
		p->words.no_memory = true;
	}
	free_query(&q);
	return p->words.no_memory ? -ENOMEM : SP_ESYNTAX;
}

static struct sp__workload_reader reader(struct parser *p)
{
	return (struct sp__workload_reader){ .query = add, .arg = p, .form = form };
}

int sp__table_workload_read(struct sp__table_workload *w, const char *path,
			    const struct sp__schema *schema, struct sp_errinfo *err)
{
	struct parser p = { .w = w, .schema = schema };
	struct sp__workload_reader r = reader(&p);

	return sp__workload_read(&r, path, err);
}

int sp__table_workload_add(struct sp__table_workload *w, const char *line,
			   const struct sp__schema *schema, struct sp_errinfo *err)
{
	struct parser p = { .w = w, .schema = schema };
	struct sp__workload_reader r = reader(&p);

	return sp__workload_query(&r, line, err);
}

void sp__table_workload_free(struct sp__table_workload *w)
{
	for (size_t i = 0; i < w->n; i++)
		free_query(&w->queries[i]);
	free(w->queries);
	*w = (struct sp__table_workload){ 0 };
}
