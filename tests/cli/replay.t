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

Sampling: 1,203 samples every 500 us, 6.1 % failed, 0.0 % missed.

$ fizeau replay --sort total --limit 2 $DATA/tachyon-diff/base.bin
1,203 samples, 602 ms of wall time

              self               total  function
  1.00 ms    0.2 %     602 ms  100.0 %  _run_code (lib/python3/runpy.py:87)
      0 s    0.0 %     602 ms  100.0 %  _run_module_as_main (…hon3/runpy.py:201)
                                   and 9 more functions

Sampling: 1,203 samples every 500 us, 6.1 % failed, 0.0 % missed.

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
{
  "schema": 1,
  "kind": "profile",
  "metric": "wall",
  "unit": "ns",
  "samples": 1203,
  "total": 601500000,
  "facts": {

$ fizeau replay base.bin -o x.folded && wc -l < x.folded && tail -n 1 x.folded
15
_run_module_as_main;_run_code;<module>;main;serve;request;fib;fib;fib;fib;fib;fib;fib;fib 2

$ fizeau replay base.bin --collapsed -o x.txt && head -n 2 x.txt
tid:18585;<frozen runpy>:_run_module_as_main:201;<frozen runpy>:_run_code:87;program.py:<module>:62;program.py:main:57;program.py:serve:49;program.py:request:37;program.py:parse:11 411
tid:18585;<frozen runpy>:_run_module_as_main:201;<frozen runpy>:_run_code:87;program.py:<module>:62;program.py:main:57;program.py:serve:49;program.py:request:37;program.py:parse:12 324

$ fizeau replay base.bin --binary -o again.bin && fizeau replay again.bin --collapsed -o - | cmp - x.txt

$ fizeau replay base.bin -o x.fz && fizeau replay x.fz --collapsed -o - | cmp - x.txt

$ fizeau replay base.bin -o x.svg && head -c 5 x.svg
<svg 

# A comparison may have any format of a diff.
$ fizeau replay $DATA/tachyon-diff/head.bin --diff-flamegraph base.bin && ls diff*
fizeau: wrote diff_flamegraph_18612.html
diff_flamegraph_18612.html

$ fizeau replay $DATA/tachyon-diff/head.bin --diff-flamegraph base.bin --format text | head -n 5
Total: 602 ms -> 604 ms of wall time; compared by share, so nothing is said
  about the whole run.
Warning: more than 5 % of the base's samples could not be read.
Warning: more than 5 % of the head's samples could not be read.

# A browser is started without a shell; %s is the address of the page.
$ BROWSER='echo opened %s' fizeau replay base.bin -o 'a b;c.html' --browser
opened file://$SCRATCH/a%20b%3Bc.html

$ BROWSER=false:/does/not/exist fizeau replay base.bin -o x.html --browser
fizeau: x.html: no browser could be started (false:/does/not/exist); open the file by hand or set BROWSER
[2]

# What cannot be done is said before anything is read or written.
$ fizeau replay base.bin -o x.foo
fizeau: x.foo: the suffix names no format; choose one with --format: text, html, svg, json, collapsed, folded, binary, fz
[2]

$ fizeau replay base.bin -o missing/x.html
fizeau: missing/x.html: cannot be written: No such file or directory
[2]

$ fizeau replay base.bin -o .
fizeau: .: is a folder; name a file to write or ask for a format that has a name of its own, such as --flamegraph
[2]

$ mkdir folder && fizeau replay base.bin --flamegraph -o folder && ls folder
fizeau: wrote folder/flamegraph_18585.html
flamegraph_18585.html

$ fizeau replay base.bin --flamegraph --collapsed
fizeau: replay: collapsed: only one format can be written at a time, and flamegraph was asked for already; 'fizeau replay' makes another from the recording
[2]

$ fizeau replay base.bin --format pdf
fizeau: replay: --format: 'pdf' is not one of text, html, svg, json, collapsed, folded, binary, fz
[2]

$ fizeau replay base.bin --browser
fizeau: --browser: opens a page in a file; ask for one with -o FILE.html or --flamegraph
[2]

$ fizeau replay base.bin --match exact
fizeau: --match: only a comparison has one; name the recording to compare with: --diff-flamegraph BASELINE
[2]

$ fizeau replay missing.bin
fizeau: missing.bin: no such file, recording or git revision
[2]

$ fizeau replay base.bin --diff-flamegraph missing.bin -o y.html; ls y.html
fizeau: missing.bin: no such file, recording or git revision
ls: cannot access 'y.html': No such file or directory
[2]

$ fizeau replay
fizeau: replay: needs one recording, but got 0
[2]

$ fizeau replay base.bin again.bin
fizeau: replay: needs one recording, but got 2
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
fizeau: huge.folded: not a profile in a format that can be read (collapsed, fz, tachyon)
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
real.html
<!doctype html>

$ mkfifo pipe; cat pipe > got & timeout 20 fizeau replay base.bin --collapsed -o pipe && wait && wc -l < got
23
