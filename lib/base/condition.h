/* SPDX-License-Identifier: MIT
 *
 * Conditions that are waited for at most some time, by the clock that no one can set.
 */
#ifndef TACT_CONDITION_H
#define TACT_CONDITION_H

#include <pthread.h>

/* As pthread_cond_init, for condition_wait_ms. */
void condition_init(pthread_cond_t *condition);

/* Waits for the condition, or for that many milliseconds.  The caller has the lock. */
void condition_wait_ms(pthread_cond_t *condition, pthread_mutex_t *lock, unsigned ms);

#endif /* TACT_CONDITION_H */
