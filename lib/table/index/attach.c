/* SPDX-License-Identifier: MIT */
/*
 * Opens the index of a column (attach.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/err.h"
#include "table/index/attach.h"
#include "table/index/build.h"

#define COMMAND_BYTES 160

/* Appends an argument as a shell takes it; nothing if it does not fit, which spoils the command. */
static bool put_argument(struct sp__bytes *b, const char *text)
{
	const bool plain = *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
						       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
						       "0123456789_./+:@%,-")];
	bool good = !sp__bytes_append(b, plain ? " " : " '", plain ? 1 : 2, NULL);

	for (; good && *text; text++)
		good = *text == '\'' ? !sp__bytes_append(b, "'\\''", 4, NULL)
				     : !sp__bytes_append(b, text, 1, NULL);
	return good && (plain || !sp__bytes_append(b, "'", 1, NULL)) && b->bytes < COMMAND_BYTES;
}

int sp__tableindex_refuse(const struct sp__tablefile *f, uint32_t column, const char *path,
			  int code, const char *reason, struct sp_errinfo *err)
{
	char *own = path ? NULL : sp__tableindex_path(f, column);
	struct sp__bytes command = { 0 };
	bool whole = put_argument(&command, f->path) &&
		     put_argument(&command, f->schema.columns[column].name);

	if (whole && path)
		whole = !sp__bytes_append(&command, " -o", 3, NULL) && put_argument(&command, path);
	code = sp__errf(err, code, "open", path ? path : own, -1,
			"%s: make it with: xtable index%.*s", reason,
			whole ? (int)command.bytes : 13, whole ? command.data : " TABLE COLUMN");
	sp__bytes_release(&command, NULL);
	free(own);
	return code;
}

int sp__tableindex_number(const struct sp__index *ix, const struct sp__tablefile *f,
			  uint32_t column, const char *path, uint64_t record, uint64_t *least,
			  struct sp_errinfo *err)
{
	const bool strange = record >= ix->header.table_records;
	char reason[100];

	if (!strange && record >= *least) {
		*least = record + 1;
		return 0;
	}
	snprintf(reason, sizeof(reason), "does not fit the table: it %s record %llu",
		 strange ? "has the unknown" : "repeats", (unsigned long long)record);
	return sp__tableindex_refuse(f, column, path, SP_ECORRUPT, reason, err);
}

int sp__tableindex_misfit(const struct sp__tablefile *f, uint32_t column, const char *path,
			  uint64_t record, struct sp_errinfo *err)
{
	char reason[80];

	snprintf(reason, sizeof(reason), "does not fit the table: record %llu has another value",
		 (unsigned long long)record);
	return sp__tableindex_refuse(f, column, path, SP_ECORRUPT, reason, err);
}

/* Returns the reason for which the index is not of the column as it is; NULL: none. */
static const char *difference(const struct sp__index_header *h, const struct sp__tablefile *f,
			      uint32_t column)
{
	const struct sp__table_column *c = &f->schema.columns[column];

	if (!sp__table_has_records(&f->superblock, h->table_id, h->table_records))
		return "is the index of another table, or of another state of it";
	if (strcmp(h->key, c->name) != 0)
		return "is the index of another column";
	if (h->column_changed != c->changed)
		return "is older than the last change of the column in place, or of another copy "
		       "of "
		       "the table";
	return NULL;
}

int sp__tableindex_open(struct sp__index *ix, struct sp__tablefile *f, uint32_t column,
			const char *path, struct sp_errinfo *err)
{
	char *own = path ? NULL : sp__tableindex_path(f, column);
	const char *name = path ? path : own, *reason;
	int rc;

	*ix = (struct sp__index){ 0 };
	if (!name)
		return sp__err(err, -ENOMEM, "open", f->path, -1);
	if (access(name, F_OK) && errno == ENOENT)
		rc = sp__tableindex_refuse(f, column, path, -ENOENT, "there is no such index", err);
	else
		rc = sp__index_open_column(ix, name, &f->env);
	free(own);
	reason = rc ? NULL : difference(&ix->header, f, column);
	return reason ? sp__tableindex_refuse(f, column, path, -ESTALE, reason, err) : rc;
}
