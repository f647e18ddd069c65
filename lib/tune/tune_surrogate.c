/* SPDX-License-Identifier: MIT */
#include "tune/tune.h"
int tune_surrogate(struct tact_tuner *t, struct tact_diag *diag)
{
	(void)t;
	return tact_fail(diag, TACT_E_NOT_MODELLED, "not yet");
}
