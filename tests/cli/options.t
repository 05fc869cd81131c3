# Options are checked before anything is done.
$ fizeau diff --frobnicate a b
fizeau: diff: --frobnicate: no such option; --help lists them
[2]

$ fizeau diff --colour never a b
fizeau: diff: --colour: no such option; did you mean --color?
[2]

$ fizeau diff -z a b
fizeau: diff: -z: no such option; --help lists them
[2]

$ fizeau diff --limit 0 a b
fizeau: diff: --limit: '0' is not a whole number from 1 to 1000000
[2]

$ fizeau diff --limit many a b
fizeau: diff: --limit: 'many' is not a whole number from 1 to 1000000
[2]

$ fizeau diff --limit
fizeau: diff: --limit: needs a value (N)
[2]

$ fizeau diff --scale sideways a b
fizeau: diff: --scale: 'sideways' is not one of auto, time, share
[2]

$ fizeau diff only-one
fizeau: diff: needs two recordings, BASE and HEAD (or none, for the last two of the same program), but got 1
[2]

$ fizeau replay
fizeau: replay: needs one recording, but got 0
[2]

$ fizeau attach
fizeau: attach: name one process id
[2]

$ fizeau attach not-a-number
fizeau: attach: 'not-a-number' is no process id
[2]

$ fizeau attach 999999999
fizeau: attach: no process 999999999
[2]

# "--" ends the options.
$ fizeau replay -- --version
fizeau: --version: no such file, recording or git revision
[2]

$ fizeau run -r fast true
fizeau: run: 'fast' is no sampling rate; write for example 1000, 2.5khz, 10k or max
[2]

$ fizeau run -d -1 true
fizeau: run: '-1' is no duration; write seconds such as 10 or 0.5
[2]

$ fizeau run --clock sundial true
fizeau: run: --clock: 'sundial' is not one of wall, cpu
[2]

$ fizeau run
fizeau: run: nothing to run; name a script, '-m MODULE' or a command
[125]

# Files that are no profile, missing or empty: one line each.
$ fizeau replay missing.fz
fizeau: missing.fz: no such file, recording or git revision
[2]

$ fizeau replay .
fizeau: .: is a folder; name a profile file
[2]

$ : > empty; fizeau replay empty
fizeau: empty: the file is empty
[2]

$ head -c 3000 /bin/true > noise; fizeau replay noise
fizeau: noise: not a profile in a format that can be read (collapsed, fz, tachyon)
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

$ fizeau diff -o x.unknown empty empty
fizeau: x.unknown: the suffix names no format; choose one with --format: text, html, svg, json, collapsed, folded
[2]

# A store without recordings.
$ fizeau list
fizeau: no recordings in $SCRATCH/.fizeau; 'fizeau run' makes one

$ fizeau show
fizeau: @1: the store holds 0 recordings; 'fizeau list' shows what there is
[2]

$ fizeau rm @1
fizeau: @1: the store holds 0 recordings; 'fizeau list' shows what there is
[2]

$ fizeau diff
fizeau: the store holds no two recordings of the same program; 'fizeau run' makes them
[2]

$ fizeau help list
fizeau list: list the recordings of the local store

Usage: fizeau list [options]

Examples:
  $ fizeau list           # @1 is the latest
  $ fizeau list -l 5

Options:
  -l, --limit N             show the newest N only
