/* SPDX-License-Identifier: MIT
 *
 * What the tact program needs of the library beyond its public interface.  These headers are not
 * installed, the libraries do not export what they declare, and all of it may change at any time.
 */
#ifndef TACT_PROGRAM_PROGRAM_H
#define TACT_PROGRAM_PROGRAM_H

#include <tact-program/campaign.h>
#include <tact-program/codediff.h>
#include <tact-program/coverage.h>
#include <tact-program/dataset.h>
#include <tact-program/drawing.h>
#include <tact-program/evaluate.h>
#include <tact-program/hunt.h>
#include <tact-program/lint.h>
#include <tact-program/report.h>
#include <tact-program/rows.h>
#include <tact-program/shares.h>
#include <tact-program/tracing.h>

#endif /* TACT_PROGRAM_PROGRAM_H */
