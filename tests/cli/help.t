# The first line of --version is the name and the number.
$ fizeau --version | sed 's/Linux .*: available stack readers: read.*/Linux: readers/; s/built by .* for [a-z0-9_]*, with\(out\)* server support/built/'
fizeau 0.1.0
built
Linux: readers

$ fizeau frobnicate
fizeau: unknown command 'frobnicate'; see 'fizeau help'
[2]

$ fizeau --frobnicate
fizeau: unknown option '--frobnicate'; see 'fizeau help'
[2]

# Without a command: the overview on stderr, and a status that scripts notice.
$ fizeau 2>/dev/null
[2]

$ fizeau 2>&1 | head -n 3
fizeau: profile Python and native programs and compare recordings

Usage: fizeau COMMAND [options]

$ fizeau 2>&1 | tail -n 2
Start with 'fizeau run PROGRAM' or 'fizeau attach PID'. Use 'fizeau COMMAND --help' for help on
a command and 'fizeau --version' for the version.

$ fizeau help | head -n 3
fizeau: profile Python and native programs and compare recordings

Usage: fizeau COMMAND [options]

$ fizeau --help | head -n 1
fizeau: profile Python and native programs and compare recordings

$ fizeau -h | head -n 1
fizeau: profile Python and native programs and compare recordings

$ fizeau help frobnicate
fizeau: unknown command 'frobnicate'; see 'fizeau help'
[2]

$ fizeau completion; fizeau completion csh; fizeau completion bash | head -n 1
fizeau: completion: specify a shell: bash, zsh or fish
fizeau: completion: unknown shell 'csh'; use bash, zsh or fish
# bash completion of fizeau; made by 'fizeau completion bash'

# --help prints the common options, --help all every option; former names work and are in neither.
$ fizeau run --help | grep -c -e --sampling-rate -e --opcodes; fizeau run --help | tail -n 1
1
Use 'fizeau run --help all' for every option.

$ fizeau run --help all | grep -c -e --sampling-rate -e --opcodes; fizeau help run all | grep -c -e --opcodes; fizeau run --help=all | grep -c 'Use `fizeau'
2
1
0
[1]

$ fizeau list --help | tail -n 1
  -l, --limit N             show only the newest N

$ fizeau diff --help all | grep -e '--base[ =]' -e '--units' -e '--no-rename '
[1]

# Every command reports lost output; a closed pipe is not a failure.
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
