/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <spindle/order.h>
#include "call/call.h"
#include "tap.h"

#define WORDS(...) ((const char *const[]){ __VA_ARGS__ })
#define COUNT(words) (sizeof(words) / sizeof((words)[0]))

static struct sp_errinfo err;

static int apply(void *order, int code, const char *arg, struct sp_errinfo *reason)
{
	return sp__call_order_option(order, code, arg, reason);
}

static int parse(struct sp_order *o, const char *const *words, size_t n)
{
	static const struct sp_order init = SP_ORDER_INIT;
	char *copy[8];
	const struct sp_call call = { .args = copy, .nargs = n };

	memcpy(copy, words, n * sizeof(*copy));
	*o = init;
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return sp__options_each(&call, sp__call_sort_options, apply, o, &err);
}

#define PARSE(o, ...) parse(o, WORDS(__VA_ARGS__), COUNT(WORDS(__VA_ARGS__)))

static bool refused(const char *text, const char *about, int rc)
{
	if (rc != -EINVAL)
		diag("returned %d", rc);
	else if (strcmp(err.text, text) != 0)
		diag("said \"%s\"", err.text);
	return rc == -EINVAL && !strcmp(err.text, text) &&
	       (about ? err.where && !strcmp(err.where, about) : !err.where);
}

static void words_are_read(void)
{
	struct sp_order o;

	ok(!PARSE(&o, "-t|", "-k2,2n", "-k", "3r", "-su") && o.nkeys == 2 && o.separator == '|' &&
		   o.keys[0].spec.type == SP_KEY_NUMERIC && o.keys[0].spec.sword == 1 &&
		   o.keys[1].spec.reverse && o.stable && o.unique,
	   "short options, joined and apart");
	sp_order_release(&o);
	ok(!PARSE(&o, "--key=1,1", "--key", "2", "--rev", "--sort=num", "--zero-terminated") &&
		   o.nkeys == 2 && sp_key_has_letter(&o.global, 'r') &&
		   o.global.type == SP_KEY_NUMERIC && sp_order_format(&o).eol == '\0',
	   "long options, abbreviated and with arguments in either place");
	sp_order_release(&o);
	ok(!PARSE(&o, "--csv", "--header=2,first", "-t;") &&
		   sp_order_format(&o).kind == SP_REC_CSV && sp_order_format(&o).separator == ';' &&
		   o.header_records == 2 && o.header_first,
	   "CSV with a header of the first file");
	ok(!PARSE(&o, "--header", "--csv") && o.header_records == 1 && !o.header_first &&
		   sp_order_format(&o).separator == ',',
	   "the defaults of both");
	ok(!PARSE(&o, "--record-size=1K", "--bkey=4:8:u64le:r", "--bkey=0:4") &&
		   sp_order_format(&o).fixed_bytes == 1024 && o.nbkeys == 2 && o.bkeys[0].reverse,
	   "binary records");
	sp_order_release(&o);
}

static void errors_are_reported(void)
{
	struct sp_order o;

	ok(refused("multi-character tab", "ab", PARSE(&o, "-t", "ab")), "-t ab");
	ok(refused("empty tab", NULL, PARSE(&o, "-t", "")), "-t of nothing");
	ok(refused("incompatible tabs", NULL, PARSE(&o, "-ta", "-tb")), "two separators");
	ok(refused("field number is zero: invalid field specification", "0", PARSE(&o, "-k0")),
	   "-k0");
	ok(refused("option requires an argument:", "-k", PARSE(&o, "-k")), "-k without a key");
	ok(refused("not an option that applies here:", "-c", PARSE(&o, "-c")), "-c");
	ok(refused("not an option:", "file", PARSE(&o, "-r", "file")), "an operand");
	ok(refused("option takes no argument:", "--csv=x", PARSE(&o, "--csv=x")), "--csv=x");
	ok(refused("invalid --header argument", "x", PARSE(&o, "--header=x")), "--header=x");
	ok(refused("invalid --record-size argument", "0", PARSE(&o, "--record-size=0")),
	   "records of nothing");
	ok(refused("ambiguous option (--reverse, --resume, --record-size):", "--re",
		   PARSE(&o, "--re")),
	   "a name that could be two");
	ok(refused("not an option that applies here (did you mean '--reverse'?):", "--revresed=1",
		   PARSE(&o, "--revresed=1")),
	   "a misspelt name");
	ok(refused("invalid --sort argument (did you mean 'numeric'?):", "nmeric",
		   PARSE(&o, "--sort=nmeric")),
	   "a misspelt value");
	ok(refused("invalid --sort argument", "x", PARSE(&o, "--sort=x")), "a value like none");
	sp_order_release(&o);
}

static void an_order_is_finished(void)
{
	struct sp_keyset *keys;
	struct sp_order o;
	const char *a, *b;

	ok(!PARSE(&o, "-n") && !sp_order_finish(&o, &err) && o.global_only && o.nkeys == 1 &&
		   !sp_order_keyset(&keys, &o, NULL, &err) &&
		   sp_keyset_compare(keys, "9", 1, "10", 2) < 0,
	   "letters without a key make one of the whole record");
	sp_keyset_free(keys);
	sp_order_release(&o);
	ok(!PARSE(&o, "-r", "-k1,1", "-k2,2n") && !sp_order_finish(&o, &err) &&
		   o.keys[0].spec.reverse && !o.keys[1].spec.reverse && !o.global_only,
	   "keys without letters inherit them");
	sp_order_release(&o);
	ok(!PARSE(&o, "-ng") && sp_order_finish(&o, &err) == -EINVAL &&
		   !strcmp(err.text, "options '-gn' are incompatible"),
	   "letters that do not go together");
	sp_order_release(&o);
	ok(!PARSE(&o, "--csv", "-z") && sp_order_conflict(&o, &a, &b) && !strcmp(a, "--csv") &&
		   !strcmp(b, "-z"),
	   "options that do not go together");
	ok(!PARSE(&o, "--record-size=8", "-t,") && sp_order_conflict(&o, &a, &b) &&
		   !strcmp(a, "-t"),
	   "binary records have no separator");
	ok(!PARSE(&o, "-R", "-k1,1") && !sp_order_finish(&o, &err) && sp_order_has_letter(&o, 'R'),
	   "a letter that a key has inherited");
	sp_order_release(&o);
}

int main(void)
{
	words_are_read();
	errors_are_reported();
	an_order_is_finished();
	return done();
}
