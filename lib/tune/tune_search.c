/* SPDX-License-Identifier: MIT */
#include "tune/tune.h"
int tune_simple(struct tact_tuner *t, struct tact_diag *diag)
{
	(void)t;
	(void)diag;
	return 0;
}
int tune_random_search(struct tact_tuner *t, struct tact_diag *diag)
{
	(void)t;
	(void)diag;
	return 0;
}
int tune_bandit(struct tact_tuner *t, struct tact_diag *diag)
{
	(void)t;
	(void)diag;
	return 0;
}
int tune_surrogate(struct tact_tuner *t, struct tact_diag *diag)
{
	(void)t;
	(void)diag;
	return 0;
}
