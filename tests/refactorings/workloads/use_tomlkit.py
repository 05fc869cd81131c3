"""Files parsed, changed in place and written again, and documents made by hand."""
import datetime
import tomlkit

TEXT = '''# a comment
title = "Example \\u00e9"
[owner]
name = 'me'
born = 1979-05-27T07:32:00-08:00
day = 1979-05-27
at = 07:32:00
text = """
several
lines"""
raw = \'\'\'x\'\'\'
[database]
ports = [ 8001, 8_001, 0xff ] # after
rate = 3.5e2
on = true
[servers.alpha]
ip.v4 = "10.0.0.1"
inline = { a = 1, b = { c = [1, 2] } }
[[products]]
name = "hammer"
[[products]]
name = "nail"
[[products.parts]]
n = 1
'''
for i in range(25):
    doc = tomlkit.parse(TEXT)
    doc["owner"]["name"] = "you"
    doc["database"]["ports"].append(9000 + i), doc["database"].pop("on")
    doc["new"] = {"x": i, "y": [1, "z"], "day": datetime.date(2020, 1, 1)}
    doc.setdefault("other", 4), doc["servers"]["alpha"].update({"k": 2.5}), len(doc), "title" in doc, dict(doc)
    tomlkit.dumps(doc), doc.as_string()
    made = tomlkit.document()
    made.add(tomlkit.comment("made")), made.add(tomlkit.nl()), made.add("a", tomlkit.item([1, 2, {"b": 3}]))
    table = tomlkit.table()
    table.add("k", tomlkit.string("v\n")), table.add("f", 1.5), table.append("n", tomlkit.inline_table())
    made["t"] = table
    made.as_string(), tomlkit.dumps({"a": {"b": [{"c": 1}, {"c": 2}]}, "d": True})
    try:
        tomlkit.parse("a = [1, \n b = ")
    except tomlkit.exceptions.ParseError as e:
        str(e)
