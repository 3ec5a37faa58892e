/* SPDX-License-Identifier: MIT */
/*
 * report-schemas FOLDER: writes the JSON Schema of each kind of report, and the list of all
 * keys, from the tables of lib/report.
 *
 * Algorithm: a document is a tree of objects.  The table of the document is walked in the order in
 * which it is written: a row adds its key to the tree, as a property of JSON Schema, and a key
 * "outer.inner" to the property outer.  Documents of one schema are added to one tree.  A key that
 * is not in every document has the member OPTIONAL, which the list shows and the schema lacks.
 *
 * The list has the path of each value, as "[SCHEMA KIND] a.b[].c"; "?" follows what can be
 * missing, null or, of an array, empty.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "report/doc.h"
#include "vdisk/status.h"

#define OPTIONAL "optional"
#define ADDED "Keys may be added, and keep their meaning."
#define DRAFT "https://json-schema.org/draft/2020-12/schema"

static void fail(const char *what, const char *key)
{
	fprintf(stderr, "report-schemas: %s: %s\n", key, what);
	exit(1);
}

static void set_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, json_string(text));
}

/* The object or array of the key, which is made if there is none. */
static json_t *child(json_t *parent, const char *key, json_t *(*make)(void))
{
	if (!json_object_get(parent, key))
		json_object_set_new(parent, key, make());
	return json_object_get(parent, key);
}

static const char *type_name(enum sp_report_type type)
{
	switch (type) {
	case SP_REPORT_COUNT:
	case SP_REPORT_KNOWN:
	case SP_REPORT_SIGNED:
		return "integer";
	case SP_REPORT_REAL:
	case SP_REPORT_POSITIVE:
	case SP_REPORT_SECONDS:
	case SP_REPORT_DURATION:
	case SP_REPORT_POSITIVE_DURATION:
		return "number";
	case SP_REPORT_BOOL:
		return "boolean";
	case SP_REPORT_OBJECT:
		return "object";
	case SP_REPORT_ARRAY:
	case SP_REPORT_LIST:
	case SP_REPORT_TEXTS:
	case SP_REPORT_COUNTS:
		return "array";
	default:
		return "string";
	}
}

/* Numbers that are not negative, or above 0. */
static void set_minimum(json_t *property, enum sp_report_type type)
{
	if (type == SP_REPORT_KNOWN)
		json_object_set_new(property, "minimum", json_integer(1));
	else if (!strcmp(type_name(type), "integer") || type == SP_REPORT_SECONDS)
		json_object_set_new(property, "minimum", json_integer(0));
	if (type == SP_REPORT_POSITIVE || type == SP_REPORT_POSITIVE_DURATION)
		json_object_set_new(property, "exclusiveMinimum", json_integer(0));
}

static void set_type(json_t *property, enum sp_report_type type, bool required)
{
	const char *name = type_name(type);

	if (required)
		set_text(property, "type", name);
	else if (type == SP_REPORT_LEVEL)
		json_object_set_new(property, "type",
				    json_pack("[s, s, s]", name, "integer", "null"));
	else
		json_object_set_new(property, "type", json_pack("[s, s]", name, "null"));
	set_minimum(property, type);
}

/* Of several names of a value the first one is written. */
static void set_names(json_t *property, const struct sp_enum_value *v, bool required)
{
	json_t *names = json_array();

	for (const struct sp_enum_value *w = v; w->name; w++)
		if (!strcmp(sp_enum_name(v, w->value), w->name))
			json_array_append_new(names, json_string(w->name));
	if (!required)
		json_array_append_new(names, json_null());
	json_object_set_new(property, "enum", names);
}

static void add_fields(json_t *object, const struct sp_report_field *f);

static void set_items(json_t *property, enum sp_report_type type,
		      const struct sp_report_field *fields)
{
	json_t *items = child(property, "items", json_object);

	if (type == SP_REPORT_TEXTS || type == SP_REPORT_COUNTS) {
		set_type(items, type == SP_REPORT_TEXTS ? SP_REPORT_STRING : SP_REPORT_COUNT,
			 false);
		return;
	}
	set_text(items, "type", "object");
	add_fields(items, fields);
}

/* The property of a path below the object. */
static json_t *property_of(json_t *object, const char *path)
{
	const char *dot = strchr(path, '.');
	json_t *properties = child(object, "properties", json_object), *inner;
	char outer[64];

	if (!dot)
		return child(properties, path, json_object);
	snprintf(outer, sizeof(outer), "%.*s", (int)(dot - path), path);
	inner = json_object_get(properties, outer);
	if (!inner)
		fail("the object has no row", outer);
	return property_of(inner, dot + 1);
}

/* A value that another document has too is the same one there. */
static void describe(json_t *property, const struct sp_report_field *f, enum sp_report_type type)
{
	json_t *now = json_object(), *before = json_object_get(property, "type"), *value;
	const char *key;

	if (!before && !f->about)
		fail("has no description", f->key);
	set_type(now, type, f->required);
	if (f->values && type == SP_REPORT_WORD)
		set_names(now, f->values(), f->required);
	json_object_foreach(now, key,
			    value) if (before && !json_equal(value, json_object_get(property, key)))
		fail("differs in two documents", f->key);
	if (!before)
		set_text(property, "description", f->about);
	json_object_update(property, now);
	json_decref(now);
	if (f->optional)
		json_object_set_new(property, OPTIONAL, json_true());
}

static void add_field(json_t *object, const struct sp_report_field *f)
{
	bool elsewhere = f->type == SP_REPORT_NULL || f->type == SP_REPORT_GROUP;
	enum sp_report_type type = elsewhere ? f->as : f->type;
	json_t *property = property_of(object, f->key);

	if (f->required && !json_object_get(property, "type"))
		json_array_append_new(child(object, "required", json_array), json_string(f->key));
	describe(property, f, type);
	if (!strcmp(type_name(type), "array"))
		set_items(property, type, f->fields);
	else if (f->fields)
		add_fields(property, f->fields);
}

static void add_fields(json_t *object, const struct sp_report_field *f)
{
	for (; f->type != SP_REPORT_END; f++)
		if (f->key)
			add_field(object, f);
		else
			add_fields(object, f->fields);
}

/* What every report has. */
static void add_head(json_t *tree, const struct sp__document *d)
{
	static const struct sp_report_field head[] = {
		LATER("schema", TEXT, "kind of report and its number", .required = true),
		LATER("tool", TEXT, "tool that wrote the report", .required = true),
		LATER("version", TEXT, "version of Spindle", .required = true),
		{ 0 },
	};
	const struct sp_report_field *tool = &head[1];
	json_t *property;

	if (!json_object_get(tree, "properties"))
		add_field(tree, head);
	json_object_set_new(property_of(tree, "schema"), "const", json_string(d->schema));
	if (!d->tool)
		return;
	add_fields(tree, tool);
	json_object_set_new(property_of(tree, "tool"), "const", json_string(d->tool));
	if (!d->kind)
		return;
	property = property_of(tree, "kind");
	set_text(property, "description", "kind of measurement");
	json_array_append_new(child(property, "enum", json_array), json_string(d->kind));
}

static void list(const json_t *property, const char *path, const char *head, FILE *out)
{
	json_t *inner = json_object_get(property, "properties");
	const json_t *items = json_object_get(property, "items");
	const char *key, *mark = json_object_get(property, OPTIONAL) ? "?" : "";
	json_t *member;
	char longer[256];

	if (items) {
		snprintf(longer, sizeof(longer), "%s[]%s", path, mark);
		list(items, longer, head, out);
	} else if (!inner) {
		fprintf(out, "[%s] %s%s\n", head, path, mark);
	}
	json_object_foreach(inner, key, member)
	{
		snprintf(longer, sizeof(longer), "%s%s%s%s", path, mark, *path ? "." : "", key);
		list(member, longer, head, out);
	}
}

static void write_list(const struct sp__document *d, const struct sp_report_field *fields,
		       FILE *out)
{
	json_t *tree = json_object();
	char head[128];

	add_head(tree, d);
	add_fields(tree, fields);
	snprintf(head, sizeof(head), "%s%s%s", d->schema, d->kind ? " " : "",
		 d->kind ? d->kind : "");
	list(tree, "", head, out);
	json_decref(tree);
}

static void drop_marks(json_t *schema)
{
	json_t *member;
	const char *key;

	json_object_del(schema, OPTIONAL);
	json_object_foreach(json_object_get(schema, "properties"), key, member) drop_marks(member);
	if (json_object_get(schema, "items"))
		drop_marks(json_object_get(schema, "items"));
}

static FILE *create(const char *folder, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	if (!f)
		fail("cannot be written", path);
	return f;
}

/* name: "spindle.sort/1". */
static void write_schema(const char *folder, const char *name, json_t *tree)
{
	const char *about = json_object_get(json_object_get(tree, "properties"), "tool")
				    ? "A report of Spindle; spindle-report(5). " ADDED
				    : "The status file of vdisk; vdisk(1). " ADDED;
	const char *slash = strchr(name, '/'), *kind = strchr(name, '.') + 1;
	char file[128];
	json_t *schema;
	FILE *out;

	snprintf(file, sizeof(file), "urn:spindle:%.*s:%s", (int)(slash - kind), kind, slash + 1);
	schema = json_pack("{ss ss ss ss ss}", "$schema", DRAFT, "$id", file, "title", name,
			   "description", about, "type", "object");
	drop_marks(tree);
	json_object_update(schema, tree);
	snprintf(file, sizeof(file), "%.*s-%s.json", (int)(slash - name), name, slash + 1);
	out = create(folder, file);
	if (json_dumpf(schema, out, JSON_INDENT(1)) || putc('\n', out) == EOF || fclose(out))
		fail("cannot be written", file);
	json_decref(schema);
}

static void add_document(json_t *schemas, const struct sp__document *d,
			 const struct sp_report_field *fields, FILE *keys)
{
	json_t *tree = child(schemas, d->schema, json_object);

	add_head(tree, d);
	add_fields(tree, fields);
	write_list(d, fields, keys);
}

int main(int argc, char **argv)
{
	static const struct sp__document vdisk = { STATUS_SCHEMA, NULL, NULL };
	json_t *schemas = json_object(), *tree;
	const char *name;
	FILE *keys;

	if (argc != 2)
		fail("usage", "report-schemas FOLDER");
	keys = create(argv[1], "keys");
	for (int i = 0; i < SP__DOC_COUNT_; i++)
		add_document(schemas, &sp__documents[i], sp__document_fields[i], keys);
	add_document(schemas, &vdisk, status_fields, keys);
	if (fclose(keys))
		fail("cannot be written", "keys");
	json_object_foreach(schemas, name, tree) write_schema(argv[1], name, tree);
	json_decref(schemas);
	return 0;
}
