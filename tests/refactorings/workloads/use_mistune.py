"""Markdown of all kinds as HTML, with plug-ins."""
import mistune

TEXT = """# Title\n\nSetext\n======\n\nA *paragraph* with **strong**, `code`, [link](http://x.y "t"),
![image](a.png), <http://auto.link>, ~~gone~~ and a footnote[^1].  \nBroken line, <b>html</b> and &amp;.

- one\n- two\n  - nested\n    1. deep\n\n> quoted\n> > twice\n\n```python\nx = 1\n```\n
    indented code\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n---\n\n<div>\nblock\n</div>\n
[ref]: http://some.where "title"\n\n[ref] and [ref][ref]\n\n[^1]: The note.\n\n- [ ] task\n- [x] done\n
"""
for _ in range(40):
    plain = mistune.create_markdown()
    full = mistune.create_markdown(escape=False, plugins=["strikethrough", "footnotes", "table", "task_lists", "url"])
    tree = mistune.create_markdown(renderer="ast")
    for _ in range(3):
        plain(TEXT), full(TEXT * 2), tree(TEXT)
