/* SPDX-License-Identifier: MIT */
/*
 * Requests of two users on one queue: each user is called for its own requests only, reads are
 * aligned, the end of a file is an error, and closing calls no one.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/mem.h"
#include "cells/requests.h"
#include "tap.h"

#define USERS 2
#define EACH 3
#define FILE_BYTES 10000
#define ALIGN 512

struct user {
	struct sp__io_owner owner;
	struct sp__request request[EACH];
	char *data[EACH];
	unsigned called, wrong;
	bool again; /* makes its first request once more */
	struct sp__requests *requests;
};

static struct sp_errinfo err;
static char content[FILE_BYTES], *memory;
static struct sp__volume *volume;

/* The range of request i of a user: across a boundary, within a block, at the end. */
static uint64_t offset_of(unsigned user, unsigned i)
{
	return (uint64_t)user * 1000 + i * 4000 + 500;
}

static void done_one(struct sp__io_owner *owner, struct sp__request *r)
{
	struct user *u = (void *)owner;

	u->called++;
	u->wrong += r < u->request || r >= u->request + EACH;
	if (u->again) {
		u->again = false;
		u->wrong += sp__requests_add(u->requests, r) != 0;
	}
}

static void add_all(struct sp__requests *r, struct user *users)
{
	size_t bytes = sp__request_capacity(volume, 100);

	for (unsigned u = 0; u < USERS; u++)
		for (unsigned i = 0; i < EACH; i++) {
			struct sp__request *q = &users[u].request[i];

			users[u].owner.completed = done_one;
			users[u].requests = r;
			users[u].data[i] =
				sp__request_aim(q, &users[u].owner, volume, offset_of(u, i), 100,
						memory + (u * EACH + i) * 2 * ALIGN);
			users[u].wrong += q->offset % ALIGN || q->bytes % ALIGN || q->bytes > bytes;
			users[u].wrong += sp__requests_add(r, q) != 0;
		}
}

/* Waits and collects until all users have been called so often. */
static bool run(struct sp__requests *r, const struct user *users, unsigned calls)
{
	struct sp__waits waits = { 0 };

	while (users[0].called + users[1].called < calls) {
		sp__requests_later(r, &waits);
		if (sp__waits_block(&waits) || sp__requests_collect(r))
			return false;
	}
	return true;
}

static void check_reads(const struct sp__queue_opts *o)
{
	struct user users[USERS] = { { .again = true } };
	struct sp__requests r;
	bool right = true;

	ok(!sp__requests_open(&r, o, &err), "a queue is opened");
	add_all(&r, users);
	ok(!users[0].called && !sp__queue_outstanding(r.queue), "added requests wait for a flush");
	ok(!sp__requests_flush(&r), "one flush submits them");
	ok(run(&r, users, USERS * EACH + 1) && users[0].called == EACH + 1 &&
		   users[1].called == EACH && !users[0].wrong && !users[1].wrong,
	   "each user is called for its own, for one that it adds again, too");
	for (unsigned u = 0; u < USERS; u++)
		for (unsigned i = 0; i < EACH; i++)
			right &= !sp__request_result(&users[u].request[i], users[u].data[i], 100) &&
				 !memcmp(users[u].data[i], content + offset_of(u, i), 100);
	ok(right, "their bytes are where aim said");
	sp__requests_close(&r);
}

static void check_end(const struct sp__queue_opts *o)
{
	struct user users[USERS] = { 0 };
	struct sp__request *q = &users[0].request[0];
	struct sp__requests r;
	char *data;

	if (sp__requests_open(&r, o, &err))
		abort();
	users[0].owner.completed = done_one;
	data = sp__request_aim(q, &users[0].owner, volume, FILE_BYTES - 50, 100, memory);
	ok(!sp__requests_add(&r, q) && run(&r, users, 1) && sp__request_result(q, data, 50) == 0 &&
		   sp__request_result(q, data, 51) == SP_ECORRUPT,
	   "a read past the end of the file is an error of the request");
	add_all(&r, users);
	sp__requests_close(&r);
	ok(users[0].called == 1 && !users[1].called, "closing calls no user");
	sp__requests_close(&r);
}

static void check_write(const struct sp__queue_opts *o)
{
	struct user users[USERS] = { 0 };
	struct sp__request *q = &users[1].request[0];
	struct sp__requests r;
	char found[ALIGN];

	if (sp__requests_open(&r, o, &err))
		abort();
	memset(memory, 'w', ALIGN);
	users[1].owner.completed = done_one;
	*q = (struct sp__request){ .op = SP__OP_WRITE,
				   .volume = volume,
				   .offset = ALIGN,
				   .data = memory,
				   .bytes = ALIGN,
				   .owner = &users[1].owner };
	ok(!sp__requests_add(&r, q) && run(&r, users, 1) && q->result == ALIGN &&
		   pread(volume->fd, found, ALIGN, ALIGN) == ALIGN && !memcmp(found, memory, ALIGN),
	   "a request can write");
	sp__requests_close(&r);
}

int main(void)
{
	const struct sp__queue_opts o = { .engine = "sync", .depth = USERS * EACH + 1 };
	int fd = memfd_create("requests", MFD_CLOEXEC);

	for (size_t i = 0; i < FILE_BYTES; i++)
		content[i] = (char)(i * 7 + i / 256);
	memory = sp__pages_alloc(USERS * EACH * 2 * ALIGN, false);
	if (fd < 0 || !memory || write(fd, content, FILE_BYTES) != FILE_BYTES ||
	    sp__volume_adopt(&volume, fd, true, "requests", &err))
		return 2;
	volume->align_bytes = ALIGN;
	check_reads(&o);
	check_end(&o);
	check_write(&o);
	sp__volume_close(volume);
	sp__pages_free(memory, USERS * EACH * 2 * ALIGN);
	return done();
}
