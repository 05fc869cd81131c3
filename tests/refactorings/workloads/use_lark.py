"""A grammar loaded, and texts parsed by LALR and by Earley."""
import lark
from lark import Lark, Transformer, v_args

GRAMMAR = r"""
    ?start: statement+
    ?statement: NAME "=" sum ";" -> assign | sum ";"
    ?sum: product | sum "+" product -> add | sum "-" product -> sub
    ?product: atom | product "*" atom -> mul | product "/" atom -> div
    ?atom: NUMBER -> number | "-" atom -> neg | NAME -> var | "(" sum ")" | list
    list: "[" [sum ("," sum)*] "]"
    %import common.CNAME -> NAME
    %import common.NUMBER
    %import common.WS
    %ignore WS
"""


@v_args(inline=True)
class Calculate(Transformer):
    from operator import add, sub, mul, neg

    def __init__(self):
        self.names = {}

    def number(self, token):
        return float(token)

    def div(self, a, b):
        return a / (b or 1)

    def assign(self, name, value):
        self.names[name] = value
        return value

    def var(self, name):
        return self.names.get(name, 0)

    def list(self, *values):
        return len(values)


LINES = "a = 1 + 2 * (3 - 4);\nb = [1, 2, a] - -5 / 2;\na * b + (7 - b) * a;\n"
TEXT = LINES * 25
for _ in range(4):
    tree = Lark(GRAMMAR, parser="lalr", propagate_positions=True).parse(TEXT)
    Calculate().transform(tree)
    tree.pretty()
    Lark(GRAMMAR, parser="lalr", lexer="standard" if lark.__version__ < "1" else "basic").parse(TEXT)
    Lark(GRAMMAR, parser="earley").parse(LINES * 4)
    Lark(GRAMMAR, parser="lalr", transformer=Calculate()).parse(TEXT)
