/* SPDX-License-Identifier: MIT */
/*
 * Reads workloads as text, one query per line.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/utf8mark.h"
#include "base/whole.h"
#include "rec/value.h"
#include "run/workload.h"

#define LINE_MAX_BYTES 4096
#define WEIGHT_END 1e100 /* keeps sums of weights and of weighted times finite */
#define BLANKS " \t\r\n"

/* Parses the weight before a query, if there is one.  False: it is not a weight. */
static bool take_weight(double *weight, char **words)
{
	const struct sp__value_type *type = &sp__value_types[SP__VALUE_F64];
	char *text = *words + strspn(*words, BLANKS);
	size_t bytes = strcspn(text, BLANKS);

	*weight = 1;
	*words = text;
	if (isalpha((unsigned char)*text))
		return true;
	*words += bytes + strspn(text + bytes, BLANKS);
	return **words && sp__value_parse(type, text, bytes, weight) && *weight > 0 &&
	       *weight < WEIGHT_END;
}

/* Takes the query of a line.  Returns 1, or 0 if the line is empty, or an error. */
static int take(const struct sp__workload_reader *r, char *line, char *reason)
{
	double weight;
	int rc;

	line[strcspn(line, "#")] = '\0';
	if (!line[strspn(line, BLANKS)])
		return 0;
	if (!take_weight(&weight, &line)) {
		snprintf(reason, SP__QUERY_REASON, "%s", r->form);
		return SP_ESYNTAX;
	}
	rc = r->query(r->arg, weight, line, reason);
	return rc ? rc : 1;
}

static int read_lines(const struct sp__workload_reader *r, FILE *f, const char *path,
		      struct sp_errinfo *err)
{
	uint64_t file_bytes = sp__file_bytes(fileno(f));
	char line[LINE_MAX_BYTES], reason[SP__QUERY_REASON] = "";
	bool any = false;
	int rc;

	sp__skip_mark(f);
	for (unsigned long n = 1; fgets(line, sizeof(line), f); n++) {
		rc = take(r, line, reason);
		any |= rc > 0;
		if (rc < 0)
			return reason[0] ? sp__errf(err, rc, "read", path, -1, "line %lu: %s", n,
						    reason)
					 : sp__err(err, rc, "read", path, -1);
	}
	if (ferror(f))
		return sp__err(err, -errno, "read", path, -1);
	rc = sp__check_uncut(fileno(f), file_bytes, path, err);
	if (rc)
		return rc;
	return any ? 0 : sp__errf(err, SP_ESYNTAX, "read", path, -1, "the file has no queries");
}

int sp__workload_read(const struct sp__workload_reader *r, const char *path, struct sp_errinfo *err)
{
	FILE *f = fopen(path, "re");
	int rc;

	if (!f)
		return sp__err(err, -errno, "open", path, -1);
	rc = read_lines(r, f, path, err);
	fclose(f);
	return rc;
}

int sp__workload_query(const struct sp__workload_reader *r, const char *query,
		       struct sp_errinfo *err)
{
	char *line = strdup(query), reason[SP__QUERY_REASON] = "";
	int rc = line ? take(r, line, reason) : -ENOMEM;

	free(line);
	if (rc > 0)
		return 0;
	if (!rc)
		snprintf(reason, sizeof(reason), "the query is empty");
	if (rc != -ENOMEM)
		rc = SP_ESYNTAX;
	return reason[0] ? sp__errf(err, rc, "parse", "", -1, "query '%s': %s", query, reason)
			 : sp__err(err, rc, "parse", "", -1);
}
