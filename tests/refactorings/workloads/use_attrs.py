"""Classes defined with many options, made, compared, changed and turned into dictionaries."""
import attr
from attr import validators as v

for n in range(60):
    @attr.s(slots=bool(n % 2), frozen=n % 3 == 0, order=True, hash=True)
    class Point:
        x = attr.ib(default=0, validator=v.instance_of(int), converter=int)
        y = attr.ib(factory=int, repr=False, metadata={"a": 1})
        tags = attr.ib(default=attr.Factory(lambda self: (self.x,), takes_self=True),
                       validator=v.deep_iterable(v.instance_of(int)))
        kind = attr.ib(default="a", validator=v.optional(v.in_(("a", "b"))), kw_only=True)

    @attr.s(auto_attribs=True, auto_exc=True)
    class Wrong(Exception):
        code: int = 3

    @attr.s(auto_attribs=True)
    class Line(Point):
        end: Point = attr.ib(default=None, eq=str)

    made = attr.make_class("Made", {"a": attr.ib(default=1), "b": attr.ib(default=2)}, bases=(object,))
    lines = [Line(i, i + 1, end=Point(i)) for i in range(8)]
    sorted(p for p in map(Point, range(9, 0, -1))), {hash(p) for p in map(Point, range(9))}, repr(lines), lines[0] == lines[1]
    attr.asdict(lines[0]), attr.astuple(lines[1]), attr.evolve(lines[2], x=7), attr.fields_dict(Line)
    attr.asdict(lines[3], filter=attr.filters.exclude(attr.fields(Line).x)), made(), str(Wrong(4)), attr.has(Line)
    attr.validate(lines[4]), attr.resolve_types(Line)
    try:
        Point("z")
    except ValueError:
        pass
    try:
        Point(1, kind="c")
    except ValueError:
        pass
