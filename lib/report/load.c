/* SPDX-License-Identifier: MIT */
/*
 * Reads a document from a file.
 */
#include <errno.h>
#include <string.h>
#include "base/err.h"
#include "base/loaded.h"
#include "base/utf8mark.h"
#include "report/load.h"
#include "report/read.h"

int sp__report_load(json_t **doc, enum sp__document_kind kind, const char *path,
		    struct sp_errinfo *err)
{
	const struct sp__document *d = &sp__documents[kind];
	int rc = sp__library_load(SP__LIB_JANSSON, err);
	json_error_t error;
	FILE *f;

	if (rc)
		return rc;
	f = fopen(path, "re");
	if (!f)
		return sp__err(err, -errno, "open", path, -1);
	errno = 0;
	sp__skip_mark(f);
	*doc = json_loadf(f, 0, &error);
	if (!*doc && ferror(f))
		rc = errno ? -errno : -EIO;
	fclose(f);
	if (rc)
		return sp__err(err, rc, "read", path, -1);
	if (!*doc)
		return sp__errf(err, SP_EFORMAT, "read", path, -1, "line %d: %s", error.line,
				error.text);
	if (strcmp(word(*doc, "schema"), d->schema) != 0 ||
	    (d->kind && strcmp(word(*doc, "kind"), d->kind) != 0) ||
	    !json_is_object(json_object_get(*doc, "config")) ||
	    !json_is_object(json_object_get(*doc, "result")))
		return sp__errf(err, SP_EFORMAT, "read", path, -1, "is not a report of %s run",
				d->tool);
	return 0;
}
