/* SPDX-License-Identifier: MIT */
/*
 * Reads a document from a file.
 */
#pragma once

#include <jansson.h>
#include "report/documents.h"

/*
 * Reads a document of a kind.  The caller releases it, also after an error.  Returns 0; SP_EFORMAT
 * if the file is not such a document; or -errno.
 */
SP_MUST_CHECK int sp__report_load(json_t **doc, enum sp__document_kind kind, const char *path,
				  struct sp_errinfo *err);
