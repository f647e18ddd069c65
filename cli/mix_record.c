/* SPDX-License-Identifier: MIT */
#include "mixer.h"
int mix_record_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 3;
}
int mix_exact_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 3;
}
