"""This Python's own library parsed, changed and parsed again, and checked for errors."""
import pathlib

import parso
from parso.utils import split_lines

folder = pathlib.Path(__import__("textwrap").__file__).parent
texts = [(folder / name).read_text() for name in ("textwrap.py", "shlex.py", "bisect.py")]
grammar = parso.load_grammar(version="3.6")
for _ in range(2):
    for text in texts:
        tree = grammar.parse(text)
        tree.get_code(), split_lines(text, keepends=True)
        list(tree.iter_funcdefs()), list(tree.iter_classdefs()), list(tree.iter_imports())
        for leaf in (tree.get_leaf_for_position((30, 2)), tree.get_first_leaf(), tree.get_last_leaf()):
            leaf and (leaf.get_next_leaf(), leaf.get_previous_leaf(), leaf.get_start_pos_of_prefix())
        tree.get_used_names()
        list(grammar.iter_errors(tree))
        grammar.parse(text, path="a.py", diff_cache=True, cache=True)
        grammar.parse(text.replace("return", "yield", 3) + "def g(:\n  x\n", path="a.py", diff_cache=True,
                      cache=True)
