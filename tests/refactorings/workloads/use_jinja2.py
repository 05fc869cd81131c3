"""Templates compiled and rendered: inheritance, macros, loops, filters, and a sandbox."""
import jinja2
from jinja2.sandbox import SandboxedEnvironment

TEMPLATES = {
    "base": "<title>{% block title %}{% endblock %}</title>{% block body %}{% endblock %}",
    "page": "{% extends 'base' %}{% from 'macros' import cell %}{% block title %}{{ name|title }}"
            "{% endblock %}{% block body %}{% for row in rows recursive %}{{ loop.index }}"
            "{% if loop.first %}first{% elif row.id is odd %}odd{% endif %}{{ cell(row.id) }}"
            "{{ row.words|join(', ')|upper|truncate(20) }}{% set x = row.id * 2 %}{{ x ~ 'x' }}"
            "{% if row.kids %}{{ loop(row.kids) }}{% endif %}{% endfor %}"
            "{% for group in rows|groupby('odd') %}{{ group.grouper }}{% endfor %}"
            "{% filter indent(4) %}{{ rows|map(attribute='id')|sum }}{% endfilter %}{% endblock %}",
    "macros": "{% macro cell(x, y='') %}<td>{{ x|e }}{{ y }}{{ caller() if caller }}</td>{% endmacro %}",
}
kids = [{"id": 100 + i, "words": ["k"], "kids": [], "odd": i % 2} for i in range(3)]
rows = [{"id": i, "words": ["<a>", "b", str(i)], "kids": kids, "odd": i % 2} for i in range(30)]
for make in (jinja2.Environment, SandboxedEnvironment):
    for _ in range(12):
        env = make(loader=jinja2.DictLoader(TEMPLATES), autoescape=True)
        for _ in range(4):
            env.get_template("page").render(name="a page", rows=rows)
        env.parse(TEMPLATES["page"])
        try:
            env.from_string("{{ nothing.at.all }}").render()
        except jinja2.UndefinedError:
            pass
