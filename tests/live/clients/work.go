// SPDX-License-Identifier: MIT

package main

import "syscall"

// Seconds of CPU time, which is what is sampled.
func spent() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

//go:noinline
func work(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += i * i
	}
	return sum
}

//go:noinline
func parse(n int) int { return work(n) + 1 }

//go:noinline
func render() int { return work(100000) + 1 }

// Parse has n times as much to do as render.
func run(seconds float64, n int) {
	for end := spent() + seconds; spent() < end; {
		parse(100000 * n)
		render()
	}
}
