# SPDX-License-Identifier: MIT
"""The pull requests of bench/pulls.py: what is done to the projects in bench/projects."""

import collections
import json
import random
import re

from alarms import shuffle

# kind: of the table. slower: function in which each benchmark becomes slower; None: no cost changes.
Pull = collections.namedtuple("Pull", "project kind change slower")

PULLS = []


def same(project, kind):
    """Decorates what a pull request without a cost does to a tree."""
    def add(change):
        PULLS.append(Pull(project, kind, change, None))
        return change
    return add


def slower(project, kind, **benchmarks):
    def add(change):
        PULLS.append(Pull(project, kind, change, benchmarks))
        return change
    return add


# ---- editing ----

def edit(path, *pairs):
    text = path.read_text()
    for old, new in pairs:
        if old not in text:
            raise ValueError(f"{path.name}: there is no {old!r}")
        text = text.replace(old, new)
    path.write_text(text)


def edit_all(tree, suffix, old, new):
    paths = [p for p in tree.rglob(f"*{suffix}") if old in p.read_text()]
    for path in paths:
        edit(path, (old, new))
    if not paths:
        raise ValueError(f"no *{suffix} with {old!r}")


def head(path, text):
    path.write_text(text + path.read_text())


def tail(path, text):
    path.write_text(path.read_text() + text)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def cut(path, begin, end):
    """Take what is between two texts out of a file."""
    text = path.read_text()
    at = text.index(begin)
    part = text[at:text.index(end, at)]
    path.write_text(text.replace(part, ""))
    return part


# ---- Python, no cost ----

@same("python", "comments and documents")
def comments_in_functions_that_run(tree):
    edit(tree / "shop/prices.py", ("    total = 0\n", "    # Nothing was bought yet.\n    total = 0  # cents\n"))
    edit(tree / "shop/store.py", ("        try:\n", "        # Most keys are there.\n        try:\n"))


@same("python", "comments and documents")
def docstrings_everywhere(tree):
    for path in (tree / "shop").glob("*.py"):
        path.write_text(re.sub(r"^( *)((?:def|class) .*:\n)", r'\1\2\1    """What this does, in a sentence or two."""\n',
                               path.read_text(), flags=re.M))


@same("python", "comments and documents")
def licence_in_every_file(tree):
    for path in tree.rglob("*.py"):
        head(path, "".join(f"# {line}\n" for line in ["Copyright, and what may be done with this."] * 14))


@same("python", "comments and documents")
def read_me_and_changes(tree):
    tail(tree / "README.md", "More.\n" * 200)
    write(tree / "CHANGES.md", "- a change\n" * 300)


@same("python", "comments and documents")
def todo_comments_removed_and_added(tree):
    edit_all(tree / "shop", ".py", "# SPDX-License-Identifier: MIT\n", "# TODO: say more\n#\n# SPDX-License-Identifier: MIT\n")


@same("python", "formatting")
def blank_lines(tree):
    edit_all(tree / "shop", ".py", "\n\n\n", "\n\n\n\n\n")


@same("python", "formatting")
def wrapped_by_a_formatter(tree):
    edit(tree / "shop/prices.py",
         ("        total += discount(item.total(), percent)\n",
          "        total += discount(\n            item.total(),\n            percent,\n        )\n"),
         ("items.append(Item(clean(name), int(cents), int(count)))",
          "items.append(\n            Item(\n                clean(name),\n                int(cents),\n                int(count),\n"
          "            )\n        )"))


@same("python", "formatting")
def other_quotes(tree):
    edit(tree / "shop/text.py", ('"-".join', "'-'.join"), ('"\\n".join', "'\\n'.join"))
    edit(tree / "shop/store.py", ('"failed: %s"', "'failed: %s'"))


@same("python", "formatting")
def line_ends_of_windows(tree):
    for path in (tree / "shop").glob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


@same("python", "formatting")
def imports_sorted(tree):
    edit(tree / "shop/store.py", ("import io\nimport json\nimport logging\nimport traceback\n",
                                  "import traceback\nimport logging\nimport json\nimport io\n"))


@same("python", "renamed")
def a_function_that_runs(tree):
    edit_all(tree, ".py", "discount", "price_after_all_discounts")


@same("python", "renamed")
def variables(tree):
    edit(tree / "shop/text.py", ("counts", "how_often_each_word_occurs"))
    edit(tree / "shop/graph.py", ("queue", "q"), ("best", "shortest_known"))


@same("python", "renamed")
def a_module(tree):
    (tree / "shop/text.py").rename(tree / "shop/texts_of_the_shop.py")
    edit(tree / "shop/prices.py", ("shop.text ", "shop.texts_of_the_shop "))
    edit(tree / "tests/test_text.py", ("from shop import text\n", "from shop import texts_of_the_shop as text\n"))
    edit(tree / "tests/test_prices.py", ("from shop import prices, text\n",
                                         "from shop import prices\nfrom shop import texts_of_the_shop as text\n"))


@same("python", "renamed")
def the_package(tree):
    (tree / "shop").rename(tree / "a_shop_for_everything")
    edit_all(tree, ".py", "from shop import", "from a_shop_for_everything import")
    edit_all(tree, ".py", "from shop.", "from a_shop_for_everything.")


@same("python", "renamed")
def a_class_and_its_fields(tree):
    edit_all(tree / "shop", ".py", "Item", "LineOfAReceipt")
    edit_all(tree / "shop", ".py", "misses", "n")


@same("python", "renamed")
def a_benchmark(tree):
    edit(tree / "tests/test_text.py", ("def test_words", "def test_that_words_are_counted"))


@same("python", "moved")
def functions_within_files(tree):
    for name in ("graph", "text"):
        shuffle(tree / f"shop/{name}.py", random.Random(1))


@same("python", "moved")
def a_function_to_another_file(tree):
    tail(tree / "shop/text.py", "\n\n" + cut(tree / "shop/prices.py", "def cheapest", "def refund").rstrip() + "\n")
    edit(tree / "tests/test_prices.py", ("prices.cheapest", "text.cheapest"))


@same("python", "moved")
def a_function_that_others_import(tree):
    write(tree / "shop/cleaning.py", cut(tree / "shop/text.py", "def clean", "def slug").rstrip() + "\n")
    edit(tree / "shop/prices.py", ("from shop.text import clean", "from shop.cleaning import clean"))
    edit(tree / "shop/text.py", ("import re\n", "import re\n\nfrom shop.cleaning import clean\n"))


@same("python", "moved")
def the_package_below_src(tree):
    (tree / "src").mkdir()
    (tree / "shop").rename(tree / "src/shop")
    write(tree / "pytest.ini", "[pytest]\npythonpath = src\n")


@same("python", "moved")
def tests_of_one_file_shuffled(tree):
    path = tree / "tests/test_store.py"
    top, fixture, *tests = path.read_text().rstrip("\n").split("\n\n\n")
    path.write_text("\n\n\n".join([top, fixture, *reversed(tests)]) + "\n")


@same("python", "moved")
def a_benchmark_to_another_file(tree):
    part = cut(tree / "tests/test_text.py", "@pytest.mark.benchmark\ndef test_slug", "@pytest.mark.benchmark\ndef test_words")
    write(tree / "tests/test_slugs.py", "import pytest\n\nfrom shop import text\n\nTITLE = \"The Quick, Brown Fox: jumps over "
          "the lazy dog? \" * 8\n\n\n" + part.rstrip() + "\n")


@same("python", "code that does not run")
def unused_code_rewritten(tree):
    write(tree / "shop/unused.py", "import re\n\n\ndef export(items):\n    return sorted({re.sub('x', 'y', i.name) for i in items})\n")


@same("python", "code that does not run")
def new_functions_beside_those_that_run(tree):
    for name in ("prices", "text", "graph", "store"):
        tail(tree / f"shop/{name}.py", "".join(f"\n\ndef more{i}(n):\n    return [n, {i}]\n" for i in range(12)))


@same("python", "code that does not run")
def methods_and_an_exception(tree):
    edit(tree / "shop/prices.py", ("    def total(self):\n", "    def is_free(self):\n        return not self.cents\n\n"
                                   "    def __lt__(self, other):\n        return self.cents < other.cents\n\n    def total(self):\n"))
    edit(tree / "shop/store.py", ("class Store:\n", "class StoreError(Exception):\n    pass\n\n\nclass Store:\n    limit = 10\n\n"
                                  "    def clear(self):\n        self.rows.clear()\n\n"))


@same("python", "code that does not run")
def a_branch_for_an_error(tree):
    edit(tree / "shop/prices.py", ("        raise ValueError(\"a reason is needed\")",
                                   "        raise TypeError(f\"a reason is needed for {len(items)} items\")"))
    edit(tree / "tests/test_prices.py", ("ValueError", "TypeError"))


@same("python", "tests and files")
def a_test_that_is_no_benchmark(tree):
    head(tree / "tests/test_text.py", "def test_first():\n    assert [str(i) for i in range(3000)]\n\n\n")
    tail(tree / "tests/test_store.py", "\n\ndef test_last():\n    assert {i: i for i in range(3000)}\n")


@same("python", "tests and files")
def many_tests_before_the_benchmarks(tree):
    write(tree / "tests/test_all.py", "import json\n\nimport pytest\n\nKEPT = []\n\n\n@pytest.mark.parametrize(\"n\", range(60))\n"
          "def test_n(n):\n    KEPT.append(json.dumps({str(i): [i] * n for i in range(40)}))\n")


@same("python", "tests and files")
def a_new_benchmark(tree):
    edit(tree / "tests/test_store.py", ("def test_round_trip", "def test_put(benchmark, full):\n    benchmark(full.put, 1, 2)\n\n\n"
                                        "def test_round_trip"))


@same("python", "tests and files")
def a_fixture_in_conftest(tree):
    tail(tree / "conftest.py", "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef places(tmp_path, monkeypatch):\n"
         "    monkeypatch.setenv(\"SHOP\", str(tmp_path))\n")


@same("python", "tests and files")
def modules_data_and_pipelines(tree):
    write(tree / "shop/later.py", "VALUE = 1\n" * 80)
    write(tree / "data/big.csv", "1;2;3\n" * 20000)
    write(tree / ".github/workflows/ci.yml", "on: push\n")


@same("python", "types and imports")
def annotations(tree):
    edit(tree / "shop/prices.py", ("def discount(cents, percent):", "def discount(cents: int, percent: int) -> int:"),
         ("def sum_of(items, percent=0):\n    total = 0", "def sum_of(items: list[Item], percent: int = 0) -> int:\n    total: int = 0"),
         ("def read_items(lines):", "def read_items(lines: list[str]) -> list[Item]:"))
    edit(tree / "shop/text.py", ("def count_words(text):", "def count_words(text: str) -> dict[str, int]:"))


@same("python", "types and imports")
def future_annotations_and_all(tree):
    for name in ("prices", "text", "graph", "store"):
        head(tree / f"shop/{name}.py", "from __future__ import annotations\n\n__all__ = []\n")


@same("python", "types and imports")
def imports_for_types_only(tree):
    head(tree / "shop/graph.py", "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from shop.prices import Item\n")


@same("python", "types and imports")
def an_import_that_nothing_uses(tree):
    head(tree / "shop/prices.py", "import decimal\nimport xml.dom.minidom\n")


@same("python", "types and imports")
def an_alias_for_an_old_name(tree):
    tail(tree / "shop/prices.py", "\n\nsum_items = sum_of\nOldItem = Item\n")
    write(tree / "shop/price.py", "from shop.prices import *\n")


@same("python", "build and dependencies")
def requirements(tree):
    tail(tree / "requirements.txt", "".join(f"package{i}>={i}\n" for i in range(40)))


@same("python", "build and dependencies")
def a_version(tree):
    tail(tree / "shop/__init__.py", "__version__ = \"12.0.1\"\n")
    write(tree / "pyproject.toml", "[project]\nname = \"shop\"\nversion = \"12.0.1\"\n")


@same("python", "build and dependencies")
def settings_of_pytest(tree):
    write(tree / "pytest.ini", "[pytest]\nmarkers =\n    slow: takes long\n    benchmark: is measured\ntestpaths = tests\n")


# ---- C, no cost ----

@same("c", "comments and documents")
def comments_in_c(tree):
    for path in tree.glob("*.[ch]"):
        edit(path, ("\n\n", "\n\n/* What comes next, and why it is so. */\n"))


@same("c", "formatting")
def braces_in_c(tree):
    edit(tree / "text.c", ("(line = strchr(line, ';'))", "(line = strchr(line,\n\t\t\t      ';'))"))
    edit(tree / "shelf.c", ("\tfor (; *name; name++)\n\t\th = (h ^ (unsigned char)*name) * 16777619u;\n",
                            "\tfor (; *name; name++) {\n\t\th = (h ^ (unsigned char)*name) *\n\t\t    16777619u;\n\t}\n"))


@same("c", "renamed")
def functions_and_variables_in_c(tree):
    for old, new in (("shelf_hash", "hash_of_a_name_on_the_shelf"), ("bucket", "b"), ("by_cents", "cmp")):
        edit_all(tree, ".c", old, new)
        edit_all(tree, ".h", old, new)


@same("c", "renamed")
def a_file_in_c(tree):
    (tree / "text.c").rename(tree / "words_and_numbers.c")
    edit(tree / "Makefile", ("text.o", "words_and_numbers.o"))


@same("c", "moved")
def functions_in_c(tree):
    """Between files, too."""
    tail(tree / "shelf.c", "\n" + cut(tree / "text.c", "size_t count_fields", "size_t render"))


@same("c", "moved")
def sources_in_c(tree):
    (tree / "source").mkdir()
    for name in ("shelf.c", "text.c", "shelf.h"):
        (tree / name).rename(tree / "source" / name)
    edit(tree / "Makefile", ("shelf.o text.o", "source/shelf.o source/text.o"), (": shelf.h", ": source/shelf.h"),
         ("-Wall", "-Wall -Isource"))


@same("c", "code that does not run")
def unused_functions_in_c(tree):
    tail(tree / "text.c", "".join(f"\nint more{i}(int n)\n{{\n\treturn n * {i + 3} % 7;\n}}\n" for i in range(20)))
    edit(tree / "shelf.c", ("\"%s:%d: no memory\\n\", __FILE__, __LINE__", "\"%s: %s:%d: there is no memory left\\n\", __func__, "
                            "__FILE__, __LINE__"))


@same("c", "code that does not run")
def tables_and_texts_in_c(tree):
    """Other constants come to lie elsewhere."""
    head(tree / "bench.c", "const char fz_table[] = \"a text of some length\";\nint fz_counters[37];\n"
         "const char *const fz_names[] = { \"one\", \"two, and more\", \"3\" };\n")


@same("c", "types and imports")
def const_types_and_headers_in_c(tree):
    edit(tree / "shelf.h", ("#include <stddef.h>", "#include <assert.h>\n#include <stddef.h>\n#include <stdint.h>\n\ntypedef int cents_t;"),
         ("\tint cents;", "\tcents_t cents;"))
    edit(tree / "text.c", ("int x = *", "const int x = *"))


@same("c", "build and dependencies")
def warnings_and_a_library_in_c(tree):
    edit(tree / "Makefile", ("-Wall", "-Wall -Wextra -DVERSION='\"1.2.3\"'"), ("$^", "$^ -lm"))


# ---- Node, no cost ----

@same("node", "comments and documents")
def comments_in_node(tree):
    edit(tree / "lib/shop.mjs", ("export function", "/**\n * What it does.\n * @param {object} x what it is given\n */\nexport function"),
         ("  let total = 0;", "  // Nothing yet.\n  let total = 0;"))


@same("node", "renamed")
def functions_and_variables_in_node(tree):
    edit(tree / "lib/shop.mjs", ("discount", "priceAfterDiscount"), ("counts", "n"))


@same("node", "moved")
def a_function_and_a_folder_in_node(tree):
    write(tree / "lib/words.mjs", cut(tree / "lib/shop.mjs", "export function countWords", "export function discount"))
    (tree / "lib").rename(tree / "sources")
    edit(tree / "bench.mjs", ("import { countWords, slug, sumOf } from \"./lib/shop.mjs\";",
                              "import { slug, sumOf } from \"./sources/shop.mjs\";\n"
                              "import { countWords } from \"./sources/words.mjs\";"))


@same("node", "code that does not run")
def unused_code_in_node(tree):
    tail(tree / "lib/shop.mjs", "".join(f"\nexport function more{i}(n) {{\n  return [n, {i}];\n}}\n" for i in range(12)))


@same("node", "build and dependencies")
def a_package_in_node(tree):
    write(tree / "package.json", json.dumps({"name": "shop", "type": "module", "dependencies": {"unused": "^1.0.0"}}))


# ---- what costs ----

def limit(tree, benchmark, percent):
    """Raise one benchmark's threshold. (The text of a traceback varies by more than half a percent.)"""
    write(tree / "fizeau.ini", f"[benchmark *{benchmark}]\nthreshold = {percent} %\n")


SUM = "    for item in items:\n        total += discount"


@slower("python", "twice", test_sum="sum_of")
def sum_twice(tree):
    edit(tree / "shop/prices.py", (SUM, SUM.replace("items:", "items * 2:")))


@slower("python", "a twentieth more", test_sum="sum_of")
def sum_a_twentieth_more(tree):
    edit(tree / "shop/prices.py", (SUM, SUM.replace("items:", "items + items[:len(items) // 20]:")))


@slower("python", "a hundredth more, limit 0.5 %", test_sum="sum_of")
def sum_a_hundredth_more(tree):
    limit(tree, "test_sum", 0.5)
    edit(tree / "shop/prices.py", (SUM, SUM.replace("items:", "items + items[:len(items) // 100]:")))


@slower("python", "quadratic", test_words="count_words")
def words_quadratic(tree):
    edit(tree / "shop/text.py", ("    counts = {}\n    for word in text.split():\n        counts[word] = counts.get(word, 0) + 1\n"
                                 "    return counts", "    words = text.split()\n    return {word: words.count(word) for word in words}"))


@slower("python", "allocates more", test_receipt="receipt")
def receipt_allocates(tree):
    edit(tree / "shop/text.py",
         ("    return \"\\n\".join(lines)", "    text = \"\"\n    for line in lines:\n        text = \"\".join([text, line, \"\\n\"])\n"
                                            "    return text[:-1]"))


@slower("python", "one more call", test_read="read_items")
def read_calls(tree):
    edit(tree / "shop/prices.py", ("Item(clean(name),", "Item(clean(clean(name)),"))


@slower("python", "twice", test_shortest="shortest", test_get="get", test_slug="slug", test_leaves="")
def several_twice(tree):
    for name, function in (("graph", "shortest"), ("text", "slug"), ("graph", "leaves")):
        tail(tree / f"shop/{name}.py", f"\n\n_{function} = {function}\n\n\ndef {function}(*args):\n    "
             + (f"list(_{function}(*args))" if function == "leaves" else f"_{function}(*args)") + f"\n    return _{function}(*args)\n")
    edit(tree / "shop/graph.py", ("yield from leaves(branch)", "yield from _leaves(branch)"))
    edit(tree / "shop/store.py", ("        try:\n            return self.rows[key]", "        try:\n            self.rows.get(key), "
                                  "self.rows.get(key), self.rows.copy()\n            return self.rows[key]"))


@slower("c", "twice", find="shelf_get", fill="shelf_put")
def hash_twice(tree):
    """Of what the compiler puts into those that call it."""
    edit(tree / "shelf.c", ("\tfor (; *name; name++)\n", "\tfor (const char *c = name; *c; c++)\n\t\th = (h ^ (unsigned char)*c) * 3u;\n"
                            "\th = 2166136261u + (h == 1);\n\tfor (; *name; name++)\n"))


@slower("c", "a twentieth more", smooth="blur")
def blur_a_twentieth_more(tree):
    edit(tree / "text.c", ("y < size - 1", "y < size + 1"))
    edit(tree / "bench.c", ("cells[SIZE * SIZE]", "cells[SIZE * (SIZE + 2)]"))


@slower("c", "one more call", print="render")
def render_calls(tree):
    edit(tree / "text.c", ("\treturn (size_t)snprintf(",
                           "\tif (strlen(name) + count_fields(name) > size)\n\t\treturn 0;\n\treturn (size_t)snprintf("))


@slower("c", "allocates more", fill="strdup")
def put_allocates(tree):
    edit(tree / "shelf.c", ("\titem->name = strdup(name);", "\titem->name = strdup(name);\n\tfree(strdup(item->name));"))


@slower("node", "twice", slug="slug")
def slug_twice(tree):
    edit(tree / "lib/shop.mjs", ("  return title", "  title.toLowerCase().match(/[a-z0-9]+/g).join(\"-\");\n  return title"))


@slower("node", "a twentieth more", sum="sumOf")
def sum_a_twentieth_more_in_node(tree):
    edit(tree / "lib/shop.mjs", ("  return total;", "  for (const item of items.slice(0, items.length / 20)) total += discount("
                                 "item.cents * item.count, percent);\n  return total;"))
