/* SPDX-License-Identifier: MIT */
/*
 * Streams of Arrow with random columns, of which members and bytes are changed: a load is an error
 * with a reason and without a table, or has the values that a naive reader finds; the table as a
 * stream of Arrow then makes an equal one.  Buffers are as long as the arrays say, since nobody
 * can check that, so that the address sanitizer sees what is read behind them.
 *
 * An input is the number of columns, 6 bytes for each (format, dictionary, offset, NULLs, random
 * numbers, a wild mode), and a list of changes of 5 bytes: array, member, where, value, sign.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/tablearrow.h>
#include "base/mem.h"
#include "base/rng.h"
#include "columns/arrow_formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define ROWS 5
#define COLUMNS_MAX 4
#define WORDS 3
#define BUFFERS 4
#define DATA_MAX 65536

/* width: bytes of a value, an offset or a view; 0: a bit. */
static const struct format {
	const char *format;
	unsigned width;
	enum { NUMBER, BITS, TEXT, VIEW, OTHER } form;
} formats[] = {
	{ "c", 1, NUMBER },	 { "s", 2, NUMBER },	   { "i", 4, NUMBER },
	{ "l", 8, NUMBER },	 { "C", 1, NUMBER },	   { "S", 2, NUMBER },
	{ "I", 4, NUMBER },	 { "L", 8, NUMBER },	   { "b", 0, BITS },
	{ "u", 4, TEXT },	 { "U", 8, TEXT },	   { "z", 4, TEXT },
	{ "Z", 8, TEXT },	 { "vu", 16, VIEW },	   { "vz", 16, VIEW },
	{ "f", 4, OTHER },	 { "g", 8, OTHER },	   { "e", 2, OTHER },
	{ "d:5,2", 16, OTHER },	 { "d:7,3,32", 4, OTHER }, { "d:30,-2,256", 32, OTHER },
	{ "tdD", 4, OTHER },	 { "tdm", 8, OTHER },	   { "tss:", 8, OTHER },
	{ "tsm:UTC", 8, OTHER }, { "tsn:", 8, OTHER },	   { "tts", 4, OTHER },
	{ "ttu", 8, OTHER },	 { "tDn", 8, OTHER },	   { "w:3", 3, OTHER },
	{ "n", 0, OTHER },	 { "+l", 4, OTHER },	   { "+s", 0, OTHER },
	{ "tiM", 4, OTHER },	 { "w:0", 0, OTHER },	   { "d:99,2", 16, OTHER },
	{ "x", 32, OTHER },	 { "", 32, OTHER },	   { "w:4294967297", 1, OTHER },
};
#define FORMATS (sizeof(formats) / sizeof(*formats))
#define INTEGERS 8

/* An array, what its buffers have, and its values. */
struct array {
	struct ArrowArray a;
	struct ArrowSchema s;
	const struct format *f;
	void *buffers[BUFFERS];
	size_t sizes[BUFFERS];
	int64_t capacity; /* values in the buffers */
};

struct input {
	const uint8_t *data;
	size_t bytes;
	struct sp__rng rng;
	unsigned n; /* columns */
	struct array columns[COLUMNS_MAX], words[COLUMNS_MAX];
	struct ArrowSchema root, *schemas[COLUMNS_MAX];
	struct ArrowArray batch, *children[COLUMNS_MAX];
	const void *none[1];
	bool changed, wild, given;
};

static char path[64], second[80];

static void require(bool cond)
{
	if (!cond)
		abort();
}

static uint8_t take(struct input *in)
{
	if (!in->bytes)
		return 0;
	in->bytes--;
	return *in->data++;
}

static void *own(struct array *c, unsigned k, size_t bytes)
{
	c->buffers[k] = calloc(1, bytes ? bytes : 1);
	c->sizes[k] = bytes;
	require(c->buffers[k]);
	return c->buffers[k];
}

/* Fills offsets or views, and texts; wild: of any bytes. */
static void make_texts(struct input *in, struct array *c, bool wild)
{
	char *texts = own(c, 2, (size_t)c->capacity * 20);
	int64_t at = 0;

	for (size_t i = 0; i < c->sizes[2]; i++)
		texts[i] = (char)(wild ? sp__rng_below(&in->rng, 256) : 'a' + i % 26);
	if (c->f->form == VIEW)
		memcpy(own(c, 3, 8), &c->sizes[2], 8);
	for (int64_t i = 0; i <= c->capacity; i++) {
		char *to = (char *)c->buffers[1] + i * c->f->width;
		const int32_t bytes = (int32_t)sp__rng_below(&in->rng, 20);
		const int32_t view[4] = { bytes, 0, 0, (int32_t)at };

		if (c->f->form == VIEW && i < c->capacity) {
			memcpy(to, view, sizeof(view));
			memcpy(to + 4, texts + at, bytes > 12 ? 4 : (size_t)bytes);
		} else if (c->f->form == TEXT) {
			memcpy(to, &at, c->f->width);
		}
		at += bytes;
	}
}

/* Makes an array whose buffers have values behind its own. */
static void make_array(struct input *in, struct array *c, const struct format *f, int64_t length,
		       bool wild)
{
	const uint8_t offset = take(in) % 4, nulls = take(in);
	const bool text = f->form == TEXT || f->form == VIEW;
	uint8_t *values;

	*c = (struct array){ .f = f, .capacity = offset + length };
	if (nulls & 1)
		memset(own(c, 0, (size_t)c->capacity / 8 + 1), nulls | 0x10,
		       (size_t)c->capacity / 8 + 1);
	values = own(c, 1,
		     f->width ? f->width * ((size_t)c->capacity + (f->form == TEXT))
			      : (size_t)c->capacity / 8 + 1);
	for (size_t i = 0; !text && i < c->sizes[1]; i++)
		values[i] = (uint8_t)(wild || !f->width || i % f->width == 0
					      ? sp__rng_below(&in->rng, wild ? 256 : 100)
					      : 0);
	if (text)
		make_texts(in, c, wild);
	c->a = (struct ArrowArray){ .length = length,
				    .offset = offset,
				    .null_count = nulls & 1 ? -1 : 0,
				    .n_buffers = f->form == VIEW   ? 4
						 : f->form == TEXT ? 3
								   : 2 };
	if (!strcmp(f->format, "n"))
		c->a.n_buffers = 0;
	c->s = (struct ArrowSchema){ .format = f->format, .flags = ARROW_FLAG_NULLABLE };
	in->wild |= wild;
	in->given |= f->form == OTHER;
}

static void make_column(struct input *in, unsigned k)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	struct array *c = &in->columns[k], *words = &in->words[k];
	const struct format *f = &formats[take(in) % FORMATS];
	const uint8_t dictionary = take(in), wild = take(in);

	in->rng = (struct sp__rng){ take(in) };
	*words = (struct array){ 0 };
	if (dictionary & 1) {
		make_array(in, words, f, WORDS, wild & 1);
		make_array(in, c, &formats[dictionary / 2 % INTEGERS], ROWS, wild & 2);
		for (int64_t i = 0; !(wild & 2) && i < c->capacity; i++)
			((uint8_t *)c->buffers[1])[i * c->f->width] %= WORDS;
		c->a.dictionary = &words->a;
		c->s.dictionary = &words->s;
	} else {
		make_array(in, c, f, ROWS, wild & 1);
	}
	c->s.name = names[k];
	words->s.name = "";
	in->schemas[k] = &c->s;
	in->children[k] = &c->a;
}

/* Keeps a number of values or bytes within what was made. */
static int64_t within(int64_t v, int64_t max)
{
	return v > max ? max : v;
}

/* Makes one change of an array.  What no member contradicts stays within its buffers. */
static void change(struct input *in)
{
	const uint8_t which = take(in), member = take(in), where = take(in), value = take(in),
		      sign = take(in);
	const unsigned k = which / 2 % in->n, b = where % BUFFERS;
	struct array *c =
		which & 1 && in->columns[k].a.dictionary ? &in->words[k] : &in->columns[k];
	const int64_t v = sign & 1 ? -(int64_t)value : sign & 2 ? INT64_MIN + value : value;

	in->changed = true;
	switch (member % 12) {
	case 0:
		c->a.length = within(v, c->capacity - (c->a.offset > 0 ? c->a.offset : 0));
		break;
	case 1:
		c->a.offset = within(v, c->capacity - (c->a.length > 0 ? c->a.length : 0));
		break;
	case 2:
		c->a.null_count = sign & 4 ? INT64_MAX - value : v;
		break;
	case 3:
		c->a.n_buffers = within(v, c->a.n_buffers);
		break;
	case 4:
		c->a.n_children = v;
		break;
	case 5:
		free(c->buffers[b]);
		c->buffers[b] = NULL;
		c->sizes[b] = 0;
		break;
	case 6:
		in->batch.length = within(v, ROWS);
		break;
	case 7:
		in->batch.n_children = v;
		break;
	case 8:
		c->s.n_children = v;
		break;
	default: /* most changes */
		if (c->sizes[b])
			((uint8_t *)c->buffers[b])[(where / BUFFERS | (size_t)(sign & 3) << 6) %
						   c->sizes[b]] = sign & 8 ? 0xFF : value;
	}
}

static int64_t number(const void *data, int64_t i, unsigned bytes, bool is_signed)
{
	uint64_t bits = 0;
	const unsigned unused = 64 - 8 * bytes;

	memcpy(&bits, (const char *)data + i * bytes, bytes);
	return is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

/* Gives texts as many bytes as the last offset says, and a buffer of views no more than it has. */
static void settle(struct array *c)
{
	int64_t last, size;

	c->a.buffers = (const void **)(void *)c->buffers;
	if (!c->f || !c->buffers[1])
		return;
	if (c->f->form == VIEW && c->buffers[3]) {
		size = number(c->buffers[3], 0, 8, true);
		size = within(size, (int64_t)c->sizes[2]);
		memcpy(c->buffers[3], &size, sizeof(size));
	}
	if (c->f->form != TEXT || !c->buffers[2] || c->a.offset < 0 || c->a.length < 0)
		return;
	last = c->a.offset + c->a.length;
	if (last > c->capacity)
		return;
	size = number(c->buffers[1], last, c->f->width, true);
	if (size > DATA_MAX) {
		size = (int64_t)c->sizes[2];
		memcpy((char *)c->buffers[1] + last * c->f->width, &size, c->f->width);
	}
	if (size > (int64_t)c->sizes[2]) {
		c->buffers[2] = realloc(c->buffers[2], (size_t)size);
		require(c->buffers[2]);
		memset((char *)c->buffers[2] + c->sizes[2], 'z', (size_t)size - c->sizes[2]);
		c->sizes[2] = (size_t)size;
	}
}

static void put(struct sp__bytes *out, const char *text, size_t bytes)
{
	require(!sp__bytes_append(out, text, bytes, NULL));
}

/* Puts a field of CSV; an empty one that is not NULL has quotes. */
static void put_field(struct sp__bytes *out, const char *text, size_t bytes)
{
	bool quoted = !bytes;

	for (size_t i = 0; i < bytes; i++)
		quoted |= text[i] && strchr(",\"\n\r", text[i]);
	if (quoted)
		put(out, "\"", 1);
	for (size_t i = 0; i < bytes; i++)
		put(out, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
	if (quoted)
		put(out, "\"", 1);
}

/* Finds text i of an array that the load took.  Aborts if it is outside of its buffers. */
static void put_text(struct sp__bytes *out, const struct array *c, int64_t i)
{
	const char *view = (const char *)c->buffers[1] + i * c->f->width;
	int64_t from, to;

	if (c->f->form == TEXT) {
		from = number(c->buffers[1], i, c->f->width, true);
		to = number(c->buffers[1], i + 1, c->f->width, true);
	} else if (number(view, 0, 4, true) <= 12) {
		put_field(out, view + 4, (size_t)number(view, 0, 4, true));
		return;
	} else {
		require(number(view, 2, 4, true) == 0);
		from = number(view, 3, 4, true);
		to = from + number(view, 0, 4, true);
	}
	require(from >= 0 && to >= from && to <= (int64_t)c->sizes[2]);
	put_field(out, (const char *)c->buffers[2] + from, (size_t)(to - from));
}

/* Puts value i of an array that the load took.  Returns false if this reader does not know it. */
static bool put_value(struct sp__bytes *out, const struct array *c, const struct array *words,
		      int64_t i)
{
	const uint8_t *valid = c->buffers[0];
	char text[32];
	int64_t v;

	if (c->f->form == OTHER || strchr("zZ", c->f->format[strlen(c->f->format) - 1]))
		return false;
	require(i < c->a.length && c->a.offset >= 0 && i + c->a.offset < c->capacity);
	i += c->a.offset;
	if (valid && !(valid[i / 8] >> i % 8 & 1))
		return true;
	require(c->buffers[1]);
	if (c->f->form != NUMBER && c->f->form != BITS) {
		put_text(out, c, i);
		return true;
	}
	v = c->f->form == BITS ? ((uint8_t *)c->buffers[1])[i / 8] >> i % 8 & 1
			       : number(c->buffers[1], i, c->f->width, *c->f->format >= 'a');
	if (words) {
		require((words->f->form == OTHER) || (v >= 0 && v < words->a.length));
		return put_value(out, words, NULL, v);
	}
	put(out, text,
	    (size_t)snprintf(text, sizeof(text), *c->f->format == 'L' ? "%llu" : "%lld",
			     (long long)v));
	return true;
}

/* Reads all records.  Returns false if a column has values that this reader does not know. */
static bool read_naively(const struct input *in, struct sp__bytes *out)
{
	bool known = true;

	for (unsigned k = 0; k < in->n; k++) {
		put(out, ",", k ? 1 : 0);
		put(out, in->schemas[k]->name, 1);
	}
	put(out, "\n", 1);
	for (int64_t i = 0; i < in->batch.length; i++) {
		for (unsigned k = 0; k < in->n; k++) {
			const struct array *c = &in->columns[k];

			put(out, ",", k ? 1 : 0);
			known &= put_value(out, c, c->a.dictionary ? &in->words[k] : NULL, i);
		}
		put(out, "\n", 1);
	}
	return known;
}

static void release_schema(struct ArrowSchema *s)
{
	s->release = NULL;
}

static void release_array(struct ArrowArray *a)
{
	a->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	*out = ((const struct input *)stream->private_data)->root;
	return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct input *in = stream->private_data;

	*out = in->batch;
	in->batch.release = NULL; /* then the stream ends */
	return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	(void)stream;
	return NULL;
}

static void release_stream(struct ArrowArrayStream *stream)
{
	stream->release = NULL;
}

static int append(void *arg, const char *data, size_t bytes)
{
	return sp__bytes_append(arg, data, bytes, NULL);
}

static void read_table(const char *name, struct sp__bytes *out)
{
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_table *t;

	o.run.memory_bytes = 4 << 20;
	o.run.engine = "sync";
	require(!sp_table_open(&t, name, &o, NULL));
	require(!sp_table_scan(t, &q, append, out, NULL, NULL) && !sp_table_close(t));
	put(out, "", 1);
}

static int load(const char *name, struct ArrowArrayStream *stream)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc;

	o.run.memory_bytes = 4 << 20;
	o.run.engine = "sync";
	rc = sp_table_load_arrow(name, stream, &o, NULL, &err);
	require(!stream->release);
	require(rc ? err.text[0] && access(name, F_OK) : !access(name, F_OK));
	return rc;
}

/* Loads the table again from its own stream. */
static void load_again(const struct sp__bytes *want)
{
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct ArrowArrayStream stream;
	struct sp__bytes got = { 0 };

	o.run.memory_bytes = 4 << 20;
	o.run.engine = "sync";
	require(!sp_table_arrow(path, &o, &q, &stream, NULL));
	require(!load(second, &stream));
	read_table(second, &got);
	require(!strcmp(got.data, want->data));
	sp__bytes_release(&got, NULL);
	unlink(second);
}

static void try_stream(struct input *in)
{
	struct ArrowArrayStream stream = { get_schema, get_next, get_last_error, release_stream,
					   in };
	struct sp__bytes got = { 0 }, want = { 0 };

	if (load(path, &stream)) {
		require(in->changed || in->wild || in->given);
		return;
	}
	read_table(path, &got);
	if (read_naively(in, &want)) {
		put(&want, "", 1);
		require(!strcmp(got.data, want.data));
	}
	load_again(&got);
	sp__bytes_release(&got, NULL);
	sp__bytes_release(&want, NULL);
	unlink(path);
}

static void forget(void)
{
	unlink(path);
	unlink(second);
}

/* In memory, where a table need not wait for a device. */
static void name_files(void)
{
	const char *folder = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	snprintf(path, sizeof(path), "%s/fuzz_table_arrow.%d", folder, (int)getpid());
	snprintf(second, sizeof(second), "%s.again", path);
	atexit(forget);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input in = { .data = data, .bytes = bytes };

	if (!*path)
		name_files();
	in.n = 1 + take(&in) % COLUMNS_MAX;
	for (unsigned k = 0; k < in.n; k++)
		make_column(&in, k);
	in.root = (struct ArrowSchema){ .format = "+s",
					.name = "",
					.n_children = in.n,
					.children = in.schemas,
					.release = release_schema };
	in.batch = (struct ArrowArray){ .length = ROWS,
					.n_buffers = 1,
					.n_children = in.n,
					.buffers = in.none,
					.children = in.children,
					.release = release_array };
	while (in.bytes)
		change(&in);
	for (unsigned k = 0; k < in.n; k++) {
		settle(&in.columns[k]);
		settle(&in.words[k]);
	}
	try_stream(&in);
	for (unsigned k = 0; k < in.n; k++)
		for (unsigned b = 0; b < BUFFERS; b++) {
			free(in.columns[k].buffers[b]);
			free(in.words[k].buffers[b]);
		}
	return 0;
}
