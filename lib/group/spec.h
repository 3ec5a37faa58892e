/* SPDX-License-Identifier: MIT */
/*
 * What is grouped, and how: keys and aggregates as texts, resolved by the names of the columns.
 *
 * Each column that is read has a number among the columns; each column that is aggregated is an
 * argument, whose state is kept once for all functions of it.
 *
 * Thread rule: immutable once parsed.
 */
#pragma once

#include <spindle/group.h>
#include "base/mem.h"
#include "expr/amount.h"
#include "flow/condition.h"
#include "rec/fields.h"

/* What is kept of an argument in each group. */
enum {
	SP__KEEP_COUNT = 1, /* always */
	SP__KEEP_SUM = 2,
	SP__KEEP_MIN = 4,
	SP__KEEP_MAX = 8,
	SP__KEEP_FIRST = 16,
	SP__KEEP_LAST = 32,
	SP__KEEP_MOMENTS = 64, /* of pairs, if there is a second column */
	SP__KEEP_COUNTS = 128, /* numbers counted by buckets: of a sketch, or bins */
	/* Not in the group, but in records of their own, in this order: */
	SP__KEEP_NUMBERS = 256, /* numbers, ascending */
	SP__KEEP_WORDS = 512,	/* different texts */
	SP__KEEP_ROWS = 1024,	/* texts in the order of the input */
};
#define SP__KEEP_OF_NUMBERS (SP__KEEP_SUM | SP__KEEP_MOMENTS | SP__KEEP_COUNTS | SP__KEEP_NUMBERS)
#define SP__KEEP_LISTS (SP__KEEP_NUMBERS | SP__KEEP_WORDS | SP__KEEP_ROWS)

enum sp__group_function {
	SP__GROUP_COUNT,
	SP__GROUP_SUM,
	SP__GROUP_MEAN,
	SP__GROUP_MIN,
	SP__GROUP_MAX,
	SP__GROUP_FIRST,
	SP__GROUP_LAST,
	SP__GROUP_DISTINCT,
	SP__GROUP_VAR,
	SP__GROUP_STDDEV,
	SP__GROUP_MEDIAN,
	SP__GROUP_PERCENTILE,
	SP__GROUP_ESTIMATE, /* of a percentile */
	SP__GROUP_BIN,	    /* number `part` of a histogram */
	SP__GROUP_MODE,
	SP__GROUP_LIST,
	SP__GROUP_CORR,
	SP__GROUP_SLOPE,
	SP__GROUP_R2,
};

struct sp__group_key {
	uint32_t column;
	struct sp_keyset *order; /* encodes the field; NULL: its bytes are its order */
	char *name;
	bool number;   /* its values are compared or calculated as numbers */
	bool by_value; /* a calculated number: equal and ordered by its value, ... */
	bool reverse;  /* ... descending */
	bool member;   /* a value of JSON as it is written: equal and ordered as in xsort */
	bool binary;   /* the order encodes the whole record, which has a fixed length */
};

struct sp__group_argument {
	uint32_t column, second; /* second: UINT32_MAX without pairs */
	unsigned keep;
	/* Offsets in the state of a group; 0: not there. */
	uint32_t count, sum, min, max, first, last, moments, counts;
	/* Numbers of its lists, with SP__KEEP_NUMBERS, _WORDS and _ROWS. */
	uint32_t numbers, words, rows;
	struct sp__amount *bounds; /* of bins; ascending */
	uint32_t nbounds;
	uint32_t by; /* the first aggregate that needs numbers, for messages */
};

struct sp__group_aggregate {
	enum sp__group_function function;
	uint32_t argument;    /* UINT32_MAX: of records */
	uint32_t part, whole; /* of a percentile: part / whole of the numbers */
	char *name;
};

/* A column that is calculated. */
struct sp__group_derived {
	struct sp__expr *expr;
	char *text;
};

/* A column that depends on the rows before it, or on all rows. */
struct sp__group_running {
	uint32_t of;	 /* a column of the result: a count or a sum */
	bool percent;	 /* of the total of all groups */
	bool cumulative; /* with the rows before */
	char *name;
};

struct sp__group_spec {
	/* Not 0: so many whole records of each group, in the order of `by`, are written. */
	uint64_t largest;
	struct sp__group_key *by;
	uint32_t nby;
	uint32_t nkeys, narguments, naggregates, ncolumns, nlists, nderived, nrunning, nmembers;
	struct sp__group_key *keys;
	struct sp__group_argument *arguments;
	struct sp__group_aggregate *aggregates;
	size_t *columns; /* field of each column, ascending; SIZE_MAX: no record has it */
	struct sp__group_derived *derived; /* columns behind these */
	size_t *members; /* paths of keys that are values as written; columns behind these */
	struct sp__group_running *running; /* columns of the result behind the aggregates */
	bool pivot;			   /* the values of the last key are columns */
	bool split;			   /* a file for each group */
	struct sp__json_paths *paths; /* records are JSON: columns are paths; NULL: they are not */
	size_t record_bytes;	      /* not 0: records have this length, columns are fields */
	struct sp_key *fields;
	size_t nfields;
	struct sp__expr *where; /* condition of a record; NULL: none */
	bool grows;		/* a group has counts, which grow */
	uint32_t state_bytes;	/* of a group, a multiple of 16 */
	uint32_t key_texts;	/* offset of the texts of keys with an order; 0: none */
	uint32_t position;	/* offset of the first position of a group, and 1; 0: not there */
	uint32_t firsts;	/* offset of struct sp__group_firsts; 0: not there */
};

/* True if a group keeps the text of key i: its bytes in the order of the key are another text. */
static inline bool sp__group_keeps_text(const struct sp__group_spec *s, uint32_t i)
{
	return s->keys[i].order && (!s->largest || s->split);
}

/* Returns how many columns conditions and orders can name. */
static inline uint32_t sp__group_named(const struct sp__group_spec *s)
{
	return s->nkeys + s->naggregates;
}

/* Returns -EINVAL with the reason if options exclude each other. */
SP_MUST_CHECK int sp__group_options_check(const struct sp_group_opts *o, struct sp_errinfo *err);

/* What a user has written. */
struct sp__group_words {
	const char *const
		*keys; /* NAME[:LETTERS], NUMBER[LETTERS], EXPRESSION[:LETTERS]; as of sort */
	size_t nkeys;
	const char *aggregates; /* "FUNCTION(ARGUMENT) as NAME, ..." */
	const char *where;	/* NULL: none */
	uint64_t largest;	/* 0: aggregates */
	const char *const *by;
	size_t nby;
	const char *pivot; /* NULL: none */
	const char *const *percent;
	size_t npercent;
	const char *const *cumulative;
	size_t ncumulative;
	bool first_positions; /* keep where each group was seen first */
	bool split;	      /* a file for each group */
	size_t record_bytes;  /* of records of a fixed length; 0: others */
};

/*
 * Returns 0; -EINVAL with the reason in err; or -ENOMEM.  The caller frees s in any case.
 */
SP_MUST_CHECK int sp__group_spec_parse(struct sp__group_spec *s,
				       const struct sp__group_words *words,
				       const struct sp__column_names *names,
				       struct sp_errinfo *err);
void sp__group_spec_free(struct sp__group_spec *s);

/* An order of rows other than that of the keys. */
struct sp__group_order {
	bool first; /* of the first records of groups */
	int column; /* or by this column of the result; -1: neither */
	bool reverse;
};

/*
 * text: NULL or "key"; "first"; NAME[:r], a column of the result.  Returns 0, or -EINVAL with the
 * reason.
 */
SP_MUST_CHECK int sp__group_order_parse(struct sp__group_order *order, const char *text,
					const struct sp__group_spec *spec, struct sp_errinfo *err);

/*
 * Parses a condition of rows, whose names are those of the result's columns.  Returns 0; -EINVAL
 * with the reason; or -ENOMEM.
 */
SP_MUST_CHECK int sp__group_having_parse(struct sp__expr **having, const char *text,
					 const struct sp__group_spec *spec, struct sp_errinfo *err);

/*
 * Adds the columns of percent and cumulative: "[COLUMN] [as NAME]"; without COLUMN of the first
 * count or sum.  Returns 0; -EINVAL with the reason; or -ENOMEM.
 */
SP_MUST_CHECK int sp__group_running_parse(struct sp__group_spec *s,
					  const struct sp__group_words *words,
					  struct sp_errinfo *err);

/* Returns the number of the result's column of this name; -1: there is none. */
int sp__group_spec_find(const struct sp__group_spec *s, const char *name, size_t n);
const char *sp__group_column_name(const struct sp__group_spec *s, uint32_t column);
/*
 * Returns -EINVAL with the reason if a name of the result's columns has a byte that ends a field or
 * a line, where no quotes are possible; json: if two names are equal.
 */
SP_MUST_CHECK int sp__group_names_check(const struct sp__group_spec *s, const struct sp__cut *cut,
					char eol, bool json, struct sp_errinfo *err);
