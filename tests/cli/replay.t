# $DATA/tachyon-diff holds recordings that CPython 3.15 made of program.py.
$ fizeau replay $DATA/tachyon-diff/base.bin
1,203 samples, 602 ms of wall time

              self               total  function
   368 ms   61.1 %     368 ms   61.1 %  parse (program.py:11)
  82.5 ms   13.7 %    82.5 ms   13.7 %  helper (program.py:31)
  69.0 ms   11.5 %    69.0 ms   11.5 %  dropped.<locals>.<genexpr> (…gram.py:21)
  46.5 ms    7.7 %    46.5 ms    7.7 %  fib (program.py:17)
  31.5 ms    5.2 %     140 ms   23.2 %  dropped (program.py:21)
  2.50 ms    0.4 %     600 ms   99.7 %  request (program.py:37)
  1.00 ms    0.2 %     602 ms  100.0 %  _run_code (lib/python3/runpy.py:87)
  1.00 ms    0.2 %     600 ms   99.8 %  serve (program.py:48)
      0 s    0.0 %     602 ms  100.0 %  _run_module_as_main (…hon3/runpy.py:201)
      0 s    0.0 %     600 ms   99.8 %  <module> (program.py:62)
      0 s    0.0 %     600 ms   99.8 %  main (program.py:57)

State: 99.9 % holding the GIL.
Sampling: 1,203 samples every 500 us, 6.1 % failed, 0.0 % missed.

$ fizeau replay --sort total --limit 2 $DATA/tachyon-diff/base.bin
1,203 samples, 602 ms of wall time

              self               total  function
  1.00 ms    0.2 %     602 ms  100.0 %  _run_code (lib/python3/runpy.py:87)
      0 s    0.0 %     602 ms  100.0 %  _run_module_as_main (…hon3/runpy.py:201)
                                        and 9 more functions

State: 99.9 % holding the GIL.
Sampling: 1,203 samples every 500 us, 6.1 % failed, 0.0 % missed.

# Large counts make the columns wider.
$ printf 'a;b 1234567890\na 5\n' > large.txt && fizeau replay large.txt | sed -n 3,5p; rm large.txt
fizeau: warning: large.txt: reading the numbers as counts of an unknown unit, because the numbers are large; use --input-unit to specify their unit
                  self                   total  function
1,234,567,890  100.0 %  1,234,567,890  100.0 %  b
            5    0.0 %  1,234,567,895  100.0 %  a

# JSON always lists the processes; some files have none.
$ printf 'python 7/8 [000] 1.0: 1000 cycles:\n\tffff main+0x1 (/bin/app)\n\n' > one.perf && fizeau replay --format json one.perf | grep -A 2 '"processes"'; rm one.perf
  "processes": [
    {"pid": 7, "name": "", "command": "", "threads": 1, "samples": 1}
  ],

$ printf 'a;b 5\n' | gzip | gzip > twice.gz && fizeau replay twice.gz; rm twice.gz
fizeau: twice.gz: packed twice is not supported: unpack it once with gzip -d or zstd -d

$ printf 'a;b 5\n' > one.txt && fizeau replay --format json one.txt | grep '"processes"'; rm one.txt
  "processes": [],

$ fizeau replay --sort cumtime -l 1 $DATA/tachyon-diff/base.bin | sed -n 4p
  1.00 ms    0.2 %     602 ms  100.0 %  _run_code (lib/python3/runpy.py:87)

$ fizeau replay --sort size $DATA/tachyon-diff/base.bin
fizeau: replay: --sort: 'size' is not one of self, total, name
[2]

# A name of our own choice is told; the process is the recorded one.
$ cp $DATA/tachyon-diff/base.bin . && fizeau replay --flamegraph base.bin && ls
fizeau: wrote flamegraph_18585.html
base.bin
flamegraph_18585.html

# The suffix chooses the format, --format and the switches overrule it.
$ fizeau replay base.bin -o x.json && head -n 8 x.json
fizeau: wrote x.json
{
  "schema": 1,
  "kind": "profile",
  "metric": "wall",
  "unit": "ns",
  "samples": 1203,
  "total": 601500000,
  "facts": {

$ fizeau replay base.bin -o x.folded && wc -l < x.folded && tail -n 1 x.folded
fizeau: wrote x.folded
15
_run_module_as_main;_run_code;<module>;main;serve;request;fib;fib;fib;fib;fib;fib;fib;fib 2

$ fizeau replay base.bin --collapsed -o x.txt && head -n 2 x.txt
fizeau: wrote x.txt
tid:18585;<frozen runpy>:_run_module_as_main:201;<frozen runpy>:_run_code:87;program.py:<module>:62;program.py:main:57;program.py:serve:49;program.py:request:37;program.py:parse:11 411
tid:18585;<frozen runpy>:_run_module_as_main:201;<frozen runpy>:_run_code:87;program.py:<module>:62;program.py:main:57;program.py:serve:49;program.py:request:37;program.py:parse:12 324

$ fizeau replay base.bin --binary -o again.bin && fizeau replay again.bin --collapsed -o - | cmp - x.txt
fizeau: wrote again.bin

$ fizeau replay base.bin -o x.fz && fizeau replay x.fz --collapsed -o - | cmp - x.txt
fizeau: wrote x.fz

$ fizeau replay base.bin -o x.svg && head -c 5 x.svg
fizeau: wrote x.svg
<svg 

# A comparison may have any format of a diff.
$ fizeau replay $DATA/tachyon-diff/head.bin --diff-flamegraph base.bin && ls diff*
fizeau: Unsure whether slower or faster: 602 ms -> 604 ms of wall time, +2.00 ms (+0.3 % [-51.6 %, +108.2 %]).
fizeau: wrote diff_flamegraph_18612.html
diff_flamegraph_18612.html

$ fizeau replay $DATA/tachyon-diff/head.bin --diff-flamegraph base.bin --format text | head -n 5
Unsure whether slower or faster: 602 ms -> 604 ms of wall time, +2.00 ms (+0.3 %
  [-51.6 %, +108.2 %]).

Self: 0 slower, 0 faster, 1 gone or no longer recorded.
   before     after      change  interval         %   function

# A browser is started without a shell; %s is the address of the page.
$ BROWSER='echo opened %s' fizeau replay base.bin -o 'a b;c.html' --browser
fizeau: wrote a b;c.html
opened file://$SCRATCH/a%20b%3Bc.html

$ BROWSER=false:/does/not/exist fizeau replay base.bin -o x.html --browser
fizeau: wrote x.html
fizeau: warning: x.html: cannot start a browser (false:/does/not/exist); open the file yourself or set BROWSER

# What cannot be done is said before anything is read or written.
$ fizeau replay base.bin -o x.foo && fizeau replay x.foo | grep -o ' parse (.*'
fizeau: x.foo: unknown suffix; writing a file for Python's pstats module
fizeau: wrote x.foo
 parse (program.py:11)

$ fizeau replay base.bin -o missing/x.html
fizeau: missing/x.html: cannot be written: No such file or directory
[2]

$ mkdir files && fizeau replay base.bin -o files
fizeau: wrote files/pstats_18585.pstats

$ mkdir folder && fizeau replay base.bin --flamegraph -o folder && ls folder
fizeau: wrote folder/flamegraph_18585.html
flamegraph_18585.html

$ fizeau replay base.bin --flamegraph --collapsed
fizeau: replay: formats collapsed and flamegraph cannot be combined; use 'fizeau replay' to convert the recording to a second format
[2]

$ fizeau replay base.bin --format pdf
fizeau: replay: --format: 'pdf' is not one of text, tree, html, heatmap, svg, pprof, speedscope, callgrind, cpuprofile, perfetto, json, csv, lines, collapsed, folded, pstats, gecko, jsonl, binary, fz
[2]

# Without a format or a file it is the page; standard output and text cannot be opened.
$ BROWSER='echo opened' fizeau replay base.bin --browser
fizeau: wrote flamegraph_18585.html
opened file://$SCRATCH/flamegraph_18585.html

$ mkdir shown && BROWSER='echo opened' fizeau replay base.bin --browser -o shown
fizeau: wrote shown/flamegraph_18585.html
opened file://$SCRATCH/shown/flamegraph_18585.html

$ fizeau replay base.bin --browser --format text | head -n 1
fizeau: warning: --browser requires a page in a file: add -o FILE.html
1,203 samples, 602 ms of wall time

$ fizeau replay base.bin --browser --format html -o - | head -c 15
fizeau: warning: --browser requires a page in a file: add -o FILE.html
<!doctype html>

$ fizeau replay base.bin --match exact
fizeau: --match requires --diff-flamegraph BASELINE
[2]

$ fizeau replay missing.bin
fizeau: missing.bin: no such file, recording or git revision
[2]

$ fizeau replay base.bin --diff-flamegraph missing.bin -o y.html; ls y.html
fizeau: missing.bin: no such file, recording or git revision
ls: cannot access 'y.html': No such file or directory
[2]

$ fizeau replay
fizeau: replay: expected one recording, got 0
[2]

$ fizeau replay base.bin again.bin
fizeau: replay: expected one recording, got 2
[2]

# Nothing half written stays behind, and an old file survives a failure.
$ : > empty && fizeau replay empty -o x.json; head -n 2 x.json; ls *.json.*
fizeau: empty: the file is empty
{
  "schema": 1,
ls: cannot access '*.json.*': No such file or directory
[2]

# A count beyond all measure is no part of a name; with others around it, its line is skipped.
$ printf 'a;b 99999999999999999999\n' > huge.folded; fizeau replay huge.folded
fizeau: huge.folded: not a profile in a supported format; 'fizeau replay --list-formats' lists them
[2]

$ echo 'a;c 2' >> huge.folded; fizeau replay huge.folded
2 samples

              self               total  function
        2  100.0 %          2  100.0 %  c
        0    0.0 %          2  100.0 %  a

Sampling: 2 samples; 1 line skipped.

# What is told about a file has one line, whatever its folder is called.
$ d=$(printf 'odd\n\033[31mfolder'); mkdir "$d"; fizeau replay base.bin --flamegraph -o "$d"
fizeau: wrote odd\n\x1b[31mfolder/flamegraph_18585.html

# A link stays one, and a pipe gets everything.
$ touch real.html; ln -s real.html link.html; fizeau replay base.bin -o link.html && readlink link.html && head -c 15 real.html
fizeau: wrote link.html
real.html
<!doctype html>

$ mkfifo pipe; cat pipe > got & timeout 20 fizeau replay base.bin --collapsed -o pipe && wait && wc -l < got
23

# CPython's table on standard output; with -o a file for Python's pstats.
$ fizeau replay base.bin --pstats -l 3
Profile Stats:
       nsamples   sample%  tottime (ms)    cumul%  cumtime (ms)  filename:lineno(function)
        735/735      61.1       367.500      61.1       367.500  program.py:11(parse)
        165/165      13.7        82.500      13.7        82.500  program.py:31(helper)
        138/138      11.5        69.000      11.5        69.000  program.py:21(dropped.<locals>.<genexpr>)

Legend:
  nsamples: Direct/Cumulative samples (direct executing / on call stack)
  sample%: Percentage of total samples this function was directly executing
  tottime: Estimated total time spent directly in this function
  cumul%: Percentage of total samples when this function was on the call stack
  cumtime: Estimated cumulative time (including time in called functions)
  filename:lineno(function): Function location and name

Summary of Interesting Functions:

Functions with Highest Direct/Cumulative Ratio (Hot Spots):
  1.000 direct/cumulative ratio, 61.1% direct samples: program.py:(parse)
  1.000 direct/cumulative ratio, 13.7% direct samples: program.py:(helper)
  1.000 direct/cumulative ratio, 11.5% direct samples: program.py:(dropped.<locals>.<genexpr>)

Functions with Highest Call Frequency (Indirect Calls):
  1203 indirect calls, 100.0% total stack presence: <frozen runpy>:(_run_module_as_main)
  1201 indirect calls, 100.0% total stack presence: <frozen runpy>:(_run_code)
  1201 indirect calls, 99.8% total stack presence: program.py:(main)

Functions with Highest Call Magnification (Cumulative/Direct):
  601.5x call magnification, 1201 indirect calls from 2 direct: <frozen runpy>:(_run_code)
  600.5x call magnification, 1199 indirect calls from 2 direct: program.py:(serve)
  239.8x call magnification, 1194 indirect calls from 5 direct: program.py:(request)

$ fizeau replay base.bin --pstats --per-line --no-summary --sort cumtime -l 4 | head -n 6
Profile Stats:
       nsamples   sample%  tottime (ms)    cumul%  cumtime (ms)  filename:lineno(function)
         2/1203       0.2         1.000     100.0       601.500  <frozen runpy>:87(_run_code)
         0/1203       0.0         0.000     100.0       601.500  <frozen runpy>:201(_run_module_as_main)
         0/1201       0.0         0.000      99.8       600.500  program.py:57(main)
         0/1201       0.0         0.000      99.8       600.500  program.py:62(<module>)

$ fizeau replay base.bin --pstats -o x.pstats && head -c 2 x.pstats
fizeau: wrote x.pstats
{(

$ fizeau replay base.bin --pstats -o folder && ls folder
fizeau: wrote folder/pstats_18585.pstats
flamegraph_18585.html
pstats_18585.pstats

$ fizeau replay base.bin --per-line; fizeau replay base.bin --flamegraph --no-summary
fizeau: --per-line requires --pstats
fizeau: warning: --no-summary has no effect on html, which is not a table
fizeau: wrote flamegraph_18585.html

$ fizeau replay base.bin --pstats -l 0 | grep -c Summary
0
[1]

$ fizeau replay base.bin --diff-flamegraph base.bin -l 3 -o d.html; fizeau replay base.bin --format html -l 3
fizeau: warning: --limit has no effect on html, which is not a table
fizeau: Same: nothing differs: 602 ms -> 602 ms of wall time, 0 s (0.0 %).
fizeau: wrote d.html
fizeau: --limit requires --format text, tree, csv or pstats, not html
[2]

$ echo 'a;b 3' | fizeau replay - --no-summary
3 samples

              self               total  function
        3  100.0 %          3  100.0 %  b
        0    0.0 %          3  100.0 %  a

$ echo 'a;b 3' | fizeau replay - --pstats --no-summary | head -n 4
Profile Stats:
       nsamples   sample%    cumul%  filename:lineno(function)
            3/3     100.0     100.0  ~:0(b)
            0/3       0.0     100.0  ~:0(a)

# Records of positions, and a profile for profiler.firefox.com.
$ fizeau replay base.bin --jsonl && head -n 1 jsonl_18585.jsonl && tail -n 1 jsonl_18585.jsonl
fizeau: wrote jsonl_18585.jsonl
{"type":"meta","v":0,"run_id":"f21c0dc7a15d4931ba60af4c595dcc80","sample_interval_usec":500,"mode":"wall"}
{"type":"end","v":0,"run_id":"f21c0dc7a15d4931ba60af4c595dcc80","samples_total":1203}

$ fizeau replay base.bin --gecko && head -c 60 gecko_18585.json
fizeau: wrote gecko_18585.json
{"meta":{"interval":0.5,"startTime":0,"misc":"","abi":"","os

# The costs of lines, for editors; which line became which cannot be told without their texts.
$ fizeau replay base.bin --format lines | grep -A 9 '"files"'
  "files": [
    {
      "name": "program.py",
      "file": "/tmp/fz-n9hcbdj7/program.py",
      "self": 600500000,
      "total": 600500000,
      "lines": [
        {"line": 11, "self": 205500000, "total": 205500000},
        {"line": 12, "self": 162000000, "total": 162000000},
        {"line": 16, "self": 3000000, "total": 3000000},

$ fizeau diff base.bin $DATA/tachyon-diff/head.bin --format lines | grep -A 8 '"files"'
  "files": [
    {
      "name": "program.py",
      "file": "/tmp/fz-n9hcbdj7/program.py",
      "base_file": "/tmp/fz-n9hcbdj7/program.py",
      "base_self": 600500000,
      "head_self": 602000000,
      "diff_self": 1500000,
      "aligned": false

# A heat map is a page in a folder, or in a file; a second one takes the first one's place.
$ fizeau replay base.bin --heatmap && ls heatmap_18585
fizeau: wrote heatmap_18585/index.html
index.html

$ mkdir heat && fizeau replay base.bin --heatmap -o heat/map && fizeau replay base.bin --heatmap -o heat/map && ls heat heat/map
fizeau: wrote heat/map/index.html
fizeau: wrote heat/map/index.html
heat:
map

heat/map:
index.html

$ fizeau replay base.bin --heatmap -o folder && fizeau replay base.bin --heatmap -o heat.html && head -c 15 heat.html
fizeau: wrote folder/heatmap_18585/index.html
fizeau: wrote heat.html
<!doctype html>

# An empty folder is written into, as by CPython's replay; a later one replaces what is there.
$ mkdir pages && fizeau replay base.bin --heatmap -o pages && fizeau replay base.bin --heatmap -o pages && ls pages
fizeau: wrote pages/index.html
fizeau: wrote pages/index.html
index.html

$ : > plain && fizeau replay base.bin --heatmap -o plain
fizeau: plain: not a folder; heatmap writes index.html in a folder, or FILE.html
[2]

$ fizeau replay $DATA/tachyon-diff/head.bin --diff-flamegraph base.bin --heatmap -o - | grep -c 'id="fz-data"'
1

$ fizeau diff base.bin $DATA/tachyon-diff/head.bin --heatmap && ls diff_heatmap_18612
fizeau: Unsure whether slower or faster: 602 ms -> 604 ms of wall time, +2.00 ms (+0.3 % [-51.6 %, +108.2 %]).
fizeau: wrote diff_heatmap_18612/index.html
index.html

# A part of the samples, and from the other end.
$ fizeau replay base.bin --filter 'fi[b]$' --invert -o - --format folded | tail -n 2
fib;fib;fib;fib;fib;fib;fib;fib;request;serve;main;<module>;_run_code;_run_module_as_main 2
fib;fib;request;serve;main;<module>;_run_code;_run_module_as_main 2

$ fizeau replay base.bin --filter helper --thread 18585 -l 2 | head -n 5
165 samples, 82.5 ms of wall time

              self               total  function
  82.5 ms  100.0 %    82.5 ms  100.0 %  helper (program.py:31)
      0 s    0.0 %    82.5 ms  100.0 %  <module> (program.py:62)

$ fizeau replay base.bin --filter fib --invert --format json | grep -E -c '"inverted"|"parent": -1'
2

$ fizeau replay base.bin --invert -o x.svg && grep -c 'Inverted flame graph' x.svg
fizeau: wrote x.svg
1

$ fizeau replay base.bin --invert -o x.html && grep -c '"inverted": *true' x.html
fizeau: wrote x.html
1

$ fizeau replay base.bin --invert --pstats
fizeau: --invert has no effect on pstats; use it with tree, html, svg, json, folded or collapsed
[2]

$ fizeau replay base.bin --thread MainThread
fizeau: --thread: no samples of 'MainThread'; the threads are 18585
[3]

$ fizeau replay base.bin --filter '('
fizeau: --filter: invalid extended regular expression '(': Unmatched ( or \( (see regex(7))
[2]

# What is above a function is cut; what does not pass through it is left out.
$ fizeau replay base.bin --root '^serve$' -o - --format folded
serve;request;parse 735
serve;request;dropped;dropped.<locals>.<genexpr> 138
serve;request;helper 87
serve;request;dropped;helper 78
serve;request;dropped 63
serve;request;fib;fib;fib;fib;fib;fib 37
serve;request;fib;fib;fib;fib 25
serve;request;fib;fib;fib;fib;fib;fib;fib 14
serve;request;fib;fib;fib;fib;fib 10
serve;request 5
serve;request;fib;fib;fib 3
serve 2
serve;request;fib;fib 2
serve;request;fib;fib;fib;fib;fib;fib;fib;fib 2

$ fizeau replay base.bin --root helper --filter main | head -n 1
165 samples, 82.5 ms of wall time

$ fizeau replay base.bin --root nowhere
fizeau: --root: no selected sample has a function whose name or file matches 'nowhere'
[3]

$ fizeau replay base.bin --root '['
fizeau: --root: invalid extended regular expression '[': Invalid regular expression (see regex(7))
[2]

# A range of time: parts add up to the whole.
$ fizeau replay base.bin --from 100ms --to 200ms -l 2
205 samples, 102 ms of wall time

              self               total  function
  63.5 ms   62.0 %    63.5 ms   62.0 %  parse (program.py:11)
  18.5 ms   18.0 %    18.5 ms   18.0 %  dropped.<locals>.<genexpr> (…gram.py:21)
                                        and 9 more functions

State: 100.0 % holding the GIL.
Sampling: 205 samples every 500 us.

$ for r in "--to 30%" "--from 30% --to 70%" "--from 70%"; do fizeau replay base.bin $r --format folded -o -; done | grep -v '^#' | awk '{ n += $NF } END { print n }'; fizeau replay base.bin --format folded -o - | grep -v '^#' | awk '{ n += $NF } END { print n }'
1203
1203

$ fizeau show --to 250ms base.bin | grep -E '^range|samples,'
range          0 s to 250 ms
496 samples, 248 ms of wall time

$ fizeau replay base.bin --from 100ms --to 200ms -o part.fz && fizeau replay part.fz -l 2 --no-summary
fizeau: wrote part.fz
205 samples, 102 ms of wall time

              self               total  function
  63.5 ms   62.0 %    63.5 ms   62.0 %  parse (program.py:11)
  18.5 ms   18.0 %    18.5 ms   18.0 %  dropped.<locals>.<genexpr> (…gram.py:21)
                                        and 9 more functions

$ fizeau replay $DATA/tachyon-diff/head.bin --diff-flamegraph base.bin --to 50% --format text --verbose | grep -E '^(Scaling|Base)'
Scaling: window; expected is before times 1.0180, for 326 ms recorded instead of
Base base.bin: 637 samples every 500 us.

$ fizeau replay base.bin --from 2s --to 1000ms; fizeau replay base.bin --from 90s; fizeau show base.bin --to 0; fizeau replay base.bin --from 1ns --to 2ns
fizeau: base.bin: the range from 2.00 s to 1.00 s is empty
fizeau: base.bin: the range starts at 90.0 s, after the end at 641 ms
fizeau: base.bin: the range from 0 s to 0 s is empty
fizeau: base.bin: no samples from 1 ns to 2 ns; use a longer range
[2]

$ fizeau replay base.bin --from 1m; fizeau replay base.bin --to 101%; fizeau replay base.bin --to -1; fizeau replay base.bin --from ''
fizeau: replay: invalid --from '1m': use a time such as 10s, 500ms, 25% or @MARKER
fizeau: replay: invalid --to '101%': use a time such as 10s, 500ms, 25% or @MARKER
fizeau: replay: invalid --to '-1': use a time such as 10s, 500ms, 25% or @MARKER
fizeau: replay: invalid --from '': use a time such as 10s, 500ms, 25% or @MARKER
[2]

$ fizeau replay base.bin --from @deploy; fizeau replay base.bin --to @; : > log; fizeau replay base.bin --marks log
fizeau: base.bin: has no markers; add some with 'fizeau mark' or --markers FILE
fizeau: replay: invalid --to '@': use a time such as 10s, 500ms, 25% or @MARKER
fizeau: --markers: cannot place clock times in base.bin: it has no start time
[2]

# Samples of the program by the clock have a state; other events do not.
$ zcat $DATA/jfr/async.jfr.gz > async.jfr; fizeau replay async.jfr --format json | grep -o '"cpu": [0-9]*\|"cpu_unknown": [0-9]*' | head -n 4
"cpu": 47
"cpu_unknown": 0
"cpu": 36
"cpu_unknown": 0

# A profile that says when it began, and a log of then.
$ zcat $DATA/jfr/jdk17.jfr.gz > jdk17.jfr; fizeau replay jdk17.jfr --gecko -o g.json 2>/dev/null; start=$(grep -o '"startTime":[0-9]*' g.json | head -n 1 | cut -d: -f2); s=$((start / 1000 + 1)); printf '%s.5 first - one\nnothing\n%s.75 second\n1000000000 long ago\n' $s $s > log; fizeau show jdk17.jfr --marks log | grep -c '^mark.[12] .*\(first - one\|second\)$'; fizeau replay jdk17.jfr --marks log --from "@first - one" --to @second -o part.fz && fizeau show part.fz | grep '^mark'; fizeau replay jdk17.jfr --marks log --from @third; echo none > none; fizeau replay jdk17.jfr --marks none; fizeau replay jdk17.jfr --marks missing; fizeau diff jdk17.jfr --marks log --base "-@first - one" --head "@first - one-@second" | head -n 1 | cut -c 1-28
2
fizeau: wrote part.fz
mark.1         0.000000000 first - one
fizeau: jdk17.jfr: has no marker 'third'; the markers are first - one, second
fizeau: --markers: no line of none begins with a time, such as 2026-11-23T14:03:05Z or 1795442585
fizeau: --markers: missing: cannot be opened: No such file or directory
Two ranges of one recording:

$ fizeau mark; fizeau mark 1 ''; fizeau mark x y; fizeau mark unix:nowhere y; fizeau mark unix:$(printf '%0200d' 1) y
fizeau: mark: specify a process and a text, for example: fizeau mark PID deploy
fizeau: mark: the text must be one line of 1 to 200 bytes
fizeau: invalid process id 'x'
fizeau: mark: you are not recording unix:nowhere; start with 'fizeau attach'
fizeau: mark: you are not recording unix:00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001; start with 'fizeau attach'
[2]

$ echo 'a;b 3' | fizeau replay - --from 1s
fizeau: -: samples have no times, so time ranges and markers cannot be used
[2]

$ fizeau replay base.bin --own '('
fizeau: --own: invalid extended regular expression '(': Unmatched ( or \( (see regex(7))
[2]

$ fizeau replay base.bin --filter nowhere
fizeau: --filter: no sample has a function whose name or file matches 'nowhere'
[3]

# What would do nothing is refused, a device is named, and a folder that stays empty goes.
$ fizeau replay --sort total --format html $DATA/tachyon-diff/base.bin
fizeau: --sort requires --format text or pstats, not html
[2]

$ fizeau diff -l 3 --format json $DATA/tachyon-diff/base.bin $DATA/tachyon-diff/head.bin
fizeau: --limit requires --format text, tree, csv or markdown, not json
[2]

$ fizeau replay --format html $DATA/tachyon-diff/base.bin -o /dev/full
fizeau: /dev/full: cannot be written: No space left on device
[2]

$ (trap '' XFSZ; ulimit -f 0; fizeau replay --heatmap $DATA/tachyon-diff/base.bin -o full 2>&1 | sed 's/full.[^:]*/FILE/'; ls | grep -c full)
fizeau: FILE: cannot be written: File too large
0
[1]

# A program's names never reach a terminal as they are.
$ printf 'a\033[31m\007b 1\n' > evil.folded && fizeau replay evil.folded --format callgrind -o - | grep '^c*fn'
fn=(1) a [31m b

# A recording that cannot be read says why.
$ mkdir -p .fizeau && printf nonsense > .fizeau/x.fz && fizeau list
     made               lasted  kind   ended     commit    command
@1   unreadable: $SCRATCH/.fizeau/x.fz: not a profile in a supported format; 'fizeau replay --list-formats' lists them; 'fizeau rm @1' deletes it

# No folded text says what its numbers are: where they surely are no samples they are not called so.
$ for i in 1 2 3 5 7 11 60 812; do echo "m;f$i ${i}000"; done > us.folded; fizeau replay us.folded | head -n 4
fizeau: warning: us.folded: reading the numbers as microseconds, because all are multiples of the smallest, some thousands; use --input-unit to specify their unit
901 samples, 901 ms of time

              self               total  function
   812 ms   90.1 %     812 ms   90.1 %  f812

$ printf 'm;parse 812345678\nm;load 300123123\nm;save 320222222\n' > many.folded && fizeau replay many.folded | head -n 4
fizeau: warning: many.folded: reading the numbers as counts of an unknown unit, because the numbers are large; use --input-unit to specify their unit
1,432,691,023 units

                self                   total  function
812,345,678   56.7 %    812,345,678   56.7 %  parse

# Round numbers by hand are nothing sure.
$ printf 'm;parse 3000\nm;load 3000\nm;save 9000\n' | fizeau replay - | head -n 1
15,000 samples

$ fizeau replay many.folded --input-unit us | head -n 4; fizeau replay us.folded --input-unit samples | head -n 1; fizeau replay us.folded --input-unit KiB | head -n 1
1,433 s of time

              self               total  function
    812 s   56.7 %      812 s   56.7 %  parse
901,000 samples
880 MiB of memory

# Fractions count, and times of samples are samples again.
$ printf 'm;a 1.25\nm;b 0.5\n' > s.folded && fizeau replay s.folded --input-unit s | head -n 5; fizeau replay us.folded --input-unit us --format folded -o - | head -n 2
1.75 s of time

              self               total  function
   1.25 s   71.4 %     1.25 s   71.4 %  a
   500 ms   28.6 %     500 ms   28.6 %  b
m;f812 812
m;f60 60

$ fizeau replay base.bin --unit us; fizeau replay us.folded --unit weeks
fizeau: --input-unit only applies to folded stacks without a unit
fizeau: replay: --input-unit: 'weeks' is not one of auto, ns, us, ms, s, samples, bytes, KiB, MiB, count
[2]

$ fizeau diff us.folded many.folded --input-unit us | sed '/^$/,$d'
Not judged: 901 ms -> 1,433 s of time, +1,432 s (+158,911 %).

$ fizeau diff us.folded us.folded --verbose | sed '/^$/,$d'
Same: nothing differs: 901 ms -> 901 ms of time, 0 s (0.0 %).
Warning: the base's numbers are interpreted as microseconds, because all are
  multiples of the smallest, some thousands; set --input-unit to change that.
Warning: the head's numbers are interpreted as microseconds, because all are
  multiples of the smallest, some thousands; set --input-unit to change that.
Warning: both are assumed to be whole runs; for parts of a running program use
  --scale share.

$ printf 'a;b 4\nc 10\n' >plain.folded && fizeau replay plain.folded -o plain.bin
fizeau: warning: binary: samples are written as 1 ms each, because the sampling interval is unknown
fizeau: wrote plain.bin

$ fizeau replay plain.folded --format gecko -o plain.json
fizeau: warning: gecko: samples are written as 1 ms each, because the sampling interval is unknown
fizeau: wrote plain.json

$ fizeau replay plain.folded -o plain.pftrace && fizeau replay plain.pftrace --format folded --metric-line -o -
fizeau: warning: perfetto: samples are written as 1 ms each, because the sampling interval is unknown
fizeau: wrote plain.pftrace
# metric: wall ns
c 10000000
a;b 4000000

$ printf '{"head":{"callFrame":{"functionName":"f"},"selfSize":9,"children":[]}}' >f.heapprofile

$ fizeau replay f.heapprofile -o heap.prof
fizeau: a pstats file stores times, and 'bytes' is not a time; --metric samples writes sample counts, and -o FILE.pb.gz stores every metric
[2]

$ fizeau replay f.heapprofile --metric samples --format folded -o -
f 1

$ fizeau replay f.heapprofile --format folded -o -
f 9

$ fizeau replay f.heapprofile --format svg --metric-line -o -
fizeau: --metric-line requires --collapsed or --format folded
[2]

$ fizeau replay f.heapprofile --format folded --metric-line -o -
# metric: bytes bytes
f 9

# The unit says it already.
$ fizeau replay f.heapprofile | head -n 1
9 B

$ sed 's/9/4096/' f.heapprofile >g.heapprofile && fizeau diff f.heapprofile g.heapprofile | head -n 1
Not judged: 9 B -> 4.00 KiB, +3.99 KiB (+45,411 %).

# What could not be read is time in our formats, and no function in those of CPython's profiler.
$ printf '/r/app.py:main:1;/r/app.py:fib:5 30\n/r/app.py:main:2;~:[unreadable]:0 10\n' > torn

$ for f in collapsed pstats jsonl gecko binary folded text; do echo $f $(fizeau replay --format $f -o - torn | grep -a -c unreadable); done
collapsed 0
fizeau: warning: pstats: samples are written as 1 ms each, because the sampling interval is unknown
pstats 0
jsonl 0
fizeau: warning: gecko: samples are written as 1 ms each, because the sampling interval is unknown
gecko 0
fizeau: warning: binary: samples are written as 1 ms each, because the sampling interval is unknown
binary 0
folded 1
text 1
