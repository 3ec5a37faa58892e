/* SPDX-License-Identifier: MIT */
/*
 * Records and describes errors.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <spindle/enum.h>
#include "base/err.h"

static const struct sp_enum_value texts[] = {
	{ "input is not in the stated format", SP_EFORMAT },
	{ "not enough memory allowed", SP_EBUDGET },
	{ "data read back differs from data written", SP_ECORRUPT },
	{ "operation not allowed in this state", SP_ESTATE },
	{ "not supported", SP_EUNSUP },
	{ "invalid specification", SP_ESYNTAX },
	{ "helper program failed", SP_ECHILD },
	{ "records were lost or doubled: this is a fault of Spindle, not of the input",
	  SP_EBALANCE },
	{ "io_uring gets no thread: the limit on processes is reached", SP_ETHREAD },
	{ NULL, 0 },
};

const char *sp_strerror(int code)
{
	const char *text = sp_enum_name(texts, code);

	if (!text && code < 0 && code > SP_EFORMAT)
		text = strerror(-code);
	return text ? text : "unknown error";
}

/* Returns true if err had no error before. */
static bool fill(struct sp_errinfo *err, int code, const char *op, const char *path,
		 long long offset, const char *fmt, va_list ap)
{
	int none = 0;

	/* If several threads fail, the first one claims err. */
	if (!err || !__atomic_compare_exchange_n(&err->code, &none, code, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
		return false;
	err->op = op;
	err->offset = offset;
	snprintf(err->path, sizeof(err->path), "%s", path ? path : "");
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	return true;
}

void sp_no_effects_add(struct sp_no_effects *to, const char *option, const char *reason, ...)
{
	struct sp_no_effect *e = &to->list[to->n];
	va_list ap;

	for (size_t i = 0; i < to->n; i++)
		if (!strcmp(to->list[i].option, option))
			return;
	if (to->n == SP_NO_EFFECTS_MAX)
		return;
	to->n++;
	snprintf(e->option, sizeof(e->option), "%s", option);
	va_start(ap, reason);
	vsnprintf(e->reason, sizeof(e->reason), reason, ap);
	va_end(ap);
}

int sp__errf(struct sp_errinfo *err, int code, const char *op, const char *path, long long offset,
	     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, code, op, path, offset, fmt, ap);
	va_end(ap);
	return code;
}

int sp__invalid(struct sp_errinfo *err, const char *where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (fill(err, -EINVAL, "parse", NULL, -1, fmt, ap))
		err->where = where;
	va_end(ap);
	return -EINVAL;
}

int sp__err(struct sp_errinfo *err, int code, const char *op, const char *path, long long offset)
{
	return sp__errf(err, code, op, path, offset, "%s", "");
}
