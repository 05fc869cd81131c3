# The first line of --version is the name and the number.
$ fizeau --version | sed 's/Linux .*: the engines are read.*/Linux: engines/; s/built by .* for [a-z0-9_]*, with\(out\)* servers .*/built/'
fizeau 0.1.0
built
Linux: engines

$ fizeau frobnicate
fizeau: 'frobnicate' is no command; 'fizeau help' lists them
[2]

$ fizeau --frobnicate
fizeau: '--frobnicate' is no command; 'fizeau help' lists them
[2]

# Without a command: the overview on stderr, and a status that scripts notice.
$ fizeau 2>/dev/null
[2]

$ fizeau 2>&1 | head -n 3
fizeau: record Python programs from outside, compare recordings

Usage: fizeau COMMAND [options]

$ fizeau help | head -n 3
fizeau: record Python programs from outside, compare recordings

Usage: fizeau COMMAND [options]

$ fizeau --help | head -n 1
fizeau: record Python programs from outside, compare recordings

$ fizeau -h | head -n 1
fizeau: record Python programs from outside, compare recordings

$ fizeau help frobnicate
fizeau: help: 'frobnicate' is no command; 'fizeau help' lists them
[2]

# Output that is lost is told, by whichever command; a reader that went away is no failure.
$ fizeau help >/dev/full
fizeau: standard output: cannot be written: No space left on device
[2]

$ fizeau --version >&-
fizeau: standard output: cannot be written: Bad file descriptor
[2]

$ fizeau help run >/dev/full
fizeau: standard output: cannot be written: No space left on device
[2]

$ (fizeau help run; echo $? >&2) | true
0
