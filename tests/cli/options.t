# Options are checked before anything is done.
$ fizeau diff --frobnicate a b
fizeau: diff: unknown option '--frobnicate'; see 'fizeau diff --help all'
[2]

$ fizeau diff --colour never a b
fizeau: diff: unknown option '--colour'; did you mean '--color'?
[2]

$ fizeau diff -z a b
fizeau: diff: unknown option '-z'; see 'fizeau diff --help all'
[2]

$ fizeau diff --limit -1 a b
fizeau: diff: --limit: '-1' is not a whole number from 0 to 1000000
[2]

$ fizeau diff --limit many a b
fizeau: diff: --limit: 'many' is not a whole number from 0 to 1000000
[2]

$ fizeau diff --limit
fizeau: diff: --limit requires a value (N)
[2]

$ fizeau diff --scale sideways a b
fizeau: diff: --scale: 'sideways' is not one of auto, time, share, reference, work, window, amount
[2]

$ fizeau diff only-one
fizeau: diff: expected two recordings, BASE HEAD, none (the last two of a program), or two sets, BASE... :: HEAD...; got 1
[2]

# Sets of recordings.
$ fizeau diff a :: b :: c
fizeau: diff: more than one '::'
[2]

$ fizeau diff a b ::
fizeau: diff: no recording after '::'
[2]

$ fizeau diff :: a b
fizeau: diff: no recording before '::'
[2]

$ fizeau run --runs 0 true
fizeau: run: --runs: '0' is not a whole number from 1 to 1000
[2]

$ fizeau run --runs 2 -d 1 --keep true
fizeau: run: --keep cannot be combined with several --runs
[2]

# A comparison needs to know what to run, and where.
$ fizeau compare HEAD~1
fizeau: compare: no command; add one after '--', for example: fizeau compare HEAD~1 -- python3 bench.py
[2]

$ fizeau compare one two -- true
fizeau: compare: expected at most one revision, the base; the head is the working tree
[2]

$ fizeau compare --base-command true
fizeau: compare: --base-command requires --head-command
[2]

$ fizeau compare --base true --head true HEAD~1
fizeau: compare: --base-command and --head-command allow no further command or revision
[2]

$ fizeau compare -r max -- true
fizeau: compare: --clock cpu requires a sampling rate other than 'max'
[2]

# Outside a checkout, and before the first commit: one line, with git's own reason in it.
$ LC_ALL=C GIT_CEILING_DIRECTORIES="$PWD/.." fizeau compare HEAD~1 -- true
fizeau: compare: git: not a git repository (or any of the parent directories): .git; use --base-command and --head-command to compare two commands
[2]

$ git init -q . && fizeau compare nosuch -- true
fizeau: compare: 'nosuch': no such revision
[2]

$ fizeau replay
fizeau: replay: expected one recording, got 0
[2]

$ fizeau attach
fizeau: attach: specify one process id or --system
[2]

$ fizeau attach not-a-number
fizeau: attach: invalid process id 'not-a-number'
[2]

$ fizeau attach 999999999
fizeau: attach: no process 999999999
[2]

# Whoever writes this does not mean a sample every 2 ns.
$ fizeau run -r 500mhz true
fizeau: run: invalid sampling rate '500mhz': above 1 MHz; use 'max' to sample as fast as possible
[2]

$ fizeau dump
fizeau: dump: specify one or more process ids
[2]

$ fizeau heap
fizeau: heap: specify one process id
[2]

$ fizeau heap not-a-number
fizeau: heap: invalid process id 'not-a-number'
[2]

$ fizeau heap --limit 0 1
fizeau: heap: --limit: '0' is not a whole number from 1 to 1000000
[2]

$ fizeau dump not-a-number 999999999
fizeau: dump: invalid process id 'not-a-number'
fizeau: dump: no process 999999999
[2]

# py-spy's spelling is run or attach.
$ fizeau record -o x.svg --pid 999999999 -d unlimited
fizeau: attach: no process 999999999
[2]

$ fizeau record --flamegrap script.py
fizeau: run: script 'script.py' not found
[125]

$ fizeau recrod; fizeau report x.fz; fizeau snapshot; fizeau live 42; fizeau help live; fizeau version
fizeau: unknown command 'recrod'; did you mean 'record'?
fizeau: unknown command 'report'; did you mean 'replay'?
fizeau: unknown command 'snapshot'; did you mean 'dump'?
fizeau: unknown command 'live'; did you mean 'top'?
fizeau: unknown command 'live'; did you mean 'top'?
fizeau: unknown command 'version'; did you mean '--version'?
[2]

# "--" ends the options.
$ fizeau replay -- --version
fizeau: --version: no such file, recording or git revision
[2]

$ fizeau run -r fast true
fizeau: run: invalid sampling rate 'fast'; use for example 1000, 2.5khz, 10k or max
[2]

$ fizeau run -d -1 true
fizeau: run: invalid duration '-1': use seconds, such as 10 or 0.5
[2]

$ fizeau run --clock sundial true
fizeau: run: --clock: 'sundial' is not one of wall, cpu
[2]

$ fizeau run
fizeau: run: no command; specify a script, '-m MODULE' or a program
[2]

$ fizeau ci; fizeau bench
fizeau: ci: no command; add one after '--', for example: fizeau ci -- pytest tests/bench
fizeau: bench: no command; add one after '--', for example: fizeau bench -- pytest tests/
[2]

# Files that are no profile, missing or empty: one line each.
$ fizeau replay missing.fz
fizeau: missing.fz: no such file, recording or git revision
[2]

$ fizeau replay .
fizeau: .: is a folder; specify a profile file
[2]

$ : > empty; fizeau replay empty
fizeau: empty: the file is empty
[2]

$ head -c 3000 /bin/true > noise; fizeau replay noise
fizeau: noise: not a profile in a supported format; 'fizeau replay --list-formats' lists them
[2]

# An output that cannot be written is found before the work.
$ fizeau run -o no/such/folder/x.fz touch started
fizeau: no/such/folder/x.fz: cannot be written: No such file or directory
[125]

$ test -e started
[1]

$ fizeau replay -o no/such/folder/x.folded empty
fizeau: no/such/folder/x.folded: cannot be written: No such file or directory
[2]

$ fizeau ci -o empty -- touch started
fizeau: ci: empty/comment.md: cannot be written: Not a directory
[2]

$ fizeau ci -o '' -- touch started
fizeau: ci: the name of the output folder is empty
[2]

$ fizeau ci --save no/such/x.fz -- touch started
fizeau: ci: --save: no/such/x.fz: cannot be written: No such file or directory
[2]

# The file may be in the folder, which is removed again.
$ fizeau ci -o made/here --save made/other/x.fz -- touch started; test -e made
fizeau: ci: --save: made/other/x.fz: cannot be written: No such file or directory
[1]

$ fizeau ci -o made/here --save made/here/x.fz -- touch started 2>&1 | grep save; test -e made
[1]

$ fizeau ci --save '' -- touch started
fizeau: ci: --save: the name of the output file is empty
[2]

$ fizeau bench -o x.bin -- touch started
fizeau: bench: binary stores times, but this recording has none; use -o FILE.fz or FILE.pb.gz
[2]

$ fizeau bench -o x.unknown -- touch started
fizeau: bench: x.unknown: unknown suffix; select a format with --format: text, tree, html, heatmap, svg, pprof, speedscope, callgrind, cpuprofile, perfetto, json, csv, lines, collapsed, folded, pstats, gecko, jsonl, binary, fz
[2]

$ fizeau run --count --pstats -o x -- touch started
fizeau: run: pstats stores times, but this recording has none; use -o FILE.fz or FILE.pb.gz
[2]

$ fizeau heap -o x.unknown 1
fizeau: x.unknown: unknown suffix; select a format with --format: text, tree, html, heatmap, svg, pprof, speedscope, callgrind, cpuprofile, perfetto, json, csv, lines, collapsed, folded, pstats, gecko, jsonl, binary, fz
[2]

$ test -e started
[1]

$ fizeau diff -o x.unknown empty empty
fizeau: x.unknown: unknown suffix; select a format with --format: text, tree, html, heatmap, svg, json, csv, lines, markdown, collapsed, folded
[2]

# A store without recordings.
$ fizeau list
fizeau: no recordings in $SCRATCH/.fizeau; use 'fizeau run' to make one

$ fizeau show
fizeau: @1: no such recording; the store has 0 recordings ('fizeau list')
[2]

$ fizeau rm @1
fizeau: @1: no such recording; the store has 0 recordings ('fizeau list')
[2]

$ fizeau diff
fizeau: no two recordings of the same program in the store; use 'fizeau run' to make them
[2]

$ fizeau help list
fizeau list: list stored recordings

Usage: fizeau list [options]

Examples:
  $ fizeau list           # @1 is the latest
  $ fizeau list -l 5

Options:
  -l, --limit N             show only the newest N

# A file needs a name, and a message about a long one still says what is wrong.
$ fizeau replay $DATA/tachyon-diff/base.bin -o ''
fizeau: -o requires a file name; '-' is standard output
[2]

$ fizeau replay $(printf 'a%.0s' $(seq 5000)) 2>&1 | tail -c 30
aaaaaaaaa: File name too long

# What says how to sample is no option of counting.
$ for o in --live '--mode gil' --native --opcodes --blocking '-d 1' --subprocesses
> do fizeau run --count $o -- true 2>&1 | cut -d: -f3; done; fizeau run --cache -- true; fizeau run --callgrind -- true
 --live cannot be combined with --count, which does not sample
 --mode cannot be combined with --count, which does not sample
 --native cannot be combined with --count, which does not sample
 --opcodes cannot be combined with --count, which does not sample
 --blocking cannot be combined with --count, which does not sample
 --duration cannot be combined with --count, which does not sample
 --subprocesses cannot be combined with --count, which does not sample
fizeau: --cache requires --count
fizeau: --callgrind requires --count
[2]

# Whoever pauses must be able to go on, and only sampling can be switched off.
$ fizeau run --paused -- true
fizeau: --paused requires --control unix:PATH
[2]

$ fizeau run --control x -- true
fizeau: invalid --control 'x': use unix:PATH
[2]

$ fizeau run --count --control unix:x -- true
fizeau: run: --control cannot be combined with --count, which does not sample
[2]

$ fizeau run --runs 2 --control unix:x -- true
fizeau: run: --control cannot be combined with several --runs
[2]

# The first argument ends the options: what follows are the program's.
$ fizeau run /nonexistent --flag
fizeau: run: '/nonexistent' cannot be started: No such file or directory
[125]
