/* SPDX-License-Identifier: MIT */
/*
 * Streams of Arrow with a wrong member, offset or number: an error, or the right records.  Buffers
 * are as long as the arrays say, so that the address sanitizer sees what is read behind them.
 */
#define TAP_THREADS
#define SOURCE_TABLE "arrow-wrong.tmp"
#include "arrowsource.h"

#define WANT                                                                                       \
	"int,text,bytes,view,year,word,bit,dec\n"                                                  \
	"1,a,xy,short,2024,one,1,0.01\n"                                                           \
	"2,bc,z,a text of more than twelve bytes,2023,two,0,0.02\n"                                \
	",\"\",,short,,one,1,0.03\n"                                                               \
	"4,def,w,short,2024,one,1,0.04\n"

static void *memory[64];
static unsigned nmemory;

/* Returns a copy of its own length. */
static void *own(const void *from, size_t bytes)
{
	void *to = malloc(bytes);

	if (!to)
		exit(1);
	memory[nmemory++] = to;
	return memcpy(to, from, bytes);
}
#define OWN(type, ...) own((const type[]){ __VA_ARGS__ }, sizeof((const type[]){ __VA_ARGS__ }))

/* The source, and the words of its dictionaries. */
struct made {
	struct source s;
	struct ArrowArray years, words;
	struct ArrowSchema years_schema, words_schema;
	const void *years_buffers[2], *words_buffers[3], *view_buffers[4];
};

static void add_dictionaries(struct made *m, const void *valid)
{
	struct ArrowArray *year =
		add(&m->s, "year", "s", valid, OWN(int16_t, 1, 0, 99, 1), NULL, 0);
	struct ArrowArray *word = add(&m->s, "word", "C", NULL, OWN(uint8_t, 0, 1, 0, 0), NULL, 0);

	m->years_buffers[1] = OWN(int64_t, 2023, 2024);
	m->years = (struct ArrowArray){ .length = 2, .n_buffers = 2, .buffers = m->years_buffers };
	m->years_schema = (struct ArrowSchema){ .format = "l", .name = "" };
	m->words_buffers[1] = OWN(int32_t, 0, 3, 6);
	m->words_buffers[2] = own("onetwo", 6);
	m->words = (struct ArrowArray){ .length = 2, .n_buffers = 3, .buffers = m->words_buffers };
	m->words_schema = (struct ArrowSchema){ .format = "u", .name = "" };
	year->dictionary = &m->years;
	word->dictionary = &m->words;
	m->s.schemas[4].dictionary = &m->years_schema;
	m->s.schemas[5].dictionary = &m->words_schema;
}

static void make(struct made *m)
{
	static const char far[] = "a text of more than twelve bytes";
	const void *valid = OWN(uint8_t, 0x0B); /* value 2 is NULL */
	char views[ROWS][16] = { { 5, 0, 0, 0, 's', 'h', 'o', 'r', 't' } };
	const int32_t at[4] = { sizeof(far) - 1, 0, 0, 0 };
	struct ArrowArray *view;

	*m = (struct made){ .s.batches = 1 };
	memcpy(views[2], views[0], 16);
	memcpy(views[3], views[0], 16);
	memcpy(views[1], at, 16);
	add(&m->s, "int", "i", valid, OWN(int32_t, 1, 2, 3, 4), NULL, 0);
	add(&m->s, "text", "u", NULL, OWN(int32_t, 0, 1, 3, 3, 6), own("abcdef", 6), 0);
	add(&m->s, "bytes", "Z", valid, OWN(int64_t, 0, 2, 3, 3, 4), own("xyzw", 4), 0);
	view = add(&m->s, "view", "vu", NULL, own(views, sizeof(views)), own(far, sizeof(far) - 1),
		   0);
	m->s.buffers[3][3] = OWN(int64_t, sizeof(far) - 1);
	view->n_buffers = 4;
	add_dictionaries(m, valid);
	add(&m->s, "bit", "b", NULL, OWN(uint8_t, 0x0D), NULL, 0);
	add(&m->s, "dec", "d:4,2", NULL, OWN(sp__int128, 1, 2, 3, 4), NULL, 0);
}

static void unmake(void)
{
	while (nmemory)
		free(memory[--nmemory]);
}

/* Loads what was made.  True: an error with a reason and without a table, or the right records. */
static bool right_or_error(struct made *m, bool *refused_it)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__bytes text = { 0 };
	int rc = load(&m->s, &text, &err);
	bool good = rc ? err.text[0] && m->s.released == 1 && access(SOURCE_TABLE, F_OK) < 0
		       : text.bytes == strlen(WANT) && !memcmp(text.data, WANT, text.bytes);

	if (!good)
		diag("%d: %s%.*s", rc, err.text, (int)text.bytes, text.data);
	*refused_it = rc;
	sp__bytes_release(&text, NULL);
	unmake();
	return good;
}

/* Array k of the source: its columns, dictionaries, and the batch itself. */
#define ARRAYS 11
static struct ArrowArray *array(struct made *m, unsigned k)
{
	return k < 8 ? m->s.columns[k] : k == 8 ? &m->years : k == 9 ? &m->words : &m->s.batch;
}

static bool members_of_arrays(void)
{
	static const int64_t values[] = { INT64_MIN, -2, -1, 1, 3, INT64_MAX / 16, INT64_MAX };
	unsigned refusals = 0, wrong = 0;

	for (unsigned k = 0; k < ARRAYS; k++)
		for (unsigned member = 0; member < 5; member++)
			for (unsigned v = 0; v < sizeof(values) / sizeof(*values); v++) {
				struct made m;
				int64_t *to;
				bool refused_it;

				make(&m);
				to = (int64_t *[]){ &array(&m, k)->length,
						    &array(&m, k)->null_count,
						    &array(&m, k)->offset, &array(&m, k)->n_buffers,
						    &array(&m, k)->n_children }[member];
				/* No member contradicts these, or they name more memory. */
				if ((member == 0 && (k > 7) && values[v] > 0) ||
				    (member == 2 && values[v] > 0 && values[v] < 4) ||
				    (member == 3 && values[v] > 3)) {
					unmake();
					continue;
				}
				*to = values[v];
				wrong += !right_or_error(&m, &refused_it);
				refusals += refused_it;
			}
	return !wrong && refusals > 200;
}

static bool pointers(void)
{
	unsigned wrong = 0, refusals = 0;
	bool refused_it;

	for (unsigned k = 0; k < ARRAYS; k++)
		for (unsigned what = 0; what < 6; what++) {
			struct made m;
			struct ArrowArray *a;

			make(&m);
			a = array(&m, k);
			if (what == 0)
				a->buffers = NULL;
			else if (what == 1)
				a->children = NULL;
			else if (what == 2)
				a->dictionary = a->dictionary ? NULL : &m.years;
			else if (what - 3 < (unsigned)a->n_buffers)
				a->buffers[what - 3] = NULL;
			if (what == 3 && (k == 0 || k == 2 || k == 4))
				a->null_count = 1;
			wrong += !right_or_error(&m, &refused_it);
			refusals += refused_it;
		}
	for (unsigned k = 0; k < 8; k++) {
		struct made m;

		make(&m);
		m.s.columns[k] = NULL;
		wrong += !right_or_error(&m, &refused_it);
		refusals += refused_it;
	}
	return !wrong && refusals > 40;
}

static bool schemas(void)
{
	static const char *const formats[] = { NULL,
					       "",
					       "t",
					       "ts",
					       "d:",
					       "d:99,1",
					       "w:",
					       "+l",
					       "w:-1",
					       "w:4294967300",
					       "d:4294967300,2",
					       "d:4,2,4294967424" };
	const unsigned n = sizeof(formats) / sizeof(*formats);
	unsigned wrong = 0;
	bool refused_it;

	for (unsigned k = 0; k < 10; k++)
		for (unsigned what = 0; what < n + 4; what++) {
			struct made m;
			struct ArrowSchema *s;

			make(&m);
			s = k < 8 ? &m.s.schemas[k] : k == 8 ? &m.years_schema : &m.s.root;
			if (what < n)
				s->format = formats[what];
			else if (what == n)
				s->n_children = s->n_children ? 0 : 1;
			else if (what == n + 1)
				s->children = NULL;
			else if (what == n + 2)
				s->dictionary = s->dictionary ? NULL : &m.words_schema;
			else
				s->n_children = -1;
			wrong += !right_or_error(&m, &refused_it);
			if (what < n && !refused_it)
				wrong++;
		}
	return !wrong;
}

/* Every number that finds a text or a word, replaced by wrong ones. */
static bool positions(void)
{
	static const int64_t values[] = { -1, -1000, 2, 1000, INT32_MAX, INT64_MAX };
	static const struct {
		unsigned column, buffer, at, bytes;
	} numbers[] = {
		{ 1, 1, 0, 4 },	 { 1, 1, 8, 4 }, { 1, 1, 12, 4 }, { 2, 1, 0, 8 },  { 2, 1, 8, 8 },
		{ 2, 1, 24, 8 }, { 3, 1, 0, 4 }, { 3, 1, 16, 4 }, { 3, 1, 24, 4 }, { 3, 1, 28, 4 },
		{ 3, 3, 0, 8 },	 { 4, 1, 0, 2 }, { 4, 1, 2, 2 },  { 5, 1, 0, 1 },
	};
	unsigned wrong = 0;

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		for (unsigned v = 0; v < sizeof(values) / sizeof(*values); v++) {
			struct made m;
			char *to;
			bool refused_it;

			make(&m);
			to = (char *)(uintptr_t)m.s.buffers[numbers[i].column][numbers[i].buffer];
			/* Other texts and words, or a longer buffer, can be what is meant. */
			if (values[v] != 2 && !(numbers[i].buffer == 3 && values[v] > 0)) {
				memcpy(to + numbers[i].at, &values[v], numbers[i].bytes);
				wrong += !right_or_error(&m, &refused_it) || !refused_it;
			} else if (numbers[i].column >= 4) {
				memcpy(to + numbers[i].at, &values[v], numbers[i].bytes);
				wrong += !right_or_error(&m, &refused_it) || !refused_it;
			} else {
				unmake();
			}
		}
	return !wrong;
}

static bool null_records(void)
{
	struct made m;
	bool good;

	make(&m);
	m.s.none[0] = OWN(uint8_t, 0x0E);
	good = refused(&m.s, SP_EFORMAT, "a whole record is NULL");
	unmake();
	make(&m);
	m.s.none[0] = OWN(uint8_t, 0x0F);
	good &= loads(&m.s, WANT);
	unmake();
	make(&m);
	m.s.schemas[0].metadata = "\1\0\0\0\24\0\0\0ARROW:extension:name\4\0\0\0a.b.";
	good &= refused(&m.s, SP_EUNSUP, "column int has the extension type a.b. of Arrow");
	unmake();
	return good;
}

int main(void)
{
	struct made m;

	make(&m);
	ok(loads(&m.s, WANT), "the arrays are right before a member is changed");
	unmake();
	ok(null_records(), "a record that is NULL, and an extension type, are refused");
	ok(members_of_arrays(), "wrong numbers in arrays are errors, or change nothing");
	ok(pointers(), "so are missing buffers, arrays and dictionaries");
	ok(schemas(), "so are wrong schemas");
	ok(positions(), "texts and words outside of their buffers are errors");
	return done();
}
