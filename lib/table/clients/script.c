/* SPDX-License-Identifier: MIT */
/* Reads the workload of clients, draws records, and makes values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/keyval.h"
#include "base/minmax.h"
#include "rec/value.h"
#include "table/clients/script.h"

static uint64_t draw(const struct sp__client_rows *r, uint64_t records, struct sp__rng *rng)
{
	switch (r->kind) {
	case SP__ROWS_NURAND: /* TPC-C, clause 2.1.6, with C = 0 */
		return (sp__rng_below(rng, r->n + 1) | sp__rng_below(rng, records)) % records;
	case SP__ROWS_ZIPF:
		return sp__ranks_next(&r->ranks, rng);
	case SP__ROWS_LAST:
		return records - 1 - sp__rng_below(rng, sp__min(r->n, records));
	default:
		return sp__rng_below(rng, records);
	}
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return SP__ORDER(*x, *y);
}

size_t sp__client_rows_draw(const struct sp__client_step *step, uint64_t records,
			    struct sp__rng *rng, uint64_t *rows)
{
	size_t n = 0;

	for (uint64_t i = 0; i < step->records; i++)
		rows[i] = draw(&step->rows, records, rng);
	qsort(rows, step->records, sizeof(*rows), by_number);
	for (uint64_t i = 0; i < step->records; i++)
		if (!n || rows[n - 1] != rows[i])
			rows[n++] = rows[i];
	return n;
}

/* Writes the low bytes of a number, little-endian. */
static void put(uint8_t *value, uint64_t number, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		value[i] = (uint8_t)(number >> 8 * i);
}

/* NULL is the least signed or the greatest unsigned integer, so numbers stay below 2^(bits-1). */
static uint64_t fit(uint64_t number, uint32_t bytes)
{
	return number % ((UINT64_C(1) << (8 * bytes - 1)) - 1);
}

void sp__client_value(const struct sp__column *column, uint64_t number, uint8_t *value)
{
	const struct sp__value_type *t = &column->type;
	const double real = (double)(number % (1u << 24));
	const float narrow = (float)real;
	char text[24];
	int n;

	switch (t->kind) {
	case 'f':
		memcpy(value, t->bytes == 4 ? (const void *)&narrow : &real, t->bytes);
		break;
	case 'c':
		n = snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
		memset(value, 0, t->bytes);
		memcpy(value, text, sp__min((size_t)n, t->bytes));
		break;
	case 'w':
		put(value, column->words.n ? 1 + number % column->words.n : 0, t->bytes);
		break;
	case 'D':
		put(value, number % 100000, t->bytes);
		break;
	case 'T':
		put(value, number % UINT64_C(1000000000000000), t->bytes);
		break;
	default:
		put(value, fit(number, t->bytes), t->bytes);
	}
}

#define INDEX_READS_MAX 16
#define THINK_MAX_NS UINT64_C(1000000000000000)

struct parser {
	struct sp__query_words words;
	struct sp__client_script *script;
	const struct sp__client_table_name *tables;
	unsigned ntables;
};

static bool no_memory(struct parser *p)
{
	p->words.no_memory = true;
	return false;
}

static bool find_table(struct parser *p, const char *name, size_t bytes, unsigned *table)
{
	for (*table = 0; *table < p->ntables; ++*table) {
		const char *own = p->tables[*table].name;

		if (strlen(own) == bytes && !memcmp(own, name, bytes))
			return true;
	}
	return sp__query_fail(&p->words, "there is no table '%.*s'",
			      bytes < SP__QUERY_WORD_SHOWN ? (int)bytes : SP__QUERY_WORD_SHOWN,
			      name);
}

static bool is_text(const struct parser *p, const struct sp__client_step *s, uint32_t column)
{
	return p->tables[s->table].schema->columns[column].type.kind == 't';
}

static bool refuse_texts(struct parser *p, const struct sp__client_step *s)
{
	const struct sp__schema *schema = p->tables[s->table].schema;

	for (uint32_t i = 0; i < schema->n; i++)
		if (is_text(p, s, i) && (!s->columns || s->columns[i]))
			return sp__query_fail(
				&p->words,
				"column '%.40s' is a text: clients use columns of fixed "
				"width alone",
				schema->columns[i].name);
	return true;
}

/* Takes TABLE.COLUMNS, or COLUMNS if there is one table. */
static bool parse_columns(struct parser *p, struct sp__client_step *s)
{
	char *list = sp__query_word(&p->words);
	size_t bytes = list ? strcspn(list, ".\"") : 0;

	if (list && list[bytes] == '.') {
		if (!find_table(p, list, bytes, &s->table))
			return false;
		list += bytes + 1;
	} else if (p->ntables > 1) {
		return sp__query_fail(&p->words,
				      "'%.40s': columns of several tables are "
				      "TABLE.COLUMNS",
				      list ? list : "");
	}
	return sp__query_columns(&p->words, p->tables[s->table].schema, list, &s->columns) &&
	       refuse_texts(p, s);
}

static bool parse_table(struct parser *p, struct sp__client_step *s)
{
	const char *word = sp__query_word(&p->words);

	return find_table(p, word ? word : "", word ? strlen(word) : 0, &s->table) &&
	       (s->kind == SP__STEP_DELETE || refuse_texts(p, s));
}

static bool parse_theta(struct parser *p, struct sp__client_rows *r, uint64_t records)
{
	const char *word = sp__query_word(&p->words);
	double theta;

	if (!word ||
	    !sp__value_parse(&sp__value_types[SP__VALUE_F64], word, strlen(word), &theta) ||
	    !(theta >= 0 && theta <= 10))
		return sp__query_fail(&p->words, "zipf needs an exponent from 0 to 10");
	sp__ranks_init(&r->ranks, records, theta);
	return true;
}

static bool parse_rows(struct parser *p, struct sp__client_step *s,
		       const struct sp__client_step *before)
{
	static const char *const kinds[] = { "uniform", "nurand", "zipf", "last", "same" };
	const uint64_t records = p->tables[s->table].records;
	const char *word = sp__query_word(&p->words);
	struct sp__client_rows *r = &s->rows;
	unsigned kind = 0;

	if (!records)
		return sp__query_fail(&p->words, "table '%.40s' has no records",
				      p->tables[s->table].name);
	if (!word)
		return true;
	while (kind <= SP__ROWS_SAME && strcmp(word, kinds[kind]))
		kind++;
	r->kind = (enum sp__client_rows_kind)kind;
	if (kind > SP__ROWS_SAME)
		return sp__query_fail(&p->words,
				      "'%.40s': records are uniform, nurand A, zipf THETA, "
				      "last N or same",
				      word);
	if (kind == SP__ROWS_ZIPF)
		return parse_theta(p, r, records);
	if (kind == SP__ROWS_SAME &&
	    (!before || before->table != s->table || before->records != s->records ||
	     before->kind == SP__STEP_SCAN))
		return sp__query_fail(
			&p->words,
			"same needs an earlier step on as many records of the same table");
	if (kind != SP__ROWS_NURAND && kind != SP__ROWS_LAST)
		return true;
	if (!sp__query_count(&p->words, &r->n, "nurand and last need a number above 0"))
		return false;
	return kind == SP__ROWS_NURAND || r->n <= records ||
	       sp__query_fail(&p->words, "the table has %llu records, not %llu",
			      (unsigned long long)records, (unsigned long long)r->n);
}

static bool parse_records(struct parser *p, struct sp__client_step *s)
{
	static const char reason[] =
		"get, update, insert and delete need a number of records from 1 to 100000";

	return sp__query_count(&p->words, &s->records, reason) &&
	       (s->records <= SP__STEP_RECORDS_MAX || sp__query_fail(&p->words, "%s", reason));
}

static bool parse_index(struct parser *p, struct sp__client_step *s, const char **word)
{
	uint64_t n;

	if (!*word || strcmp(*word, "index"))
		return true;
	if (!sp__query_count(&p->words, &n, "index needs a number of reads from 1 to 16"))
		return false;
	if (n > INDEX_READS_MAX)
		return sp__query_fail(&p->words, "a step has at most %d reads of an index",
				      INDEX_READS_MAX);
	s->index_reads = (unsigned)n;
	*word = sp__query_word(&p->words);
	return true;
}

static bool parse_step(struct parser *p, struct sp__client_step *s,
		       const struct sp__client_step *before)
{
	static const char *const kinds[] = { "scan", "get", "update", "insert", "delete" };
	const char *word = sp__query_word(&p->words);
	unsigned kind = 0;

	if (!parse_index(p, s, &word))
		return false;
	while (word && kind <= SP__STEP_DELETE && strcmp(word, kinds[kind]))
		kind++;
	s->kind = (enum sp__client_step_kind)kind;
	if (!word || kind > SP__STEP_DELETE)
		return sp__query_fail(
			&p->words, "'%.40s': a step must be a scan, get, update, insert or delete",
			word ? word : "");
	if (kind != SP__STEP_SCAN && !parse_records(p, s))
		return false;
	if (!(kind <= SP__STEP_UPDATE ? parse_columns(p, s) : parse_table(p, s)))
		return false;
	if (kind != SP__STEP_SCAN && kind != SP__STEP_INSERT && !parse_rows(p, s, before))
		return false;
	word = sp__query_word(&p->words);
	return !word ||
	       sp__query_fail(&p->words, "'%.40s': unexpected text after the end of a step", word);
}

/* Finds the end of a step: a semicolon that is not in quotes, or the end of the line. */
static char *step_end(char *at)
{
	for (bool quoted = false; *at && (quoted || *at != ';'); at++)
		quoted ^= *at == '"';
	return at;
}

static bool parse_line(struct parser *p, struct sp__client_line *l)
{
	char *end;

	for (char *at = p->words.at;; at = end + 1) {
		struct sp__client_step *s;
		bool last;

		end = step_end(at);
		last = !*end;
		*end = '\0';
		p->words.at = at;
		if (!SP__ARRAY_GROW_BY_ONE(l->steps, l->n))
			return no_memory(p);
		s = &l->steps[l->n++];
		*s = (struct sp__client_step){ 0 };
		if (!parse_step(p, s, l->n > 1 ? s - 1 : NULL))
			return false;
		if (last)
			return true;
	}
}

static bool parse_think(struct parser *p, uint64_t *ns)
{
	const char *word = sp__query_word(&p->words);

	if (!word)
		return true;
	if (strcmp(word, "think"))
		return sp__query_fail(&p->words,
				      "'%.40s': only think can follow the number of clients", word);
	word = sp__query_word(&p->words);
	if (!word || !sp__number_parse(word, sp__unit_time, 0, THINK_MAX_NS, ns))
		return sp__query_fail(&p->words, "think needs a time, such as 10ms");
	word = sp__query_word(&p->words);
	return !word ||
	       sp__query_fail(&p->words, "'%.40s': unexpected text after the think time", word);
}

static struct sp__client_kind *add_kind(struct parser *p, unsigned clients)
{
	struct sp__client_script *s = p->script;

	if (!SP__ARRAY_GROW_BY_ONE(s->kinds, s->n)) {
		p->words.no_memory = true;
		return NULL;
	}
	s->clients += clients;
	s->kinds[s->n] = (struct sp__client_kind){ .clients = clients };
	return &s->kinds[s->n++];
}

/* Takes the rest of a line `client N [think TIME]`. */
static bool parse_kind(struct parser *p)
{
	static const char reason[] =
		"client needs a number; all clients together are at most 10000";
	struct sp__client_script *s = p->script;
	struct sp__client_kind *k;
	uint64_t n;

	if (!sp__query_count(&p->words, &n, reason))
		return false;
	if (n > SP__CLIENTS_MAX - s->clients)
		return sp__query_fail(&p->words, "%s", reason);
	if (s->n && !s->kinds[s->n - 1].n)
		return sp__query_fail(&p->words, "the preceding clients have no transactions");
	k = add_kind(p, (unsigned)n);
	return k && parse_think(p, &k->think_ns);
}

static void free_line(struct sp__client_line *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->steps[i].columns);
	free(l->steps);
	free(l->text);
}

static bool add_line(struct parser *p, double weight, const char *text)
{
	struct sp__client_line l = { .weight = weight, .text = strdup(text) };
	struct sp__client_kind *k;

	if (!l.text)
		return no_memory(p);
	if (!parse_line(p, &l)) {
		free_line(&l);
		return false;
	}
	k = p->script->n ? &p->script->kinds[p->script->n - 1] : add_kind(p, 1);
	if (!k || !SP__ARRAY_GROW_BY_ONE(k->lines, k->n)) {
		free_line(&l);
		return no_memory(p);
	}
	k->lines[k->n++] = l;
	k->weights += weight;
	return true;
}

static int add(void *arg, double weight, char *words, char *reason)
{
	struct parser *p = arg;
	const size_t bytes = strcspn(words, " \t\r\n");
	bool valid;

	words[strcspn(words, "\r\n")] = '\0';
	p->words = (struct sp__query_words){ .at = words, .reason = reason };
	if (bytes == strlen("client") && !memcmp(words, "client", bytes)) {
		p->words.at += bytes;
		valid = parse_kind(p);
	} else {
		valid = add_line(p, weight, words);
	}
	return valid ? 0 : p->words.no_memory ? -ENOMEM : SP_ESYNTAX;
}

static struct sp__workload_reader reader(struct parser *p)
{
	return (struct sp__workload_reader){
		.query = add,
		.arg = p,
		.form = "a line must begin with client, or with a weight above 0 and below 1e100 "
			"and then steps"
	};
}

int sp__client_script_read(struct sp__client_script *s, const char *path,
			   const struct sp__client_table_name *tables, unsigned ntables,
			   struct sp_errinfo *err)
{
	struct parser p = { .script = s, .tables = tables, .ntables = ntables };
	const struct sp__workload_reader r = reader(&p);
	int rc = sp__workload_read(&r, path, err);

	if (!rc && !s->kinds[s->n - 1].n)
		rc = sp__errf(err, SP_ESYNTAX, "read", path, -1,
			      "the last clients have no transactions");
	return rc;
}

int sp__client_script_add(struct sp__client_script *s, const char *line,
			  const struct sp__client_table_name *tables, unsigned ntables,
			  struct sp_errinfo *err)
{
	struct parser p = { .script = s, .tables = tables, .ntables = ntables };
	const struct sp__workload_reader r = reader(&p);

	return sp__workload_query(&r, line, err);
}

void sp__client_script_free(struct sp__client_script *s)
{
	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->kinds[i].n; k++)
			free_line(&s->kinds[i].lines[k]);
		free(s->kinds[i].lines);
	}
	free(s->kinds);
	*s = (struct sp__client_script){ 0 };
}
