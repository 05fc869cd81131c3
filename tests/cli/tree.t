# A call tree as text. $DATA/tachyon-diff holds recordings that CPython 3.15 made of program.py.
$ fizeau replay --tree $DATA/tachyon-diff/base.bin
1,203 samples, 602 ms of wall time

    total    share      self  call tree
   600 ms   99.8 %            <module>                  program.py:62
   600 ms   99.8 %            └─ main                   program.py:57
   600 ms   99.8 %               └─ serve               program.py:48
   600 ms   99.7 %                  └─ request          program.py:37
   368 ms   61.1 %    368 ms           ├─ parse         program.py:11
   140 ms   23.2 %   31.5 ms           ├─ dropped       program.py:21
  69.0 ms   11.5 %   69.0 ms           │  ├─ <genexpr>  program.py:21
  39.0 ms    6.5 %   39.0 ms           │  └─ helper     program.py:31
  46.5 ms    7.7 %   46.5 ms           ├─ fib … up to 8 times  program.py:17
  43.5 ms    7.2 %   43.5 ms           └─ helper        program.py:31

Rows of at least 1.0 % (--min-share).

State: 99.9 % holding the GIL.
Sampling: 1,203 samples every 500 us, 6.1 % failed, 0.0 % missed.

# Frames that are not the program's own: libraries below their entry, imports, what comes before the
# program. What is called from there hangs below.
$ L=/usr/lib/python3.11 A=/srv/app/main.py; R="tid:1;$L/runpy.py:_run_module_as_main:198;$L/runpy.py:_run_code:88"
> I="$L/importlib/_bootstrap.py:_find_and_load:1178;$L/importlib/_bootstrap_external.py:exec_module:940"
> cat > app.collapsed <<END
> $R 1
> tid:1;$L/site.py:main:600;$L/os.py:stat:9 2
> $R;$A:<module>:9 1
> $R;$A:<module>:9;$I 1
> $R;$A:<module>:9;$I;$L/json/__init__.py:<module>:1 2
> $R;$A:<module>:9;$I;$L/json/__init__.py:<module>:1;$I;$L/json/decoder.py:<module>:1;$L/re/__init__.py:compile:1 3
> $R;$A:<module>:9;$I;/srv/app/util.py:<module>:1;/srv/app/util.py:table:4 5
> $R;$A:<module>:9;$A:main:7;$L/json/__init__.py:dumps:183;$L/json/encoder.py:encode:183;$L/json/encoder.py:iterencode:258 3
> $R;$A:<module>:9;$A:main:7;$L/json/__init__.py:dumps:183;$L/json/encoder.py:encode:183;$L/json/encoder.py:iterencode:258;$A:default:3 14
> $R;$A:<module>:9;$A:main:7;$L/json/__init__.py:dumps:183;$L/json/encoder.py:encode:183;$L/json/encoder.py:floatstr:224 50
> $R;$A:<module>:9;$A:main:7;$A:walk:12;$A:walk:12;$A:walk:12;$A:walk:12;$A:walk:12;$A:leaf:20 8
> $R;$A:<module>:9;$A:main:7;$A:walk:12;$A:walk:12;$A:leaf:20 2
> $R;$A:<module>:9;$A:main:7;$A:walk:12;$A:walk:12;$A:walk:12;$A:walk:12;$A:walk:12;$A:walk:12 7
> $R;$A:<module>:9;$A:main:7;$A:rare:30 1
> END
> fizeau replay --tree app.collapsed --min-share 1.5
100 samples

    total    share      self  call tree
       97   97.0 %            <module>                    main.py:9
       85   85.0 %            ├─ main                     main.py:7
       67   67.0 %            │  ├─ dumps                 …/json/__init__.py:183
       67   67.0 %         3  │  │  └─ [2 frames hidden] json
       50   50.0 %        50  │  │     ├─ floatstr        …3/json/encoder.py:224
       14   14.0 %        14  │  │     └─ default         main.py:3
       17   17.0 %         7  │  └─ walk … up to 6 times  main.py:12
       10   10.0 %        10  │     └─ leaf               main.py:20
        5    5.0 %            ├─ import util              util.py
        5    5.0 %         5  │  └─ table                 util.py:4
        5    5.0 %         2  └─ import json              …hon3/json/__init__.py
        3    3.0 %         3     └─ [4 frames hidden] re, importlib, json
        3    3.0 %         3  [start-up]

Rows of at least 1.5 % (--min-share); --all-frames shows hidden frames.

Sampling: 100 samples.

$ fizeau replay --tree app.collapsed --all-frames -l 12 --no-summary
100 samples

    total    share      self  call tree
       98   98.0 %            _run_module_as_main           …ython3/runpy.py:198
       98   98.0 %         1  └─ _run_code                  …python3/runpy.py:88
       97   97.0 %         1     └─ <module>                main.py:9
       85   85.0 %                  ├─ main                 main.py:7
       67   67.0 %                  │  ├─ dumps             json/__init__.py:183
       67   67.0 %                  │  │  └─ encode         …json/encoder.py:183
       50   50.0 %        50        │  │     ├─ floatstr    …json/encoder.py:224
       17   17.0 %         3        │  │     └─ iterencode  …json/encoder.py:258
       14   14.0 %        14        │  │        └─ default  main.py:3
       17   17.0 %         7        │  ├─ walk … up to 6 times  main.py:12
       10   10.0 %                  │  │  └─ [1 more]
        1    1.0 %                  │  └─ [1 more]
       11   11.0 %                  └─ _find_and_load       …/_bootstrap.py:1178
       11   11.0 %         1           └─ exec_module       …rap_external.py:940
       10   10.0 %                        └─ [2 more]
        2    2.0 %            [1 more]

# From what ran to its callers.
$ fizeau replay --tree app.collapsed --invert --min-share 8% --no-summary
100 samples

    total    share  function and its callers
       50   50.0 %  floatstr                      …b/python3/json/encoder.py:224
       50   50.0 %  └─ [2 frames hidden] json
       50   50.0 %     └─ main                    main.py:7
       50   50.0 %        └─ <module>             main.py:9
       50   50.0 %           └─ _run_code         lib/python3/runpy.py:88
       50   50.0 %              └─ _run_module_as_main  lib/python3/runpy.py:198
       14   14.0 %  default                       main.py:3
       14   14.0 %  └─ iterencode                 …b/python3/json/encoder.py:258
       14   14.0 %     └─ [2 frames hidden] json
       14   14.0 %        └─ main                 main.py:7
       14   14.0 %           └─ <module>          main.py:9
       14   14.0 %              └─ _run_code      lib/python3/runpy.py:88
       14   14.0 %                 └─ _run_module_as_main  …python3/runpy.py:198
       10   10.0 %  leaf                          main.py:20
       10   10.0 %  └─ walk … up to 5 times       main.py:12
       10   10.0 %     └─ main                    main.py:7
       10   10.0 %        └─ <module>             main.py:9
       10   10.0 %           └─ _run_code         lib/python3/runpy.py:88
       10   10.0 %              └─ _run_module_as_main  lib/python3/runpy.py:198
       26   26.0 %  [10 more]

# Columns as the terminal has them; where they are few the guides are narrow, names are cut, and files
# lose their front.
$ COLUMNS=60 fizeau replay --tree app.collapsed --no-summary
100 samples

    total    share      self  call tree
       97   97.0 %         1  <module>
       85   85.0 %            ├─ main
       67   67.0 %            │  ├─ dumps
       67   67.0 %         3  │  │  └─ [2 frames hidden] js…
       50   50.0 %        50  │  │     ├─ floatstr
       14   14.0 %        14  │  │     └─ default
       17   17.0 %         7  │  ├─ walk … up to 6 times
       10   10.0 %        10  │  │  └─ leaf
        1    1.0 %         1  │  └─ rare
        5    5.0 %            ├─ import util
        5    5.0 %         5  │  └─ table
        5    5.0 %         2  ├─ import json
        3    3.0 %         3  │  └─ [4 frames hidden] re, i…
        1    1.0 %         1  └─ [finding and loading modul…
        3    3.0 %         3  [start-up]

$ COLUMNS=110 LC_ALL=C.UTF-8 fizeau replay --tree app.collapsed --no-summary | head -n 8
100 samples

    total    share      self  call tree
       97   97.0 %         1  <module>                                     main.py:9
       85   85.0 %            ├─ main                                      main.py:7
       67   67.0 %            │  ├─ dumps                                  lib/python3/json/__init__.py:183
       67   67.0 %         3  │  │  └─ [2 frames hidden] json
       50   50.0 %        50  │  │     ├─ floatstr                         lib/python3/json/encoder.py:224

# Colours repeat what is written: own code is bold, guides and places are dim.
$ fizeau replay --tree app.collapsed --no-summary --color always -l 3 | sed 's/\x1b/^/g'
^[1m100 samples^[0m

^[2m    total    share      self  call tree^[0m
^[31m       97   97.0 %^[0m         1  ^[1m<module>^[0m           ^[2mmain.py:9^[0m
^[31m       85   85.0 %^[0m            ^[2m├─ ^[0m^[1mmain^[0m            ^[2mmain.py:7^[0m
^[31m       67   67.0 %^[0m            ^[2m│  ├─ ^[0mdumps        ^[2m…b/python3/json/__init__.py:183^[0m
^[31m       67   67.0 %^[0m            ^[2m│  │  └─ ^[0m^[2m[1 more]^[0m
^[32m       18   18.0 %^[0m            ^[2m│  └─ ^[0m^[2m[2 more]^[0m
^[32m       11   11.0 %^[0m            ^[2m└─ ^[0m^[2m[3 more]^[0m
        3    3.0 %            ^[2m[1 more]^[0m

# Nothing is left of a tree without code of its own: there all is shown, unless someone says what is.
$ fizeau replay --tree app.collapsed --own json --no-summary --min-share 5
100 samples

    total    share      self  call tree
       97   97.0 %            <module>                    main.py:9
       96   96.0 %            └─ [5 frames hidden] main, importlib, util
       67   67.0 %               ├─ dumps                 …/json/__init__.py:183
       67   67.0 %               │  └─ encode             …3/json/encoder.py:183
       50   50.0 %        50     │     ├─ floatstr        …3/json/encoder.py:224
       17   17.0 %               │     └─ iterencode      …3/json/encoder.py:258
       14   14.0 %        14     │        └─ default      main.py:3
       17   17.0 %         7     ├─ walk … up to 6 times  main.py:12
       10   10.0 %        10     │  └─ leaf               main.py:20
        5    5.0 %         5     ├─ table                 util.py:4
        5    5.0 %               └─ import json           …hon3/json/__init__.py

$ printf 'main;a;b 90\nmain;c 10\n' | fizeau replay - --tree --no-summary
100 samples

    total    share      self  call tree
      100  100.0 %            main
       90   90.0 %            ├─ a
       90   90.0 %        90  │  └─ b
       10   10.0 %        10  └─ c

# Names are text.
$ printf 'a\033[31mb;c\342\200\256d 3\n' | fizeau replay - --tree --no-summary
3 samples

    total    share      self  call tree
        3  100.0 %            a\x1b[31mb
        3  100.0 %         3  └─ c\xe2\x80\xaed

# Threads are told apart, and samples without a stack are told.
$ printf 'tid:1;a.py:main:1 6\ntid:2;b.py:work:3;b.py:inner:9 3\n' > threads.collapsed; fizeau replay --tree threads.collapsed --no-summary
9 samples

    total    share      self  call tree
        6   66.7 %            thread tid 1
        6   66.7 %         6  └─ main       a.py:1
        3   33.3 %            thread tid 2
        3   33.3 %            └─ work       b.py:3
        3   33.3 %         3     └─ inner   b.py:9

$ for i in 1 2 3 4 5 6 7 8 9; do echo "tid:$i;a.py:f$i:1 $i"; done > many.collapsed; fizeau replay --tree many.collapsed --no-summary | grep thread
        9   20.0 %            thread tid 9
        8   17.8 %            thread tid 8
        7   15.6 %            thread tid 7
        6   13.3 %            thread tid 6
        5   11.1 %            thread tid 5
        4    8.9 %            thread tid 4
        3    6.7 %            thread tid 3
        3    6.7 %            2 more threads

# Of a comparison: where it certainly became slower or faster.
$ cat > b.folded <<END
> main;load;parse 2000
> main;load;read 1000
> main;save 3000
> main;old 900
> main;steady;x 4000
> main;steady;y 3999
> END
> cat > h.folded <<END
> main;load;parse 9000
> main;load;read 1000
> main;save 1000
> main;fresh;inner 2500
> main;steady;x 4000
> main;steady;y 4001
> END
> fizeau diff --tree --scale time b.folded h.folded
Slower by 44.3 % [+6.3 %, +95.9 %] (approximate: sample order unknown): 14,899
  samples -> 21,501 samples, +6,602.

   before     after     change           call tree
   14,899    21,501     +6,602 ▲ slower  main
    3,000    10,000     +7,000 ▲ slower  ├─ load
    2,000     9,000     +7,000 ▲ slower  │  ├─ parse, self +7,000
    1,000     1,000          0 ? unsure  │  └─ read
        0     2,500     +2,500 + new     ├─ fresh
        0     2,500     +2,500 + new     │  └─ inner, self +2,500
    3,000     1,000     -2,000 ▼ faster  ├─ save, self -2,000
      900         0       -900 − gone    ├─ old, self -900
    7,999     8,001         +2 ? unsure  └─ steady

Paths to significant changes; --all-frames shows all.

Measured: the order of samples is not recorded, so typical noise is assumed;
  smallest detectable change: 42.4 %; 71 more runs per side would detect 5.0 %.
Limits: both are assumed to be whole runs; for parts of a running program use
  --scale share.

$ COLUMNS=100 fizeau diff --tree --scale time b.folded h.folded --all-frames --color always | sed -n 's/\x1b/^/gp'
^[1mSlower by 44.3 % [+6.3 %, +95.9 %] (approximate: sample order unknown): 14,899 samples -> 21,501
  samples, +6,602.^[0m
^[2m   before     after     change           call tree^[0m
   14,899    21,501 ^[31m    +6,602 ▲ slower^[0m  main
    3,000    10,000 ^[31m    +7,000 ▲ slower^[0m  ^[2m├─ ^[0mload
    2,000     9,000 ^[31m    +7,000 ▲ slower^[0m  ^[2m│  ├─ ^[0mparse, self +7,000
    1,000     1,000 ^[2m         0 ? unsure^[0m  ^[2m│  └─ ^[0mread
        0     2,500 ^[35m    +2,500 + new^[0m     ^[2m├─ ^[0mfresh
        0     2,500 ^[35m    +2,500 + new^[0m     ^[2m│  └─ ^[0minner, self +2,500
    3,000     1,000 ^[34m    -2,000 ▼ faster^[0m  ^[2m├─ ^[0msave, self -2,000
      900         0 ^[35m      -900 − gone^[0m    ^[2m├─ ^[0mold, self -900
    7,999     8,001 ^[2m        +2 ? unsure^[0m  ^[2m└─ ^[0msteady
    3,999     4,001 ^[2m        +2 ? unsure^[0m  ^[2m   ├─ ^[0my
    4,000     4,000 ^[2m         0 ? unsure^[0m  ^[2m   └─ ^[0mx

$ fizeau diff --tree --scale time b.folded h.folded --invert -l 8 | sed -n '/function and/,/^$/p'
   before     after     change           function and its callers
    2,000     9,000     +7,000 ▲ slower  parse
    2,000     9,000     +7,000           └─ load
    2,000     9,000     +7,000              └─ main
        0     2,500     +2,500 + new     inner
        0     2,500     +2,500           └─ fresh
        0     2,500     +2,500              └─ main
    3,000     1,000     -2,000 ▼ faster  save
    3,000     1,000     -2,000           └─ main
    9,899     9,001       -898           [4 more]

$ fizeau diff --tree b.folded b.folded
Same: nothing differs: 14,899 samples -> 14,899 samples, 0 (0.0 %).

No call path changed significantly; --all-frames shows all.

Measured: both sides are identical.

# Its own cost changed, and that of many callees by as much, each too little to tell.
$ (echo 'main;work 3000'; for i in $(seq 900); do echo "main;work;c$i 40"; done) > b2.folded; (echo 'main;work 30000'; for i in $(seq 900); do echo "main;work;c$i 10"; done) > h2.folded; fizeau diff --tree --scale time b2.folded h2.folded | sed -n '/before/,/^$/p'
   before     after     change           call tree
   39,000    39,000          0 ? unsure  main
   39,000    39,000          0 ? unsure  └─ work, self +27,000
   36,000     9,000    -27,000              └─ [900 unchanged]

# Where nothing can be judged, what differs.
$ fizeau diff --tree --input-unit bytes b.folded h.folded
Not judged: 14.5 KiB -> 21.0 KiB of memory, +6.45 KiB (+44.3 %).

   before     after     change           call tree
 14.5 KiB  21.0 KiB  +6.45 KiB           main
 2.93 KiB  9.77 KiB  +6.84 KiB           ├─ load
 1.95 KiB  8.79 KiB  +6.84 KiB           │  ├─ parse
  1,000 B   1,000 B        0 B           │  └─ read
      0 B  2.44 KiB  +2.44 KiB           ├─ fresh
      0 B  2.44 KiB  +2.44 KiB           │  └─ inner
 2.93 KiB   1,000 B  -1.95 KiB           ├─ save
    900 B       0 B     -900 B           ├─ old
 7.81 KiB  7.81 KiB       +2 B           └─ steady

Paths that differ most (--min-share); --all-frames shows all.

Measured: not judged: no test exists for this metric.

$ LC_ALL=C fizeau diff --tree --scale time b.folded h.folded -l 4 | sed -n '/before/,/^$/p'
   before     after     change           call tree
   14,899    21,501     +6,602 ^ slower  main
    3,000    10,000     +7,000 ^ slower  |- load
    2,000     9,000     +7,000 ^ slower  |  |- parse, self +7,000
    1,000     1,000          0 ? unsure  |  `- read
        0     2,500     +2,500 + new     |- fresh
        0     2,500     +2,500 + new     |  `- inner, self +2,500
   11,899     9,001     -2,898           `- [3 more]

$ fizeau diff --tree $DATA/tachyon-diff/base.bin $DATA/tachyon-diff/head.bin | sed -n '/before/,/^$/p'
   before     after     change           call tree
   600 ms    602 ms   +1.50 ms ? unsure  <module>                program.py:62
   600 ms    602 ms   +1.50 ms ? unsure  └─ main                 program.py:57
   600 ms    602 ms   +1.50 ms ? unsure     └─ serve             program.py:48
   600 ms    602 ms   +2.00 ms ? unsure        └─ request        program.py:37
   140 ms       0 s    -140 ms − gone             ├─ dropped     program.py:21
  69.0 ms       0 s   -69.0 ms − gone             │  ├─ <genexpr>, self -69.0 ms
  39.0 ms       0 s   -39.0 ms ? unsure           │  └─ helper   program.py:31
   458 ms    597 ms    +140 ms                    └─ [4 unsure]

# What a wish needs is said.
$ fizeau replay --all-frames app.collapsed; fizeau replay --min-share 3 --flamegraph app.collapsed
fizeau: --all-frames requires --tree or --format svg
fizeau: --min-share requires --tree
[2]

$ fizeau replay --tree --min-share 101% app.collapsed; fizeau replay --tree --min-share x app.collapsed
fizeau: replay: --min-share: 101% is more than 100%
fizeau: replay: --min-share: 'x' is not a percentage, such as 5%
[2]

$ fizeau replay --format tree --sort name app.collapsed; fizeau replay --tree --pstats app.collapsed
fizeau: --sort requires --format text or pstats, not tree
fizeau: replay: formats pstats and tree cannot be combined; use 'fizeau replay' to convert the recording to a second format
[2]

$ fizeau replay --tree -o tree.txt app.collapsed --no-summary && head -n 1 tree.txt
fizeau: wrote tree.txt
100 samples

$ printf '' > empty.folded; fizeau replay --tree -l 0 --no-summary app.collapsed
100 samples

    total    share      self  call tree
      100  100.0 %            [2 more]
