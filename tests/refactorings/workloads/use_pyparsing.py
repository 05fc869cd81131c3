"""Arithmetic, nested lists and configuration files parsed with grammars of many kinds of elements."""
import pyparsing as pp

integer = pp.Word(pp.nums).setParseAction(lambda t: int(t[0]))
name = pp.Word(pp.alphas, pp.alphanums + "_")
operand = integer | name | pp.QuotedString('"')
expression = pp.infixNotation(operand, [
    ("-", 1, pp.opAssoc.RIGHT), (pp.oneOf("* /"), 2, pp.opAssoc.LEFT), (pp.oneOf("+ -"), 2, pp.opAssoc.LEFT)])
nested = pp.nestedExpr("(", ")")
section = pp.Group(pp.Suppress("[") + name("title") + pp.Suppress("]") + pp.Dict(pp.ZeroOrMore(pp.Group(
    name + pp.Suppress("=") + pp.SkipTo(pp.lineEnd)))))
config = pp.OneOrMore(section).ignore(pp.pythonStyleComment)
rest = pp.Forward()
rest << pp.Optional(pp.Each([name("a"), integer("b")]) + pp.Optional(rest))
for i in range(6):
    expression.parseString("a*(b+%d)-c/4+-x*(y-\"s\")" % i, parseAll=True).asList()
    nested.parseString("(a (b c) (d (e f)) g)" + " " * i).asList()
    config.parseString("# c\n[one]\nx = 1\ny = two\n[two]\nz = %d\n" % i).dump()
    rest.parseString("p 1 q 2")
    list(pp.Combine(name + "." + name).scanString("see a.b and c.d %d" % i))
    pp.delimitedList(integer).setResultsName("n").parseString("1,2,3,%d" % i).asDict()
    pp.Regex(r"\d+-\d+").transformString("3-4 x 5-6")
    try:
        expression.parseString("a *", parseAll=True)
    except pp.ParseException as e:
        str(e)
pp.ParserElement.enablePackrat()
for i in range(4):
    expression.parseString("a*(b+(c-(d*%d)))" % i, parseAll=True)
