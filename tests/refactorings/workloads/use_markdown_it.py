"""Markdown of all kinds as HTML, by rules of CommonMark and beyond."""
from markdown_it import MarkdownIt

TEXT = """# Title\n\nSetext\n======\n\nA *paragraph* with **strong**, `code`, [link](http://x.y "t"),
![image](a.png), <http://auto.link>, ~~gone~~ and "quotes" -- (c).  \nBroken line, <b>html</b> and &amp; \\*.

- one\n- two\n  - nested\n    1. deep\n\n> quoted\n> > twice\n\n```python\nx = 1\n```\n
    indented code\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n---\n\n<div>\nblock\n</div>\n
[ref]: http://some.where "title"\n\n[ref] and [ref][ref]\n
"""
for _ in range(10):
    for md in (MarkdownIt(), MarkdownIt("commonmark").enable(["table", "strikethrough"]),
               MarkdownIt("commonmark", {"typographer": True, "html": True}).enable(["replacements", "smartquotes"])):
        md.render(TEXT * 4)
        md.parseInline("some *inline* `text` only")
