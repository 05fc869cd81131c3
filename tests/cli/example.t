# examples/compare.c sees nothing of us but include/fizeau.h.
$ compare=$(dirname "$(command -v fizeau)")/examples/compare
> "$compare" $DATA/tachyon-diff/base.bin $DATA/tachyon-diff/head.bin
wall in ns, base times 1.0000
       +500000           _run_code (lib/python3/runpy.py:87)
       -500000           serve (program.py:48)
      +2000000           request (program.py:37)
    +164000000           parse (program.py:11)
     -31500000  removed  dropped (program.py:21)
     -35500000           helper (program.py:31)
     -69000000  removed  dropped.<locals>.<genexpr> (program.py:21)
     -28000000           fib (program.py:17)
parse changed most:
  _run_module_as_main > _run_code > <module> > main > serve > request > parse: +164000000 ns

$ printf 'a;b 3\n' > 1.folded && printf 'a;b 1\na;c 2\n' > 2.folded
> "$(dirname "$(command -v fizeau)")"/examples/compare 1.folded 2.folded x.html && head -c 15 x.html
samples in count, base times 1.0000
            -2           b (:0)
            +2  new      c (:0)
b changed most:
  a > b: -2 count
<!doctype html>

$ "$(dirname "$(command -v fizeau)")"/examples/compare 1.folded missing
compare: missing: cannot be opened: No such file or directory
[2]
