"""A font built, compiled, read again, dumped, subset and merged; outlines drawn with several pens."""
import io

from fontTools import subset
from fontTools.feaLib.builder import addOpenTypeFeaturesFromString
from fontTools.fontBuilder import FontBuilder
from fontTools.misc import bezierTools, transform
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.recordingPen import RecordingPen
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

FEATURES = """
languagesystem DFLT dflt; languagesystem latn dflt;
@small = [a b c d e]; @large = [A B C D E];
feature smcp { sub @small by @large; } smcp;
feature liga { sub f i by f_i; sub a b' c by d; } liga;
feature kern { pos A B -20; pos @small @large 10; pos f f 5; } kern;
feature mark { markClass [x] <anchor 50 100> @TOP; pos base a <anchor 60 200> mark @TOP; } mark;
"""
NAMES = [".notdef", "space", *"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "f_i"]


def glyph(n):
    pen = TTGlyphPen(None)
    for x in range(0, 60, 20):
        pen.moveTo((x, n)), pen.lineTo((x, 500 + n)), pen.qCurveTo((x + 9, 520), (x + 15, 490), (x + 18, n)), pen.closePath()
    return pen.glyph()


def build():
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(NAMES)
    builder.setupCharacterMap({ord(n): n for n in NAMES if len(n) == 1})
    builder.setupGlyf({n: glyph(i) for i, n in enumerate(NAMES)})
    builder.setupHorizontalMetrics({n: (600, 0) for n in NAMES})
    builder.setupHorizontalHeader(ascent=800, descent=-200), builder.setupNameTable({"familyName": "F", "styleName": "R"})
    builder.setupOS2(), builder.setupPost()
    addOpenTypeFeaturesFromString(builder.font, FEATURES)
    file = io.BytesIO()
    builder.save(file)
    return file.getvalue()


for turn in range(12):
    data = build()
    font = TTFont(io.BytesIO(data))
    text = io.StringIO()
    font.saveXML(text)
    again = TTFont()
    again.importXML(io.BytesIO(text.getvalue().encode())), again.save(io.BytesIO())
    glyphs = font.getGlyphSet()
    for name in NAMES:
        for pen in (RecordingPen(), BoundsPen(glyphs), SVGPathPen(glyphs), TransformPen(RecordingPen(), transform.Scale(2))):
            glyphs[name].draw(pen)
    options = subset.Options()
    options.layout_features = ["*"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="abcfi"), subsetter.subset(font), font.save(io.BytesIO())
    for t in range(60):
        bezierTools.splitCubicAtT((0, 0), (1, 9), (7, 3), (10, 10), t / 60), bezierTools.calcCubicBounds((0, 0), (t, 9), (7, 3), (9, 9))
        bezierTools.calcQuadraticArcLength((0, 0), (t, 5), (9, 9)), bezierTools.solveCubic(1, t, 3, -4)
