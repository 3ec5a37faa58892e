/* SPDX-License-Identifier: MIT */
/* Includes the whole public interface of libspindle. */
#ifndef SPINDLE_H
#define SPINDLE_H

#include <spindle/batch.h>
#include <spindle/bench.h>
#include <spindle/benchset.h>
#include <spindle/buffers.h>
#include <spindle/call.h>
#include <spindle/columns.h>
#include <spindle/cubearray.h>
#include <spindle/fiojob.h>
#include <spindle/flow.h>
#include <spindle/gen.h>
#include <spindle/geometry.h>
#include <spindle/grid.h>
#include <spindle/index.h>
#include <spindle/join.h>
#include <spindle/joinform.h>
#include <spindle/order.h>
#include <spindle/outfile.h>
#include <spindle/packed.h>
#include <spindle/policy.h>
#include <spindle/pool.h>
#include <spindle/preflight.h>
#include <spindle/probe.h>
#include <spindle/rec.h>
#include <spindle/report.h>
#include <spindle/run.h>
#include <spindle/sequence.h>
#include <spindle/size.h>
#include <spindle/sort.h>
#include <spindle/spill.h>
#include <spindle/split.h>
#include <spindle/table.h>
#include <spindle/tablealter.h>
#include <spindle/tablearrow.h>
#include <spindle/tablerun.h>
#include <spindle/vdrive.h>
#include <spindle/version.h>
#include <spindle/watch.h>
#include <spindle/enum.h>

#endif
