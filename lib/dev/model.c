/* SPDX-License-Identifier: MIT */
/*
 * Loads models: finds the text, and reads the fields that all kinds have.  The build puts the
 * shipped models into the library (scripts/embed-models).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/loaded.h"
#include "dev/device.h"
#include "dev/model.h"
#include "dev/model_json.h"

static const char *const kinds[] = { "rotating", "linear", "flash", "mems", NULL };
static int (*const parsers[])(struct sp__jobj *,
			      struct sp__model *) = { sp__drive_parse, sp__linear_parse,
						      sp__flash_parse, sp__mems_parse };

static const char *shipped_text(const char *name)
{
	for (const struct sp__shipped *s = sp__shipped_models; s->name; s++) {
		if (!strcmp(s->name, name))
			return s->text;
	}
	return NULL;
}

static int unknown(const char *name, struct sp_errinfo *err)
{
	char list[SP_ERRINFO_TEXT_MAX] = "";
	size_t len = 0;

	for (const struct sp__shipped *s = sp__shipped_models; s->name; s++)
		len += (size_t)snprintf(list + len, len < sizeof(list) ? sizeof(list) - len : 0,
					"%s%s", len ? ", " : "", s->name);
	return sp__errf(err, -ENOENT, "model", name, -1, "no such model; known are %s", list);
}

/* Returns the name of a model: "dir/x.json" is called x unless the file has a name. */
static char *name_of(const char *file, const char *given)
{
	const char *base = strrchr(file, '/');
	char *name, *dot;

	if (given)
		return strdup(given);
	name = strdup(base ? base + 1 : file);
	dot = name ? strrchr(name, '.') : NULL;
	if (dot && dot > name)
		*dot = 0;
	return name;
}

static void queue(struct sp__jobj *top, struct sp__model *m)
{
	static const char *const policies[] = { "fifo", "sptf", NULL };
	struct sp__jobj o;

	m->window = 1;
	m->window_policy = SP__WINDOW_FIFO;
	if (!sp__jchild(&o, top, "queue"))
		return;
	m->window = (unsigned)sp__jint(&o, "depth", 1, 65536, 1);
	m->window_policy = (enum sp__window_policy)sp__jword(&o, "policy", policies, 0);
	m->window_age_ns = sp__jms(&o, "age_ms", 0);
	if (m->window_age_ns && m->window_policy != SP__WINDOW_SPTF)
		sp__jfail(&o, "age_ms", "without the policy sptf");
	top->rc = sp__jclose(&o);
}

static void host(struct sp__jobj *top, struct sp__model *m)
{
	struct sp__jobj o;

	m->cpu_compare_ns = 50;
	m->cpu_record_ns = 100;
	m->cpu_value_ns = 5;
	m->cpu_copy_ps = 500;
	m->cpu_request_ns = 5000;
	if (!sp__jchild(&o, top, "host"))
		return;
	m->cpu_compare_ns = (uint32_t)sp__jint(&o, "compare_ns", 0, 1000000, m->cpu_compare_ns);
	m->cpu_record_ns = (uint32_t)sp__jint(&o, "record_ns", 0, 1000000, m->cpu_record_ns);
	m->cpu_value_ns = (uint32_t)sp__jint(&o, "value_ns", 0, 1000000, m->cpu_value_ns);
	m->cpu_copy_ps = (uint32_t)sp__jint(&o, "copy_ps", 0, 1000000000, m->cpu_copy_ps);
	m->cpu_request_ns = (uint32_t)sp__jint(&o, "request_ns", 0, 1000000000, m->cpu_request_ns);
	top->rc = sp__jclose(&o);
}

static int parse(struct sp__jobj *o, struct sp__model *m)
{
	const char *schema = sp__jstring(o, "schema"), *name = sp__jstring(o, "name");
	const char *about = sp__jstring(o, "about");
	int kind;

	sp__jstring(o, "note");
	if (schema && strcmp(schema, "spindle.model/1"))
		sp__jfail(o, "schema", "'%.40s' is not spindle.model/1", schema);
	kind = sp__jword(o, "kind", kinds, 0);
	m->block_bytes = (uint32_t)sp__jint(o, "block_bytes", 1, 1 << 20, 512);
	if (!o->rc && (m->block_bytes & (m->block_bytes - 1)))
		sp__jfail(o, "block_bytes", "%u is not a power of two", m->block_bytes);
	if (name && !*name)
		sp__jfail(o, "name", "is empty");
	m->lanes = m->drives = m->queues = 1;
	m->name = name_of(o->file, name);
	m->about = strdup(about ? about : "");
	if (!m->name || !m->about)
		return sp__err(o->err, -ENOMEM, "malloc", o->file, -1);
	queue(o, m);
	host(o, m);
	if (!o->rc)
		o->rc = parsers[kind](o, m);
	if (!o->rc && m->blocks > SP__MODEL_BYTES_MAX / m->block_bytes)
		sp__jfail(o, "total_blocks", "%llu blocks of %u bytes are more than 2^62 bytes",
			  (unsigned long long)m->blocks, m->block_bytes);
	return sp__jclose(o);
}

/* Makes a model of a document, which it takes over. */
static int from_document(struct sp__model **out, const char *file, json_t *doc,
			 struct sp_errinfo *err)
{
	struct sp__model *m = calloc(1, sizeof(*m));
	struct sp__jobj o;
	int rc;

	sp__jopen(&o, doc, file, "", err);
	if (!m)
		rc = sp__err(err, -ENOMEM, "malloc", file, -1);
	else
		rc = o.rc ? o.rc : parse(&o, m);
	json_decref(doc);
	if (rc)
		sp__model_free(m);
	else
		*out = m;
	return rc;
}

int sp__model_parse(struct sp__model **m, const char *file, const char *text, size_t bytes,
		    struct sp_errinfo *err)
{
	json_error_t cause;
	int rc = sp__library_load(SP__LIB_JANSSON, err);
	json_t *doc;

	*m = NULL;
	if (rc)
		return rc;
	doc = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &cause);
	rc = sp__json_result(doc, file, &cause, err);
	return rc ? rc : from_document(m, file, doc, err);
}

/* The text is correct, so a failure is a lack of memory, whatever the parser makes of it. */
static int parse_shipped(struct sp__model **m, const char *name, const char *text,
			 struct sp_errinfo *err)
{
	int rc = sp__library_load(SP__LIB_JANSSON, err);

	if (rc)
		return rc;
	rc = sp__model_parse(m, name, text, strlen(text), NULL);
	return rc ? sp__err(err, -ENOMEM, "malloc", name, -1) : 0;
}

int sp__model_load(struct sp__model **m, const char *name, struct sp_errinfo *err)
{
	size_t len = strlen(name);
	const char *text;
	json_t *doc;
	int rc;

	*m = NULL;
	if (!strchr(name, '/') && !(len > 5 && !strcmp(name + len - 5, ".json"))) {
		text = shipped_text(name);
		return text ? parse_shipped(m, name, text, err) : unknown(name, err);
	}
	rc = sp__json_load(&doc, name, err);
	return rc ? rc : from_document(m, name, doc, err);
}

void sp__model_free(struct sp__model *m)
{
	if (!m)
		return;
	if (m->ops && m->impl)
		m->ops->free(m->impl);
	free(m->name);
	free(m->about);
	free(m);
}

int sp__device_open(struct sp__device *d, const struct sp__model *m)
{
	*d = (struct sp__device){ .model = m };
	return m->ops->open ? m->ops->open(m, &d->state) : 0;
}

void sp__device_close(struct sp__device *d)
{
	if (d->state)
		d->model->ops->close(d->state);
	d->state = NULL;
}

uint64_t sp__device_drain(const struct sp__device *d, uint64_t now_ns)
{
	return d->model->ops->drain ? d->model->ops->drain(d->model, d->state, now_ns) : now_ns;
}
