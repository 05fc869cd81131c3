# SPDX-License-Identifier: MIT
"""%load_ext fizeau: `%%fizeau` records a cell and shows where its time went, `%fizeau_diff` compares the
last two.

Notebooks show the page, terminals the table. Stacks start at the cell."""

import ast
import html
import os
import shlex
import tempfile

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.display import display

import fizeau
from fizeau.tools import named, run_below

CELL = "%%fizeau"  # name of the function that runs a cell
HEIGHT = 600  # of the page, in pixels


@magics_class
class Fizeau(Magics):
    def __init__(self, shell):
        super().__init__(shell)
        self.recorded = []

    @cell_magic("fizeau")
    def record(self, line, cell):
        """%%fizeau [OPTIONS of fizeau attach]: run the cell and show where its time went."""
        __tracebackhide__ = True
        try:
            with fizeau.record(options=shlex.split(line), quiet=True) as recording:
                result = named(CELL, self.prepare(cell))()
            if recording.path and show("replay", recording.path):
                self.recorded.append(recording.path)
            else:
                print("the cell took less than a sample")
            return result
        except fizeau.Error as error:
            print(f"fizeau: {error}")

    def prepare(self, cell):
        """A function that runs the cell like the shell does, and returns its last expression's value."""
        shell, source = self.shell, self.shell.transform_cell(cell)
        name = shell.compile.cache(source, shell.execution_count)
        tree = shell.transform_ast(shell.compile.ast_parse(source, name))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        first = shell.compile(tree, name, "exec")
        value = shell.compile(ast.Expression(last.value), name, "eval") if last else None

        def execute():
            __tracebackhide__ = True
            exec(first, shell.user_ns)
            return eval(value, shell.user_ns) if value else None
        return execute

    @line_magic("fizeau_diff")
    def diff(self, line):
        """%fizeau_diff [OPTIONS of fizeau diff]: what changed between the last two recorded cells."""
        if len(self.recorded) < 2:
            print("fizeau_diff compares two cells that begin with %%fizeau")
            return
        try:
            show("diff", *self.recorded[-2:], "--scale", "time", *shlex.split(line))
        except fizeau.Error as error:
            print(f"fizeau: {error}")


def show(*command):
    """Display fizeau's output, a page where the front end supports HTML, else text; False if there is no
    sample of a cell."""
    text = run_below(CELL, *command)
    if text is None:
        return False
    with tempfile.TemporaryDirectory(prefix="fizeau-") as folder:
        page = os.path.join(folder, "page.html")
        run_below(CELL, *command, "-o", page)
        with open(page, encoding="utf-8") as file:
            source = html.escape(file.read())
    frame = f'<iframe srcdoc="{source}" style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
    display({"text/plain": text, "text/html": frame}, raw=True)
    return True
