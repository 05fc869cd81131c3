# $DATA/tachyon-diff holds recordings that CPython 3.15 made of program.py.
$ cp $DATA/tachyon-diff/*.bin . && fizeau diff base.bin head.bin
Unsure whether slower or faster: 602 ms -> 604 ms of wall time, +2.00 ms (+0.3 %
  [-51.6 %, +108.2 %]).

Self: 0 slower, 0 faster, 1 gone or no longer recorded.
   before     after      change  interval         %   function
  69.0 ms       0 s    -69.0 ms  ±61.3 ms      to 0   dropped.<…>.<genexpr>:21

Only with callees: 0 slower, 0 faster, 1 gone or no longer recorded.
   before     after      change  interval         %   function
   140 ms       0 s     -140 ms  ±59.2 ms      to 0   dropped (program.py:21)

Unsure: parse +164 ms ±919 ms, helper -35.5 ms ±70.8 ms, dropped -31.5 ms
  ±62.7 ms; 4 more (--table).

Measured: one run per side, by the wall clock; smallest detectable change:
  82.7 %.
Limits: more than 5 % of the base's samples could not be read; 2 more warnings
  (--verbose).
Next: fizeau diff BASE... :: HEAD...  # several files per side

$ fizeau diff base.bin head.bin --table
Unsure whether slower or faster: 602 ms -> 604 ms of wall time, +2.00 ms (+0.3 %
  [-51.6 %, +108.2 %]).

Self: 0 slower, 0 faster, 1 gone or no longer recorded, 0 same within ±0.2 % of
  the run, 7 unsure (?).
   before     after      change  interval         %   function
  69.0 ms       0 s    -69.0 ms  ±61.3 ms      to 0   dropped.<…>.<genexpr>:21
   368 ms    532 ms     +164 ms   ±919 ms   +44.6 % ? parse (program.py:11)
  82.5 ms   47.0 ms    -35.5 ms  ±70.8 ms   -43.0 % ? helper (program.py:31)
  31.5 ms       0 s    -31.5 ms  ±62.7 ms      to 0 ? dropped (program.py:21)
  46.5 ms   18.5 ms    -28.0 ms  ±34.5 ms   -60.2 % ? fib (program.py:17)
  2.50 ms   4.50 ms    +2.00 ms  ±74.5 ms   +80.0 % ? request (program.py:37)

Total, with callees: 0 slower, 0 faster, 2 gone or no longer recorded, 0 same
  within ±0.2 % of the run, 10 unsure (?).
   before     after      change  interval         %   function
   140 ms       0 s     -140 ms  ±59.2 ms      to 0   dropped (program.py:21)
  69.0 ms       0 s    -69.0 ms  ±54.4 ms      to 0   dropped.<…>.<genexpr>:21
   368 ms    532 ms     +164 ms   ±919 ms   +44.6 % ? parse (program.py:11)
  82.5 ms   47.0 ms    -35.5 ms  ±70.8 ms   -43.0 % ? helper (program.py:31)
      0 s   30.0 ms    +30.0 ms  ±46.6 ms    from 0 ? added (program.py:25)
  46.5 ms   18.5 ms    -28.0 ms  ±34.5 ms   -60.2 % ? fib (program.py:17)
   602 ms    604 ms    +2.00 ms   ±649 ms    +0.3 % ? _run_code (…3/runpy.py:87)

New or newly recorded (not in the base's recording): 1 function, self 0 s
     self     total  function
      0 s   30.0 ms  added (program.py:25)

Removed or no longer recorded (not in the head's recording): 2 functions, self 100 ms
     self     total  function
  31.5 ms    140 ms  dropped (program.py:21)
  69.0 ms   69.0 ms  dropped.<locals>.<genexpr> (program.py:21)

Removed call paths: 3, self 140 ms

Measured: one run per side, by the wall clock; smallest detectable change:
  82.7 %.
Limits: more than 5 % of the base's samples could not be read; 2 more warnings
  (--verbose).
Next: fizeau diff BASE... :: HEAD...  # several files per side

$ fizeau diff base.bin head.bin --verbose
Unsure whether slower or faster: 602 ms -> 604 ms of wall time, +2.00 ms (+0.3 %
  [-51.6 %, +108.2 %]).
For a clear answer, record several runs of each version:
  fizeau diff BASE... :: HEAD...  # several files per side
Smallest detectable change: 82.7 %.
Warning: more than 5 % of the base's samples could not be read.
Warning: more than 5 % of the head's samples could not be read.
Warning: both are assumed to be whole runs; for parts of a running program use
  --scale window.

Self: 0 slower, 0 faster, 1 gone or no longer recorded, 0 same within ±0.2 % of
  the run, 7 unsure (?).
   before     after      change  interval         %   function
  69.0 ms       0 s    -69.0 ms  ±61.3 ms      to 0   dropped.<…>.<genexpr>:21
   368 ms    532 ms     +164 ms   ±919 ms   +44.6 % ? parse (program.py:11)
  82.5 ms   47.0 ms    -35.5 ms  ±70.8 ms   -43.0 % ? helper (program.py:31)
  31.5 ms       0 s    -31.5 ms  ±62.7 ms      to 0 ? dropped (program.py:21)
  46.5 ms   18.5 ms    -28.0 ms  ±34.5 ms   -60.2 % ? fib (program.py:17)
  2.50 ms   4.50 ms    +2.00 ms  ±74.5 ms   +80.0 % ? request (program.py:37)

Total, with callees: 0 slower, 0 faster, 2 gone or no longer recorded, 0 same
  within ±0.2 % of the run, 10 unsure (?).
   before     after      change  interval         %   function
   140 ms       0 s     -140 ms  ±59.2 ms      to 0   dropped (program.py:21)
  69.0 ms       0 s    -69.0 ms  ±54.4 ms      to 0   dropped.<…>.<genexpr>:21
   368 ms    532 ms     +164 ms   ±919 ms   +44.6 % ? parse (program.py:11)
  82.5 ms   47.0 ms    -35.5 ms  ±70.8 ms   -43.0 % ? helper (program.py:31)
      0 s   30.0 ms    +30.0 ms  ±46.6 ms    from 0 ? added (program.py:25)
  46.5 ms   18.5 ms    -28.0 ms  ±34.5 ms   -60.2 % ? fib (program.py:17)
   602 ms    604 ms    +2.00 ms   ±649 ms    +0.3 % ? _run_code (…3/runpy.py:87)

New or newly recorded (not in the base's recording): 1 function, self 0 s
     self     total  function
      0 s   30.0 ms  added (program.py:25)

Removed or no longer recorded (not in the head's recording): 2 functions, self 100 ms
     self     total  function
  31.5 ms    140 ms  dropped (program.py:21)
  69.0 ms   69.0 ms  dropped.<locals>.<genexpr> (program.py:21)

Removed call paths: 3, self 140 ms

Ignored when comparing names: prefixes and versions of libraries (2 and 2
  functions); root folders (9 and 8 functions).

Scaling: time, factor 1; base values are as recorded.
Base base.bin: 1,203 samples every 500 us, 6.1 % failed, 0.0 % missed.
Head head.bin: 1,207 samples every 500 us, 7.4 % failed, 0.0 % missed.
Judged: one run per side, by how often and how long each function was sampled,
  assuming the usual noise of wall time.

$ fizeau diff base.bin base.bin --scale time
Same: nothing differs: 602 ms -> 602 ms of wall time, 0 s (0.0 %).

Measured: both sides are identical.
Limits: more than 5 % of the base's samples could not be read; 2 more warnings
  (--verbose).

# Options of the text alone; less than two recordings have no comparison.
$ fizeau diff base.bin head.bin --table --tree
fizeau: --table requires --format text, not tree
[2]

$ fizeau diff base.bin head.bin --verbose -o x.html
fizeau: --verbose requires --tree or --format text, not html
[2]

$ fizeau replay base.bin --table
fizeau: --table requires --diff-flamegraph BASELINE
[2]

$ fizeau diff base.bin base.bin --scale time --verbose
Same: nothing differs: 602 ms -> 602 ms of wall time, 0 s (0.0 %).
Warning: more than 5 % of the base's samples could not be read.
Warning: more than 5 % of the head's samples could not be read.
Warning: both are assumed to be whole runs; for parts of a running program use
  --scale window.

Self: 0 slower, 0 faster, 8 same within ±0.2 % of the run, 0 unsure.

Total, with callees: 0 slower, 0 faster, 11 same within ±0.2 % of the run, 0
  unsure.

Ignored when comparing names: prefixes and versions of libraries (2 and 2
  functions); root folders (9 and 9 functions).

Scaling: time, factor 1; base values are as recorded.
Base base.bin: 1,203 samples every 500 us, 6.1 % failed, 0.0 % missed.
Head base.bin: 1,203 samples every 500 us, 6.1 % failed, 0.0 % missed.
Judged: nothing differs.

# Signs and words say what colours say.
$ fizeau diff --table --color always base.bin head.bin | head -n 15 | sed 's/\x1b/ESC/g'
ESC[1mUnsure whether slower or faster: 602 ms -> 604 ms of wall time, +2.00 ms (+0.3 %
  [-51.6 %, +108.2 %]).ESC[0m

ESC[1mSelf: 0 slower, 0 faster, 1 gone or no longer recorded, 0 same within ±0.2 % of
  the run, 7 unsure (?).ESC[0m
ESC[2m   before     after      change  interval         %   functionESC[0m
  69.0 ms       0 s  ESC[35m  -69.0 ms  ±61.3 ms      to 0ESC[0m   dropped.<…>.<genexpr>:21
   368 ms    532 ms  ESC[2m   +164 ms   ±919 ms   +44.6 %ESC[0m ? parse (program.py:11)
  82.5 ms   47.0 ms  ESC[2m  -35.5 ms  ±70.8 ms   -43.0 %ESC[0m ? helper (program.py:31)
  31.5 ms       0 s  ESC[2m  -31.5 ms  ±62.7 ms      to 0ESC[0m ? dropped (program.py:21)
  46.5 ms   18.5 ms  ESC[2m  -28.0 ms  ±34.5 ms   -60.2 %ESC[0m ? fib (program.py:17)
  2.50 ms   4.50 ms  ESC[2m  +2.00 ms  ±74.5 ms   +80.0 %ESC[0m ? request (program.py:37)

ESC[1mTotal, with callees: 0 slower, 0 faster, 2 gone or no longer recorded, 0 same
  within ±0.2 % of the run, 10 unsure (?).ESC[0m

$ fizeau diff --format json base.bin head.bin | head -n 54 | cut -c 1-220
{
  "schema": 1,
  "kind": "diff",
  "metric": "wall",
  "words": {
    "slower": {"one": "slower", "many": "slower"},
    "faster": {"one": "faster", "many": "faster"}
  },
  "match": "full",
  "base": {
    "samples": 1203,
    "total": 601500000,
    "unit": "ns",
    "facts": {"mode": "wall", "features": ["gc"], "interval_ns": 500000, "duration_ns": 640535616, "python_version": "3.15.0", "complete": false, "reconstructed": false, "error_rate": 6.0889929742388755, "missed_rate": 0
  },
  "head": {
    "samples": 1207,
    "total": 603500000,
    "unit": "ns",
    "facts": {"mode": "wall", "features": ["gc"], "interval_ns": 500000, "duration_ns": 652036922, "python_version": "3.15.0", "complete": false, "reconstructed": false, "error_rate": 7.438650306748467, "missed_rate": 0,
  },
  "scale": {
    "mode": "time",
    "factor": 1
  },
  "verdict": {
    "word": "unknown",
    "text": "Unsure whether slower or faster",
    "reason": "noise",
    "change_pct": 0.3325020781379884,
    "low": -51.648761846141625,
    "high": 108.20650830050431,
    "p": 0.9998890917628582,
    "smallest_visible_pct": 82.74919676169837,
    "visible_share_pct": 100,
    "more_runs": 273,
    "power": "Smallest detectable change: 82.7 %.",
    "method": "visits",
    "delta_pct": 0.2,
    "notes": [],
    "busy": false,
    "advice": "For a clear answer, record several runs of each version",
    "command": "fizeau diff BASE... :: HEAD...  # several files per side"
  },
  "warnings": [
    "more than 5 % of the base's samples could not be read",
    "more than 5 % of the head's samples could not be read",
    "both are assumed to be whole runs; for parts of a running program use --scale window"
  ],
  "name_rules": [
    {"rule": "prefixes and versions of libraries", "base_functions": 2, "head_functions": 2},
    {"rule": "root folders", "base_functions": 9, "head_functions": 8}
  ],
  "links": [],

# CSV has the functions of the JSON; what it has not is an empty cell.
$ fizeau diff base.bin head.bin --format csv > diff.csv && head -n 1 diff.csv
name,file,line,state,word,base_self,base_total,head_self,head_total,expected_self,expected_total,diff_self,pct_self,diff_total,pct_total,head_self_measured,head_total_measured,self_verdict,self_p,self_low,self_high,self_confidence,total_verdict,total_p,total_low,total_high,total_confidence,match.how,match.score,match.from.name,match.from.file

$ head -n 3 diff.csv | cut -d , -f 1-17
name,file,line,state,word,base_self,base_total,head_self,head_total,expected_self,expected_total,diff_self,pct_self,diff_total,pct_total,head_self_measured,head_total_measured
_run_code,lib/python3/runpy.py,87,common,,1000000,601500000,1500000,603500000,,,500000,50,2000000,0.3325020781379884,,
_run_module_as_main,lib/python3/runpy.py,201,common,,0,601500000,0,603500000,,,0,,2000000,0.3325020781379884,,

$ fizeau diff base.bin head.bin --format csv -l 2 > short.csv && head -n 3 diff.csv | cmp - short.csv && rm short.csv

$ fizeau diff base.bin head.bin --format json > diff.json && python3 - <<'END' && rm diff.csv diff.json
> import csv, json
> def flat(row, prefix=""):
>     for key, value in row.items():
>         yield from flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(prefix + key, value)]
> rows = list(csv.DictReader(open("diff.csv", newline="")))
> functions = [dict(flat(function)) for function in json.load(open("diff.json"))["functions"]]
> assert len(rows) == len(functions) > 5
> for row, function in zip(rows, functions):
>     assert list(function) == [key for key in row if key in function], (row, function)
>     for key, cell in row.items():
>         value = function.get(key)
>         same = cell == "" if value is None else cell == value if isinstance(value, str) else float(cell) == value
>         assert same, (key, cell, value)
> END

# Quotation marks, and names that a spreadsheet would evaluate.
$ printf 'a.py:main:1;a.py:=f(",")\033:2 5\na.py:-[O m]:3 4\na.py:f"g:1 3\n' > odd.txt && fizeau replay odd.txt --format csv; rm odd.txt
name,file,line,self,total
"'=f("","")\x1b",a.py,2,5,5
main,a.py,1,0,5
'-[O m],a.py,3,4,4
"f""g",a.py,1,3,3

# --limit keeps the first functions.
$ printf 'main;f 5\nmain;g 3\n' | fizeau replay - --format csv -l 2; printf 'main 5\n' | fizeau replay - --format csv -l 0
name,file,line,self,total
main,,0,0,8
f,,0,5,5
name,file,line,self,total

# Canonical names forgive another checkout, exact matching does not.
$ printf 'tid:1;/old/app.py:main:1;/old/lib/u.py:f:2 5\n' > old.txt && sed 's,/old/,/home/me/new/,g' old.txt > new.txt && fizeau diff old.txt new.txt --table | grep slower,
Self: 0 slower, 0 faster, 1 same within ±0.2 % of the run, 0 unsure.
Total, with callees: 0 slower, 0 faster, 2 same within ±0.2 % of the run, 0

$ fizeau diff old.txt new.txt --table --match exact | grep -A 1 "recorded ("
New or newly recorded (not in the base's recording): 2 functions, self 5
     self     total  function
--
Removed or no longer recorded (not in the head's recording): 2 functions, self 5
     self     total  function

$ fizeau diff base.bin head.bin --match exact --format json | grep elided
  "elided_count": 3,
  "elided_time": 279

# A format that no diff has, and a name that no format has.
$ fizeau diff base.bin head.bin --format pdf
fizeau: diff: --format: 'pdf' is not one of text, tree, html, heatmap, svg, pprof, speedscope, callgrind, cpuprofile, perfetto, json, csv, lines, collapsed, folded, pstats, gecko, jsonl, binary, fz
[2]

$ fizeau diff base.bin head.bin -o x.bin
fizeau: binary is not a format for a diff; use one of text, tree, html, heatmap, svg, json, csv, lines, markdown, collapsed, folded
[2]

$ fizeau diff base.bin
fizeau: diff: expected two recordings, BASE HEAD, none (the last two of a program), or two sets, BASE... :: HEAD...; got 1
[2]

$ fizeau diff
fizeau: no two recordings of the same program in the store; use 'fizeau run' to make them
[2]

$ fizeau diff base.bin missing.bin
fizeau: missing.bin: no such file, recording or git revision
[2]

$ fizeau diff api@1.4 api@1.5
fizeau: api@1.4: no such file, recording or git revision; use 'fizeau diff --server URL' to compare releases
[2]

$ fizeau diff base.bin head.bin -o x.html && head -c 15 x.html
fizeau: Unsure whether slower or faster: 602 ms -> 604 ms of wall time, +2.00 ms (+0.3 % [-51.6 %, +108.2 %]).
fizeau: wrote x.html
<!doctype html>

# The name of a written file is printed below the verdict, except for other outputs.
$ fizeau diff base.bin head.bin -o x.md; fizeau diff base.bin head.bin -o - --format folded | head -n 1; fizeau diff base.bin head.bin --format html -o /dev/null
fizeau: Unsure whether slower or faster: 602 ms -> 604 ms of wall time, +2.00 ms (+0.3 % [-51.6 %, +108.2 %]).
fizeau: wrote x.md
fizeau: wrote x.md.svg
# Unsure whether slower or faster: 602 ms -> 604 ms of wall time, +2.00 ms (+0.3 % [-51.6 %, +108.2 %]).
fizeau: Unsure whether slower or faster: 602 ms -> 604 ms of wall time, +2.00 ms (+0.3 % [-51.6 %, +108.2 %]).

$ fizeau diff base.bin head.bin -o x.svg && head -c 5 x.svg
fizeau: Unsure whether slower or faster: 602 ms -> 604 ms of wall time, +2.00 ms (+0.3 % [-51.6 %, +108.2 %]).
fizeau: wrote x.svg
<svg 

# Two columns, as difffolded.pl writes them: as recorded, or scaled on request.
$ printf 'a;b 3\na;c 14\na;gone 6\n' > 1.folded && printf 'a;b 7\na;c 13\na;new;er 5\n' > 2.folded && fizeau diff 1.folded 2.folded --format folded
# No overall verdict, because only shares are compared: 23 samples -> 25 samples.
# Smallest detectable change of a function with 10.0 % of the run: 85.2 % of the run.
# Scaling: share, factor 1, which most functions agree with; base values are as recorded.
a;c 14 13
a;b 3 7
a;gone 6 0
a;new;er 0 5

$ fizeau diff 1.folded 2.folded --format folded --scale share
# No overall verdict, because only shares are compared: 23 samples -> 25 samples.
# Smallest detectable change of a function with 10.0 % of the run: 84.9 % of the run.
# Scaling: share; expected is before times 1.0870, to make the totals equal. First column: expected.
a;c 15 13
a;b 3 7
a;gone 6 0
a;new;er 0 5

# Names cannot break the text.
$ printf 'a\033[31m;b 3\n' > 3.folded && fizeau diff 1.folded 3.folded --verbose | head -n 14
No overall verdict, because only shares are compared: 23 samples -> 3 samples.
For a clear answer, record several runs of each version:
  fizeau diff BASE... :: HEAD...  # several files per side
Smallest detectable change of a function with 10.0 % of the run: 115.1 % of the
  run.
Warning: no function has 20 samples, so none can serve as reference; the totals
  are made equal instead.

Self: 0 slower, 0 faster, 0 same within ±0.2 % of the run, 3 unsure (?).
   before  expected     after    by share  interval         %   function
        3       0.4         3        +2.6     ±21.9  +666.7 % ? b
       14       1.8         0        -1.8     ±19.2      to 0 ? c
        6       0.8         0        -0.8     ±19.2      to 0 ? gone

$ fizeau diff --help | head -n 3
fizeau diff: compare two recordings and report what became slower or faster

Usage: fizeau diff [options] [BASE HEAD | BASE... :: HEAD... | RECORDING]

# A terminal may be narrow.
$ COLUMNS=40 fizeau diff base.bin head.bin | head -n 11
Unsure whether slower or faster: 602 ms
  -> 604 ms of wall time, +2.00 ms
  (+0.3 % [-51.6 %, +108.2 %]).

Self: 0 slower, 0 faster, 1 gone or no
  longer recorded.
   before     after      change  interval         %   function
  69.0 ms       0 s    -69.0 ms  ±61.3 ms      to 0   …<genexpr>:21

Only with callees: 0 slower, 0 faster, 1
  gone or no longer recorded.

$ fizeau help formats
Choose an output format by --format NAME or by the suffix of -o FILE. Input formats are
detected by content, also when compressed by gzip or zstd.

  name         read  written   description
  asprof-page  yes   -         flame graph page of async-profiler (.html)
                               3.0 or later; frames below its minwidth are counted in their callers
  bcc          yes   -         output of bcc's profile and offcputime (.txt)
  bpftrace     yes   -         stack maps printed by bpftrace (.txt)
                               only the first map is read
  callgrind    yes   profiles  callgrind.out (Valgrind, KCachegrind) (.callgrind)
                               a call graph: read as a reconstructed tree; written without stacks and threads
  collapsed    yes   yes       folded stacks in Tachyon's format: thread, file:function:line (.collapsed .col)
  cpuprofile   yes   profiles  V8 CPU or heap profile (Chrome, Node, Visual Studio Code) (.cpuprofile .heapprofile)
                               written: the default metric in microseconds; threads are nodes below the root
  dhat         yes   -         DHAT, Valgrind's and Rust's (.dhat .json)
                               lifetimes, maxima of single stacks and accesses by offset are dropped
  flamebearer  yes   -         flame graph of Pyroscope (.json)
                               one graph; comparisons are refused, and series over time dropped
  flamegraph   yes   -         flame graph image of flamegraph.pl, inferno or py-spy (.svg)
                               frames too narrow to draw are counted in their callers; a difference is dropped
  folded       -     yes       folded stacks, function names only (.folded)
  fz           yes   profiles  Fizeau recording (.fz)
  gecko        yes   profiles  Firefox Profiler (Firefox, samply, CPython's --gecko) (.json)
                               read in all versions; markers and counters are dropped
  gprof        yes   -         text of gprof (.txt)
                               a flat profile, a call graph or both; the tree is reconstructed from the graph
  importtime   yes   -         import times of Python's -X importtime (.txt)
  instruments  yes   -         call tree copied from Instruments (.txt)
                               costs are rounded as displayed
  jfr          yes   -         Java Flight Recorder recording, also from async-profiler (.jfr)
                               samples, allocations and waits are metrics; all other events are dropped
  kineto       yes   -         PyTorch profiler trace (Kineto) (.pt.trace.json .json)
                               steps are runs; ranges and waits on the GPU, flows and arguments are dropped
  macsample    yes   -         text of macOS's sample (.sample.txt)
  massif       yes   -         Valgrind's massif (.massif)
                               the snapshot of the peak; how the heap grew and shrank is dropped
  mojo         yes   -         MOJO, austin's binary format (.mojo .austin)
  otlp         yes   -         OpenTelemetry profiles, protocol buffer or JSON (.otlp .pb)
                               v1development since 1.8 only; the format is not stable yet; links are dropped
  perf-data    yes   -         recording of perf record (Linux perf) (.data)
                               every event is a metric; symbols from this machine; no DWARF stacks
  perf-script  yes   -         text of perf script (Linux perf) (.perf)
                               every event is a metric, in periods if printed
  perfetto     yes   profiles  Perfetto trace (.pftrace .perfetto-trace)
                               read: samples, or else slices of threads; written: a metric of time, as slices
  pprof        yes   profiles  pprof protocol buffer (.pb.gz .pprof .pb)
                               every sample type is a metric; labels other than threads are dropped
  pprof-text   yes   -         heap, goroutine and lock text of Go (?debug=1), gperftools and jemalloc (.txt .heap)
                               sampled allocations are scaled as in pprof
  pstats       yes   profiles  pstats file (cProfile, Python's sampling profiler) (.pstats .prof)
                               a call graph: read as a reconstructed tree
  pyinstrument yes   -         pyinstrument's session or JSON report (.pyisession .json)
                               a session has all samples, a report only times
  pyinstrument-page yes   -         pyinstrument's page (.html)
                               times without samples
  pyroscope    yes   -         trees and tries pushed by Pyroscope agents (.tree .trie)
                               bare numbers: --input-unit states their unit
  rprof        yes   -         output of R's Rprof (.out)
                               samples, with lines if recorded; memory is dropped
  sentry       yes   -         Sentry's sample format (profiles and chunks) (.json)
                               times as in Sentry: until the next sample of the thread
  speedscope   yes   profiles  speedscope JSON (.speedscope.json .speedscope)
                               written: one profile per thread, the default metric; other metrics are dropped
  stackprof    yes   -         stackprof JSON (Ruby) (.json)
                               recorded with raw: true; threads are not recorded
  binary       yes   profiles  Tachyon binary (CPython's profiling.sampling) (.bin)
  tachyon-page yes   -         flame graph page of CPython's sampling profiler (.html)
                               functions with less than 0.1 % are not in it; the order of samples, opcodes and the baseline are dropped
  trace-event  yes   -         trace events (Chrome, Perfetto, viztracer and others) (.trace .json)
                               samples if there are any, else calls; asynchronous events are dropped
  text         -     yes       summary and tables (.txt)
  tree         -     yes       a call tree, library frames folded
  html         -     yes       a page with flame graph, summary and tables and sources (.html .htm)
  heatmap      -     yes       the page, opened with the cost of every source line
  svg          -     yes       a flame graph image (.svg)
  json         -     yes       all data, see docs/diff-json.md (.json)
  csv          -     yes       the functions as a table, named and measured as in json (.csv)
  lines        -     yes       the cost of every source line, as JSON for editors, see docs/diff-json.md
  markdown     -     diffs     for a pull request (.md)
  jsonl        -     profiles  CPython's position records, one JSON object per line (.jsonl)

# A gate closes on what certainly changed, past a threshold; the report stays the same.
$ printf 'm;parse 3000\nm;load 3000\nm;save 3000\nm;wait 3000\n' > a.folded && printf 'm;parse 12000\nm;load 3100\nm;save 3000\nm;wait 2900\n' > b.folded && fizeau diff a.folded b.folded --scale time --fail-on regression
Slower by 75.0 % [+26.3 %, +142.4 %] (approximate: sample order unknown): 12,000
  samples -> 21,000 samples, +9,000.

Self: 1 slower, 0 faster.
   before     after      change  interval         %   function
    3,000    12,000      +9,000   ≥+3,852  +300.0 %   parse

Measured: the order of samples is not recorded, so typical noise is assumed;
  smallest detectable change: 45.6 %; 83 more runs per side would detect 5.0 %.
Limits: both are assumed to be whole runs; for parts of a running program use
  --scale share.
fizeau: the run is slower by 75.0 %, past the threshold of 5.0 %
[1]

$ fizeau diff a.folded b.folded --scale time --fail-on regression --threshold 80% > /dev/null

$ fizeau diff b.folded a.folded --scale time --fail-on regression > /dev/null

# A list names the file where functions share a name, and only there.
$ printf 'a.py:main:1;a.py:load:3 500\na.py:main:1;b.py:load:30 300\n' > b.txt; printf 'a.py:main:1;a.py:load:3 590\na.py:main:1;b.py:load:30 360\na.py:main:1;c.py:other:3 10\n' > h.txt; fizeau diff b.txt h.txt | grep Unsure:
Unsure: load (a.py:3) +32.0 ±387, load (b.py:30) +25.2 ±262, other +10 ±26.8.

# Of a run that is faster that word leads.
$ fizeau diff b.folded a.folded --table --scale time | grep slower
Self: 1 faster, 0 slower, 0 same within ±0.2 % of the run, 3 unsure (?).
Total, with callees: 2 faster, 0 slower, 0 same within ±0.2 % of the run, 3

$ fizeau diff b.folded a.folded --scale time --fail-on change --threshold 1 > /dev/null
fizeau: the run is faster by 42.9 %, past the threshold of 1.0 %
[1]

$ fizeau diff a.folded b.folded --scale time --fail-on function-regression > /dev/null
fizeau: functions are slower, past the threshold of 5.0 %: m most of all
[1]

$ fizeau diff a.folded b.folded --fail-on regression > /dev/null
fizeau: warning: no verdict for the run, so the gate was not applied; shares and windows never have one

$ fizeau diff a.folded b.folded --threshold 4
fizeau: --threshold requires --fail-on
[2]

# What counts as the same is stated with the option's value, in text and JSON.
$ fizeau diff a.folded b.folded --scale time --same-within 1% --format json | grep delta_pct
    "delta_pct": 1,

$ fizeau diff a.folded b.folded --scale time --same-within 0.02% --verbose | grep 'same within'
Self: 1 slower, 0 faster, 0 same within ±0.02 % of the run, 3 unsure (?).
Total, with callees: 2 slower, 0 faster, 0 same within ±0.02 % of the run, 3

$ fizeau diff a.folded b.folded --same-within 0
fizeau: diff: --same-within must be more than 0%
[2]

$ fizeau diff a.folded b.folded --fail-on change --threshold 4x
fizeau: diff: --threshold: '4x' is not a percentage, such as 5%
[2]

# Sets: every recording brings its runs.
$ fizeau diff base.bin head.bin :: head.bin base.bin threads.bin --force --format json 2>/dev/null | grep -o '"runs".*[0-9]'
"runs": 2
"runs": 3

# A file given twice is not two runs.
$ fizeau diff base.bin base.bin :: head.bin > /dev/null
fizeau: base.bin and base.bin are the same recording; specify it once
[2]

$ cp base.bin again.bin && fizeau diff head.bin base.bin again.bin :: head.bin > /dev/null
fizeau: base.bin and again.bin are the same recording; specify it once
[2]

# A huge number of runs is not advised; the headline of an approximate test states this.
$ printf 'm;parse 30\nm;load 30\n' > c.folded && printf 'm;parse 33\nm;load 30\n' > d.folded && fizeau diff c.folded d.folded --scale time | head -n 5
Unsure whether slower or faster (approximate: sample order unknown): 60 samples
  -> 63 samples, +3 (+5.0 % [-36.7 %, +74.2 %]).

Unsure: parse +3 ±81.3; 1 more (--table).

$ fizeau diff c.folded d.folded --format markdown | head -n 3
### No overall verdict, because only shares are compared: 60 samples -> 63 samples.

**Self**: 0 slower, 0 faster, 0 same within ±0.2 % of the run, 2 unsure.

# A part of both sides: totals and verdicts are of that part.
$ fizeau diff base.bin head.bin --filter fib --scale time | head -n 3
Unsure whether slower or faster: 46.5 ms -> 18.5 ms of wall time, -28.0 ms
  (-60.2 % [-88.1 %, +33.8 %]).

$ fizeau diff base.bin head.bin --filter 'fib$' --invert --format folded | grep -v '^#' | tail -n 2
fib;fib;fib;request;serve;main;<module>;_run_code;_run_module_as_main 1500000 6000000
fib;fib;request;serve;main;<module>;_run_code;_run_module_as_main 1000000 500000

$ fizeau diff base.bin head.bin --invert
fizeau: --invert has no effect on text; use it with tree, html, svg, json, folded or collapsed
[2]

$ fizeau diff base.bin head.bin --thread 1
fizeau: --thread: no samples of '1'; the threads are 18612
[3]

# Start-up and imports are one row each time, unless something is known of them or the program calls them too.
$ printf 'a.py:main:1 90\na.py:main:1;<frozen importlib._bootstrap>:load:5;/usr/lib/python3.11/ast.py:<module>:3 4\na.py:main:1;<frozen importlib._bootstrap>:load:5;own.py:<module>:3 3\n' > e.folded && printf 'a.py:main:1 95\na.py:main:1;<frozen importlib._bootstrap>:load:5;/usr/lib/python3.11/dis.py:<module>:3 6\n' > f.folded && fizeau diff e.folded f.folded --table --scale time | sed '1,/^Self/d; /^Removed call/,$d'
   before     after      change  interval         %   function
       90        95          +5     ±71.2    +5.6 % ? main (a.py:1)
        3         0          -3     ±19.4      to 0 ? <module> (own.py:3)
        4         6          +2                     ? 2 functions of start-up and imports

Total, with callees: 0 slower, 0 faster, 0 same within ±0.2 % of the run, 5
  unsure (?).
   before     after      change  interval         %   function
       97       101          +4     ±75.7    +4.1 % ? main (a.py:1)
        3         0          -3     ±19.4      to 0 ? <module> (own.py:3)
                                                      3 functions of start-up and imports

New or newly recorded (not in the base's recording): 1 function, self 6
        6            in 1 function of start-up and imports (--format json lists all)

Removed or no longer recorded (not in the head's recording): 2 functions, self 7
     self     total  function
        3         3  <module> (own.py:3)
        4            in 1 function of start-up and imports (--format json lists all)

# Where only shares are known, what most functions agree on is no change: nothing is painted blue
# because parse got slower, and twice as much of everything is nothing. "before" is what was
# measured, "expected" what that lets expect.
$ printf 'm;parse 3000\nm;load 2000\nm;save 1000\nm;wait 1500\n' > g.folded && printf 'm;parse 18000\nm;load 4100\nm;save 1950\nm;wait 3000\n' > h.folded && fizeau diff g.folded h.folded --verbose | sed '/^Total/,/^Scaling/{/^Scaling/!d}'
No overall verdict, because only shares are compared: 7,500 samples -> 27,050
  samples.
For a clear answer, record several runs of each version:
  fizeau diff BASE... :: HEAD...  # several files per side
Smallest detectable change of a function with 10.0 % of the run: 9.4 % of the
  run; 3 more runs per side would detect 5.0 %.

Self: 1 slower, 0 faster, 0 same within ±0.2 % of the run, 3 unsure (?).
   before  expected     after    by share  interval         %   function
    3,000     6,007    18,000     +11,993   ±11,507  +199.7 %   parse
    2,000     4,004     4,100       +95.5    ±2,287    +2.4 % ? load
    1,000     2,002     1,950       -52.2    ±1,127    -2.6 % ? save
    1,500     3,003     3,000        -3.4    ±1,691    -0.1 % ? wait

Scaling: share; expected is before times 2.0022, which leaves most functions
  unchanged.
Base g.folded: 7,500 samples.
Head h.folded: 27,050 samples.
Judged: approximately. The order of samples is not recorded, so typical noise is
  assumed.

$ fizeau diff g.folded h.folded --format json | grep -A 5 '"scale"' && fizeau diff g.folded h.folded --format json | grep -o '"name": "parse".*"pct_self": [0-9.]*' | tail -n 1
  "scale": {
    "mode": "share",
    "factor": 2.0022391393085828,
    "basis": "agreed",
    "log_error": 0.05587530913558958
  },
"name": "parse", "file": "", "line": 0, "state": "common", "base_self": 3000, "base_total": 3000, "head_self": 18000, "head_total": 18000, "expected_self": 6006.717417925748, "expected_total": 6006.717417925748, "diff_self": 11993.282582074251, "pct_self": 199.6645047140539

$ fizeau diff g.folded h.folded --format markdown | grep '^|' | head -n 3
| function | by share | before → after | where |
|:--|--:|--:|:--|
| ▲ <code>parse</code> | +11,993<br><sub>±11,507<br>+199.7&nbsp;%</sub> | <sub>3,000 → 18,000<br>expected 6,007</sub> |  |

# A function is a link if its file is here and the report lies beside it.
$ printf 'main (k.py:1);parse (k.py:12) 3000\n' > k.folded && printf 'main (k.py:1);parse (k.py:12) 12000\n' > l.folded
> touch k.py && fizeau diff k.folded l.folded -o k.md && grep 'k.py' k.md; fizeau diff k.folded l.folded --format markdown | grep 'k.py'
fizeau: No overall verdict, because only shares are compared: 3,000 samples -> 12,000 samples.
fizeau: wrote k.md
fizeau: wrote k.md.svg
| ? <code>parse</code> | 0<br><sub>±91,133<br>0.0&nbsp;%</sub> | <sub>3,000 → 12,000<br>expected 12,000</sub> | <sub>[<code>k.py&#58;12</code>](k.py#L12)</sub> |
| ? <code>parse</code> | 0<br><sub>±91,133<br>0.0&nbsp;%</sub> | <sub>3,000 → 12,000<br>expected 12,000</sub> | <sub><code>k.py&#58;12</code></sub> |

# A cell of a notebook that is run again has another name, in a terminal and in a kernel; its functions are the same.
$ printf '<module> (<ipython-input-2-15dedc3fbfe1>:1);work (/t/ipykernel_41/2213.py:2) 300\n' > m.folded && printf '<module> (<ipython-input-3-b88fca1b7004>:1);work (/t/ipykernel_977/99.py:2) 300\n' > n.folded
> fizeau diff m.folded n.folded --match names --format json | grep -o '"name": "[^"]*", "file": "[^"]*".*"state": "[a-z]*"'
"name": "\u003cmodule>", "file": "\u003cipython-input-#>", "line": 1, "state": "common"
"name": "work", "file": "\u003cipython-input-#>", "line": 2, "state": "common"
"name": "\u003cmodule>", "file": "\u003cipython-input-#>", "line": 1, "state": "common"
"name": "work", "file": "\u003cipython-input-#>", "line": 2, "state": "common"

$ fizeau diff g.folded h.folded -o h.svg && grep -A 2 'parse$' h.svg | head -n 3
fizeau: No overall verdict, because only shares are compared: 7,500 samples -> 27,050 samples.
fizeau: wrote h.svg
<g><title>parse
self 3,000 → 18,000 (+11,993, +199.7 % of the expected 6,007)
total 3,000 → 18,000 (+11,993, +199.7 % of the expected 6,007)</title><rect class="c4" x="12.00" y="88.0" width="781.75" height="17"/><path class="c4 m" d="M12.00 102.0h521.41v3h-521.41z"/><text class="w" x="16.00" y="100.5">▲ parse (66.5 %)</text></g>

# A picture folds the same frames as the page, and sums stay.
$ L=/usr/lib/python3.11 && printf "app.py:main:9;$L/importlib/_bootstrap.py:_find_and_load:3;$L/json/__init__.py:<module>:1;$L/re.py:compile:2 6\napp.py:main:9;$L/importlib/_bootstrap.py:_find_and_load:3;$L/importlib/_bootstrap.py:_load:4 5\napp.py:main:9;app.py:work:20 400\n" > p.folded && { cat p.folded; printf 'app.py:main:9;app.py:work:20;app.py:a:30 2\napp.py:main:9;app.py:work:20;app.py:b:40;app.py:c:50 1\n'; } > o.folded && fizeau diff o.folded p.folded -o p.svg 2> /dev/null && grep -o '<title>.*\|^total[^<]*' p.svg
<title>main
total 414 → 411 (-3, -0.7 %)
<title>work
total 403 → 400 (-3, -0.7 %)
<title>finding modules
total 5 → 5 (0, 0.0 %)
<title>import json
total 6 → 6 (0, 0.0 %)
<title>compile
total 6 → 6 (0, 0.0 %)

$ fizeau diff o.folded p.folded --all-frames -o p.svg 2> /dev/null && grep -o '<title>.*' p.svg | tr '\n' ' '
<title>main <title>work <title>_find_and_load <title>&lt;module&gt; <title>compile <title>_load <title>main <title>work <title>a <title>b <title>c 

# Shares in which nothing agrees tell nothing.
$ printf 'm;parse 1000\nm;load 1000\n' > i.folded && printf 'm;parse 500\nm;load 1500\n' > j.folded && fizeau diff i.folded j.folded --verbose | sed -n '/^Warning/,/^Self/p'
Warning: no scale fits most functions, so changes of single functions cannot be
  detected; if both sides are whole runs sampled at one rate, use --scale time.

Self: 0 slower, 0 faster, 0 same within ±0.2 % of the run, 2 unsure (?).

# Asked for: both totals made equal.
$ fizeau diff g.folded h.folded --verbose --scale share | grep -E '^ *before|parse|^Scaling'
   before  expected     after    by share  interval         %   function
    3,000    10,820    18,000      +7,180     ≥+967   +66.4 %   parse
   before  expected     after    by share  interval         %   function
    3,000    10,820    18,000      +7,180   ±13,283   +66.4 % ? parse
Scaling: share; expected is before times 3.6067, to make the totals equal.

$ fizeau diff g.folded h.folded --scale window
fizeau: --scale window requires the length of both recordings, and the base has none; use --scale share
[2]

# Of recordings that are times and durations, each second.
$ fizeau diff base.bin head.bin --verbose --scale window | sed -n "1,2p;/^ *before/,/parse/p;/^Scaling/,/\\.$/p"
No overall verdict, because only parts of running programs were recorded: 602 ms
  -> 604 ms of wall time.
   before  expected     after      change  interval         %   function
  69.0 ms   70.2 ms       0 s    -70.2 ms  ±61.5 ms      to 0   …<genexpr>:21
   368 ms    374 ms    532 ms     +157 ms   ±897 ms   +42.1 % ? parse:11
   before  expected     after      change  interval         %   function
   140 ms    142 ms       0 s     -142 ms  ±77.4 ms      to 0   dropped:21
  69.0 ms   70.2 ms       0 s    -70.2 ms  ±70.2 ms      to 0   …<genexpr>:21
   368 ms    374 ms    532 ms     +157 ms   ±897 ms   +42.1 % ? parse:11
Scaling: window; expected is before times 1.0180, for 652 ms recorded instead of
  641 ms.

# Two ranges of one recording.
$ fizeau diff base.bin --base-range 0s-300ms --head-range 300-600ms -l 2 --verbose
Two ranges of one recording: 299 ms -> 298 ms of wall time.
Smallest detectable change of a function with 10.0 % of the run: 16.4 % of the
  run.

Self: 0 slower, 0 faster, 0 same within ±0.2 % of the run, 8 unsure (?).
   before     after      change  interval         %   function
  16.0 ms   30.5 ms    +14.5 ms  ±49.1 ms   +90.6 % ? fib (program.py:17)
  22.0 ms   9.50 ms    -12.5 ms  ±18.0 ms   -56.8 % ? dropped (program.py:21)

Total, with callees: 0 slower, 0 faster, 0 same within ±0.2 % of the run, 11
  unsure (?).
   before     after      change  interval         %   function
  74.5 ms   60.0 ms    -14.5 ms  ±91.0 ms   -19.5 % ? dropped (program.py:21)
  16.0 ms   30.5 ms    +14.5 ms  ±49.1 ms   +90.6 % ? fib (program.py:17)

Ignored when comparing names: prefixes and versions of libraries (2 and 2
  functions); root folders (9 and 9 functions).

Scaling: window, factor 1; base values are as recorded.
Base base.bin 0s-300ms: 598 samples every 500 us.
Head base.bin 300-600ms: 595 samples every 500 us.
Judged: one time range per side, by how often and how long each function was
  sampled, assuming the usual noise of wall time.

$ fizeau diff base.bin --base 0%-50% --head 0%-50% | head -n 1
Same: nothing differs: 318 ms -> 318 ms of wall time, 0 s (0.0 %).

# Windows of nearly equal length: a scale that rounds to 1.00 is not printed.
$ for to in 601ms 602ms; do for how in -l1 --verbose; do fizeau diff base.bin --base-range 0s-300ms --head-range 300ms-$to $how | grep -E "before|caled|Scaling"; done; done
   before     after      change  interval         %   function
   before     after      change  interval         %   function
Scaling: window, factor 1.00; base values are as recorded.
Measured: one time range per side, by the wall clock; base scaled by 1.0067
   before  expected     after      change  interval         %   function
   before  expected     after      change  interval         %   function
Scaling: window; expected is before times 1.0067, for 302 ms recorded instead of

# Former names of --work and of its scale.
$ fizeau diff base.bin head.bin --work 100:200 --scale work --verbose | grep "^Scaling"; fizeau diff base.bin head.bin --units 100:200 --scale unit --verbose | grep "^Scaling"
Scaling: work; expected is before times 2.0000, for 200 units of work instead of
Scaling: work; expected is before times 2.0000, for 200 units of work instead of

$ fizeau diff base.bin --base-range -50% --head-range 50%- --format json | grep -E '^ *"(facts|mode|word|reason)"'; fizeau diff base.bin --base-range -50% --head-range 50%- -o ranges.html
    "facts": {"range": "0 s to 320 ms", "mode": "wall", "features": ["gc"], "interval_ns": 500000, "duration_ns": 320267808, "python_version": "3.15.0", "complete": false, "reconstructed": false, "runs": 1}
    "facts": {"range": "320 ms to 641 ms", "mode": "wall", "features": ["gc"], "interval_ns": 500000, "duration_ns": 320267808, "python_version": "3.15.0", "complete": false, "reconstructed": false, "runs": 1}
    "mode": "window",
    "word": "unknown",
    "reason": "windows only",
fizeau: Two ranges of one recording: 318 ms -> 283 ms of wall time.
fizeau: wrote ranges.html

$ fizeau diff base.bin head.bin --base-range -50% --head-range 50%- --verbose | grep -E '^(Two|Scaling|Base|Head|Judged)'
Scaling: window; expected is before times 1.0180, for 326 ms recorded instead of
Base base.bin -50%: 637 samples every 500 us.
Head head.bin 50%-: 562 samples every 500 us.
Judged: one time range per side, by how often and how long each function was

$ fizeau diff base.bin --base-range 0s-1s; fizeau diff base.bin --base-range 1s --head-range 1s-; fizeau diff base.bin --base-range - --head-range 1s-; fizeau diff base.bin --base-range 9s-8s --head-range 1s-; fizeau diff base.bin --base-range 0s-1s --head-range 7s-8s
fizeau: diff: --base-range of a single recording requires --head-range
fizeau: diff: invalid --base-range '1s': use a range such as 10s-20s, 0%-50% or @MARKER-
fizeau: diff: invalid --base-range '-': use a range such as 10s-20s, 0%-50% or @MARKER-
fizeau: base.bin: the range from 9.00 s to 8.00 s is empty
fizeau: base.bin: the range starts at 7.00 s, after the end at 641 ms
[2]

$ fizeau diff base.bin --base-range 0s-1s --head-range 1s- --from 1s; fizeau diff - --base-range 0s-1s --head-range 1s- < base.bin; fizeau diff base.bin head.bin base.bin --base-range 0s-1s
fizeau: diff: --base-range and --from exclude each other
fizeau: diff: standard input can only be read once; write it to a file first
fizeau: diff: expected two recordings, BASE HEAD, none (the last two of a program), or two sets, BASE... :: HEAD...; got 3
[2]

# A page is written and opened, without a format or a file; BROWSER says by what.
$ BROWSER='echo opened' fizeau diff base.bin head.bin --browser 2>/dev/null
opened file://$SCRATCH/diff_flamegraph_18612.html

$ BROWSER='echo opened' fizeau diff base.bin head.bin --browser -o shown.html 2>/dev/null && grep -c fizeau-page shown.html
opened file://$SCRATCH/shown.html
1

# Without a command, where there are recordings: what can be done with them, on stderr.
$ mkdir -p next/.fizeau && cd next && cp ../base.bin .fizeau/20261120-203000-123-app.py-4711.fz && fizeau 2>/dev/null
[2]

$ cd next && fizeau
1 recording here; the latest is of app.py. Next:
  fizeau show                  contents of the latest recording
  fizeau replay @1 --browser   where its time went, as a page
  fizeau run PROGRAM           record it again, then compare with 'fizeau diff'
  fizeau list                  all recordings
  fizeau help                  all commands
[2]

$ cd next && cp ../head.bin .fizeau/20261120-203100-123-app.py-4712.fz && fizeau
2 recordings here; the latest is of app.py. Next:
  fizeau show                  contents of the latest recording
  fizeau replay @1 --browser   where its time went, as a page
  fizeau diff                  what changed since the run before
  fizeau diff --browser        the same as a page
  fizeau list                  all recordings
  fizeau help                  all commands
[2]
