/* SPDX-License-Identifier: MIT */
/*
 * Compares two documents of dbmbench: the cells that both have.
 *
 * Algorithm: the relative errors of both times add up by squares.
 *
 * Not modelled: changes of the machine between the runs.
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/err.h"
#include "report/doc.h"
#include "report/load.h"
#include "report/read.h"

static const struct sp_report_field row_fields[] = {
	LATER("query", WORD, "the query", .values = sp_dbm_query_values),
	LATER("selectivity", REAL, "share of the values of a2 that was asked for"),
	LATER("system", STRING, "name of the system"),
	LATER("query_a_s", REAL, "time of a query in A"),
	LATER("query_b_s", REAL, "time of a query in B"),
	LATER("ratio", REAL, "B / A"),
	LATER("ratio_low", REAL, "lower end of the interval of the ratio"),
	LATER("ratio_high", REAL, "upper end of the interval of the ratio"),
	LATER("instructions_ratio", REAL, "instructions of a query, B / A; null: not counted"),
	{ 0 },
};

const struct sp_report_field sp__dbm_compare_document[] = {
	LATER("file_a", STRING, "file of A"),
	LATER("file_b", STRING, "file of B"),
	GROUP("rows", LIST, row_fields, "cells that both runs measured", .optional = true),
	{ 0 },
};

static double value(const json_t *o, const char *key)
{
	return known(o, key) ? number(o, key) : NAN;
}

/* Returns the relative half interval of a time. */
static double error_of(const json_t *cell)
{
	return (value(cell, "query_high_s") - value(cell, "query_s")) / value(cell, "query_s");
}

static bool same(const json_t *a, const json_t *b)
{
	return !strcmp(word(a, "query"), word(b, "query")) &&
	       !strcmp(word(a, "system"), word(b, "system")) &&
	       number(a, "selectivity") == number(b, "selectivity") && number(a, "units") > 0 &&
	       number(b, "units") > 0;
}

static void put_row(struct sp__doc doc, json_t *rows, const json_t *a, const json_t *b)
{
	const double ratio = value(b, "query_s") / value(a, "query_s");
	const double half = hypot(error_of(a), error_of(b));
	struct sp__doc row = sp__doc_element(doc, rows);

	sp__doc_text(row, "query", word(a, "query"));
	sp__doc_real(row, "selectivity", number(a, "selectivity"));
	sp__doc_text(row, "system", word(a, "system"));
	sp__doc_real(row, "query_a_s", value(a, "query_s"));
	sp__doc_real(row, "query_b_s", value(b, "query_s"));
	sp__doc_real(row, "ratio", ratio);
	sp__doc_real(row, "ratio_low", ratio * exp(-half));
	sp__doc_real(row, "ratio_high", ratio * exp(half));
	sp__doc_real(row, "instructions_ratio",
		     value(b, "instructions") / value(a, "instructions"));
}

static struct sp_report *build(const char *file_a, const char *file_b, const json_t *a,
			       const json_t *b)
{
	struct sp__doc doc = sp__report_new(SP__DOC_DBM_COMPARE);
	const json_t *as = json_object_get(a, "cells"), *bs = json_object_get(b, "cells");
	const json_t *x, *y;
	json_t *rows;

	sp__doc_text(doc, "file_a", file_a);
	sp__doc_text(doc, "file_b", file_b);
	rows = sp__doc_array(doc, "rows");
	for (size_t i = 0; (x = json_array_get(as, i)); i++)
		for (size_t k = 0; (y = json_array_get(bs, k)); k++)
			if (same(x, y))
				put_row(doc, rows, x, y);
	return sp__report_done(doc);
}

int sp_report_dbm_compare(struct sp_report **report, const char *file_a, const char *file_b,
			  struct sp_errinfo *err)
{
	json_t *a = NULL, *b = NULL;
	int rc = sp__report_load(&a, SP__DOC_DBM, file_a, err);

	*report = NULL;
	if (!rc)
		rc = sp__report_load(&b, SP__DOC_DBM, file_b, err);
	if (!rc) {
		*report = build(file_a, file_b, a, b);
		if (!*report)
			rc = sp__err(err, -ENOMEM, "compare", "", -1);
	}
	json_decref(a);
	json_decref(b);
	return rc;
}
