/* SPDX-License-Identifier: MIT
 *
 * All public headers of libtact, which tells how many cycles machine code takes, and why.  The
 * manual page tact(3) is an overview.
 */
#ifndef TACT_TACT_H
#define TACT_TACT_H

#include <tact/advice.h>
#include <tact/analysis.h>
#include <tact/arch.h>
#include <tact/block.h>
#include <tact/classify.h>
#include <tact/collect.h>
#include <tact/confidence.h>
#include <tact/cycles.h>
#include <tact/doctor.h>
#include <tact/input.h>
#include <tact/insn.h>
#include <tact/mca.h>
#include <tact/measure.h>
#include <tact/mix.h>
#include <tact/model.h>
#include <tact/pipeline.h>
#include <tact/predict.h>
#include <tact/remark.h>
#include <tact/result.h>
#include <tact/simulate.h>
#include <tact/status.h>
#include <tact/store.h>
#include <tact/symbols.h>
#include <tact/trace.h>
#include <tact/tune.h>
#include <tact/version.h>
#include <tact/view.h>

#endif /* TACT_TACT_H */
