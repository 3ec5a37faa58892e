/* SPDX-License-Identifier: MIT */
/*
 * Headers of .npy files are accepted exactly if NumPy accepts them.  The verdicts are those of
 * NumPy 2.4: "FORTRAN BIG_ENDIAN SIZE SIZE" of an array of f4 of two dimensions, or "-".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cube/input/npy.h"
#include "tap.h"

static const struct {
	const char *text, *version2, *version3;
} heads[] = {
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': '>f4', 'fortran_order': True, 'shape': (3, 4), }", "1 1 3 4", "1 1 3 4" },
	{ "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (3L, 4L)}", "0 0 3 4", "-" },
	{ "{'shape': (3,4,), 'fortran_order': 1, 'descr': u'<f4'}", "-", "-" },
	{ "{\t'shape':\t(0x3,\n4)\n, 'fortran_order':True, # c\n 'descr': r'<f4'}", "1 0 3 4",
	  "1 0 3 4" },
	{ "{'descr': '<f4', 'fortran_order': 1, 'shape': (3, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': 'True', 'shape': (3, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (+(3), 4)}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 4)}", "-", "-" },
	{ "{'descr': '>f', 'fortran_order': False, 'shape': (3, 4)}", "0 1 3 4", "0 1 3 4" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)", "-", "-" },
	{ "'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)", "-", "-" },
	{ "({'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)})", "0 0 3 4", "0 0 3 4" },
	{ "\n{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}", "0 0 3 4", "0 0 3 4" },
	{ "\n {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}", "-", "-" },
	{ "  # c\n{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}", "0 0 3 4",
	  "0 0 3 4" },
	{ "#c\n\n  \n{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}", "0 0 3 4",
	  "0 0 3 4" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (True, 4)}", "0 0 1 4", "0 0 1 4" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3 L, 4LL)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3 L L, 4)}", "0 0 3 4", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (1_0, 4)}", "0 0 10 4", "0 0 10 4" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (03, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (00, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (+3, - 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (+\n3, +4)}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': ((3), (4))}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': ('<f4'), 'fortran_order': (False), 'shape': (((3, 4)))}", "0 0 3 4",
	  "0 0 3 4" },
	{ "{'de' 'scr': '<' '''f4''', 'fortran_order': False, 'shape': (3, 4)}", "0 0 3 4",
	  "0 0 3 4" },
	{ "{'de\\x73cr': '<f4', 'fortran_\\\norder': False, 'shape': (3, 4)}", "0 0 3 4",
	  "0 0 3 4" },
	{ "{'descr': 'float32', 'fortran_order': False, 'shape': (3, 4)}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': 'f', 'fortran_order': False, 'shape': (3, 4)}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': '|f4', 'fortran_order': False, 'shape': (3, 4)}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'shape': (5, 6)}", "0 0 5 6",
	  "0 0 5 6" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': [3, 4]}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'x': 1}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)};", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)},", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}\n\n  \n#x", "0 0 3 4",
	  "0 0 3 4" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)} x", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}\n x", "-", "-" },
	{ "{'descr': b'<f4', 'fortran_order': False, 'shape': (3, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': None, 'shape': (3, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': Falsey, 'shape': (3, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3., 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': 3, 4}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3,, 4)}", "-", "-" },
	{ "{,'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4),,}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (0o3, 0B100)}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (0x_3, 4__0)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3,\r4)}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': '<f4',\\\r\n 'fortran_order': False, 'shape': (3,\0144)}", "0 0 3 4",
	  "0 0 3 4" },
	{ "\\\n{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}\\\n", "-", "-" },
	{ "\014{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3l, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (True L, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (0x3L, 4)}", "0 0 3 4", "-" },
	{ "{'descr': '<f 4', 'fortran_order': False, 'shape': (3, 4)}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': '<f+4', 'fortran_order': False, 'shape': (3, 4)}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': '<f04', 'fortran_order': False, 'shape': (3, 4)}", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': '<f-4', 'fortran_order': False, 'shape': (3, 4)}", "-", "-" },
	{ "{'descr': '<float32', 'fortran_order': False, 'shape': (3, 4)}", "-", "-" },
	{ "{'descr': '\377', 'fortran_order': False, 'shape': (3, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}#\377", "0 0 3 4", "0 0 3 4" },
	{ "{'descr': Ur'<f4', 'fortran_order': False, 'shape': (3, 4)}", "-", "-" },
	{ "{'descr': f'<f4', 'fortran_order': False, 'shape': (3, 4)}", "-", "-" },
	{ "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)\240}", "-", "-" },
	{ "{'descr': R\"<f4\", 'fortran_order': True, 'shape': (3, 4)}", "1 0 3 4", "1 0 3 4" },
};

/* Returns the header of a version with a text of n bytes; to be freed. */
static uint8_t *head_of(unsigned version, const char *text, size_t n, size_t *bytes)
{
	size_t prefix = version == 1 ? 10 : 12;
	uint8_t *head = calloc(1, prefix + n);

	if (!head)
		return NULL;
	memcpy(head, SP__NPY_MAGIC, SP__NPY_MAGIC_BYTES);
	head[6] = (uint8_t)version;
	head[8] = (uint8_t)n;
	head[9] = (uint8_t)(n >> 8);
	memcpy(head + prefix, text, n);
	*bytes = prefix + n;
	return head;
}

/* Writes the values read from a header, or "-". */
static void verdict(unsigned version, const char *text, size_t n, char *to, size_t size)
{
	struct sp_cube_shape shape = { .ndims = 2, .type = SP_CUBE_F32, .element_bytes = 4 };
	struct sp_cube_load_opts opts = { 0 };
	size_t bytes = 0;
	uint8_t *head = head_of(version, text, n, &bytes);

	snprintf(to, size, "-");
	if (head && sp__npy_header_bytes(head) == bytes &&
	    !sp__npy_parse(head, bytes, &shape, &opts))
		snprintf(to, size, "%d %d %llu %llu", opts.order[0] == 0, opts.big_endian,
			 (unsigned long long)shape.dims[0], (unsigned long long)shape.dims[1]);
	free(head);
}

/* The text is in Latin-1; as UTF-8 in version 3. */
static void as_utf8(const char *text, char *to)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= 0x80)
			*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c);
	}
	*to = '\0';
}

static unsigned wrong(unsigned version, size_t i)
{
	const char *want = version < 3 ? heads[i].version2 : heads[i].version3;
	char utf8[1024], got[100];
	const char *text = heads[i].text;

	if (version == 3)
		as_utf8(text, utf8);
	verdict(version, version == 3 ? utf8 : text, strlen(version == 3 ? utf8 : text), got,
		sizeof(got));
	if (!strcmp(got, want))
		return 0;
	diag("version %u, %s: %s, not %s", version, text, got, want);
	return 1;
}

/* True if a dictionary padded with blanks to this length is read. */
static bool takes_padding(unsigned version, size_t bytes)
{
	char text[SP__NPY_TEXT_MAX + 2], got[100];

	memset(text, ' ', sizeof(text));
	memcpy(text, heads[0].text, strlen(heads[0].text));
	verdict(version, text, bytes, got, sizeof(got));
	return !strcmp(got, heads[0].version2);
}

int main(void)
{
	static const char nul[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}\0";
	char got[100];

	for (unsigned version = 1; version <= 3; version++) {
		unsigned differ = 0;

		for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
			differ += wrong(version, i);
		ok(!differ, "heads of version %u are read as NumPy reads them", version);
		ok(takes_padding(version, 10000) && !takes_padding(version, 10001),
		   "with blanks they have up to 10,000 bytes");
	}
	verdict(2, nul, sizeof(nul) - 1, got, sizeof(got));
	ok(!strcmp(got, "-"), "NUL is not a blank");
	verdict(4, nul, sizeof(nul) - 2, got, sizeof(got));
	ok(!strcmp(got, "-"), "a version that is not known is refused");
	return done();
}
