/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "flow/iter.h"
#include "tap.h"

static struct sp__waits waits;
static int later, blocked;
static bool forgets;

static int block(void *operator)
{
	blocked++;
	return *(int *)operator;
}

static int next(void *operator, struct sp_batch * batch)
{
	if (later-- > 0) {
		if (!forgets)
			sp__waits_add(&waits, block, operator);
		return SP_LATER;
	}
	batch->data = "x\n";
	batch->bytes = 2;
	return SP_READY;
}

int main(void)
{
	int result = 0, first = 0, second = -EIO;
	struct sp__iter it = { &result, next };
	struct sp_batch batch = { 0 };

	later = 3;
	ok(sp__iter_next(&it, &waits, &batch) == SP_READY && blocked == 3 && batch.bytes == 2,
	   "the blocking helper waits once for each LATER");
	later = 1;
	result = -EIO;
	ok(sp__iter_next(&it, &waits, &batch) == -EIO, "a wait that fails is the answer");
	later = 1;
	forgets = true;
	ok(sp__iter_next(&it, &waits, &batch) == SP_ESTATE, "LATER without a wait is caught");
	ok(sp__waits_block(&waits) == SP_ESTATE, "as is waiting for nothing");
	sp__waits_add(&waits, block, &first);
	sp__waits_add(&waits, block, &second);
	ok(sp__waits_block(&waits) == 0, "the wait registered first is waited for");
	ok(sp__waits_block(&waits) == SP_ESTATE, "and the others are forgotten");
	return done();
}
