/* SPDX-License-Identifier: MIT */
/* timer HZ SECONDS: wake up HZ times a second and do nothing, the floor under any sampler's CPU.
 *
 * On a virtual machine a wake-up can cost more than a sample: the timer interrupt, the exit to the
 * host and the switch of context are charged to who sleeps.
 */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	long hz = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	long seconds = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
	struct timespec t;

	if (hz < 1 || hz > 1000000)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &t);
	for (long i = 0; i < hz * seconds; i++) {
		t.tv_nsec += 1000000000 / hz;
		if (t.tv_nsec >= 1000000000) {
			t.tv_nsec -= 1000000000;
			t.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
	return 0;
}
