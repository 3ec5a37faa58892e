/* SPDX-License-Identifier: MIT */
/*
 * Several that use a cube at a time: who changes it is alone, who reads it gets what was there
 * when it was opened, or nothing.
 */
#define TAP_THREADS

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cube/state.h"
#include "tap.h"

static char dir[64], path[80], input[80];
static off_t bad_offset = -1; /* of reads that fail */

/* Takes the place of that of the C library. */
ssize_t pread(int fd, void *data, size_t bytes, off_t at)
{
	if (at == bad_offset) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, data, bytes, at);
}

static void write_input(const char *text, size_t bytes)
{
	int fd = open(input, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0 || write(fd, text, bytes) != (ssize_t)bytes || close(fd))
		abort();
}

static int create(bool points)
{
	struct sp_cube_create_opts o = SP_CUBE_CREATE_OPTS_INIT;

	o.shape = (struct sp_cube_shape){
		.ndims = 2, .dims = { 512, 1 }, .type = SP_CUBE_U8, .element_bytes = 1
	};
	if (!points)
		o.shape.tile[0] = 512, o.shape.tile[1] = 1;
	o.points = points;
	o.mapping = SP_CUBE_NAIVE;
	o.run.overwrite = true;
	return sp_cube_create(path, &o, NULL);
}

static struct sp_cube *open_cube(bool write, int want)
{
	struct sp_cube_opts o = { .run = SP_RUN_OPTS_INIT, .write = write };
	struct sp_cube *c = NULL;

	if (sp_cube_open(&c, path, &o, NULL) != want)
		diag("opening has another result");
	return c;
}

static int append(struct sp_cube *c)
{
	static const struct sp_cube_load_opts raw;
	struct sp_cube_stats stats;

	return sp_cube_append(c, 1, 1, NULL, &raw, &stats, NULL);
}

static int put(struct sp_cube *c, uint8_t value)
{
	return sp_cube_put(c, (uint64_t[]){ 5, 0 }, &value, NULL);
}

static int get(struct sp_cube *c, uint8_t *value)
{
	return sp_cube_get(c, (uint64_t[]){ 5, 0 }, value, NULL);
}

static int load(struct sp_cube *c, enum sp_cube_format format)
{
	struct sp_cube_load_opts o = { .format = format };
	struct sp_cube_stats stats;

	return sp_cube_load(c, input, &o, &stats, NULL);
}

/* True if the cube can be opened for changes. */
static bool is_free(void)
{
	struct sp_cube_opts o = { .run = SP_RUN_OPTS_INIT, .write = true };
	struct sp_cube *c = NULL;
	int rc = sp_cube_open(&c, path, &o, NULL);

	(void)sp_cube_close(c);
	return !rc;
}

static int look_who_may(void *arg, const void *data, size_t bytes)
{
	(void)data;
	(void)bytes;
	*(bool *)arg = is_free();
	return 0;
}

static void test_readers(void)
{
	struct sp_cube_box box = { .hi = { 511, 0 }, .stride = { 1, 1 } };
	struct sp_cube *reader, *other, *writer;
	struct sp_cube_stats stats;
	bool may = true;
	uint8_t v = 0;

	if (create(false))
		abort();
	writer = open_cube(true, 0);
	ok(!put(writer, 7), "an element is put");
	ok(!open_cube(false, SP_ESTATE), "a cube that is being changed is not opened to be read");
	(void)sp_cube_close(writer);
	reader = open_cube(false, 0);
	ok(!get(reader, &v) && v == 7, "a cube that is not changed any more is read");
	other = open_cube(false, 0);
	ok(!sp_cube_read(reader, &box, look_who_may, &may, &stats, NULL) && !may && is_free(),
	   "a cube is not changed while it is read, but after it");
	writer = open_cube(true, 0);
	ok(!append(writer), "a layer is appended");
	(void)sp_cube_close(writer);
	ok(get(other, &v) == SP_ESTATE, "a cube opened before it grew is not read");
	(void)sp_cube_close(reader);
	reader = open_cube(false, 0);
	ok(!get(reader, &v) && v == 7, "opened again, it is");
	(void)sp_cube_close(other);
	if (create(false))
		abort();
	ok(get(reader, &v) == SP_ESTATE, "a reader of the former cube fails, too");
	(void)sp_cube_close(reader);
}

static void test_points(void)
{
	struct sp_cube *c, *reader;
	struct stat before, after;
	uint8_t v = 0;

	if (create(true))
		abort();
	write_input("5,0,3\n", 6);
	reader = open_cube(false, 0);
	c = open_cube(true, 0);
	ok(!fstat(c->file.cells.first.fd, &before) && !load(c, SP_CUBE_CSV) &&
		   !fstat(c->file.cells.first.fd, &after) && before.st_ino == after.st_ino,
	   "points come in the same file");
	ok(!is_free(), "and no other program changes it while it is open");
	ok(!get(c, &v) && v == 3 && !put(c, 2) && !get(c, &v) && v == 2, "its owner does");
	ok(get(reader, &v) == SP_ESTATE, "a program that opened it before does not read it");
	(void)sp_cube_close(c);
	ok(get(reader, &v) == SP_ESTATE, "nor when it has been closed: it has changed");
	(void)sp_cube_close(reader);
	ok(is_free(), "then others can");
}

/* ASan finds a superblock that is not freed. */
static void test_head(void)
{
	struct sp_cube_opts o = { .run = SP_RUN_OPTS_INIT };
	struct sp_cube *c = NULL;

	if (create(false))
		abort();
	c = open_cube(false, 0);
	bad_offset = c->file.superblock.slots.slot_bytes;
	(void)sp_cube_close(c);
	ok(sp_cube_open(&c, path, &o, NULL) == -EIO,
	   "a cube is not opened if its second superblock cannot be read: it may be the newer one");
	bad_offset = 0;
	ok(sp_cube_open(&c, path, &o, NULL) == -EIO,
	   "a cube whose first one cannot be read is not opened");
	bad_offset = -1;
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/cube-sharing-XXXXXX",
		 tmp && strlen(tmp) < 30 ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/cube", dir);
	snprintf(input, sizeof(input), "%s/input.csv", dir);
	test_readers();
	test_points();
	test_head();
	unlink(path);
	unlink(input);
	rmdir(dir);
	return done();
}
