"""Code of several languages highlighted for several outputs."""
import pathlib

from pygments import highlight
from pygments.formatters import HtmlFormatter, LatexFormatter, SvgFormatter, Terminal256Formatter
from pygments.lexers import get_lexer_by_name, guess_lexer

python = pathlib.Path(__import__("textwrap").__file__).read_text()
C = "#include <stdio.h>\nint main(int argc, char **argv) { /* c */ return printf(\"%d\\n\", argc + 0x1f); }\n" * 20
JS = "const f = async (a, b) => { await a?.b; return `x ${b} y`; } // note\n" * 40
HTML = "<html><style>p { color: red }</style><script>let x = 1;</script><p class='a'>t &amp; u</p></html>\n" * 20
SQL = "SELECT a, COUNT(*) FROM t WHERE b = 'x' GROUP BY a; -- note\n" * 30
for _ in range(2):
    for name, text in (("python", python), ("c", C), ("javascript", JS), ("html", HTML), ("sql", SQL),
                       ("json", '{"a": [1, 2.5, true, null, "x"]}' * 50), ("bash", "for i in a b; do echo $i; done\n" * 40)):
        lexer = get_lexer_by_name(name)
        for formatter in (HtmlFormatter(linenos=True, full=True), LatexFormatter(), SvgFormatter(),
                          Terminal256Formatter(style="monokai")):
            highlight(text, lexer, formatter)
    guess_lexer("#!/usr/bin/python\nimport os\n")
    HtmlFormatter(style="friendly").get_style_defs(".x")
