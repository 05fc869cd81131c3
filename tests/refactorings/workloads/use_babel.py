"""Dates, numbers and lists in several languages, and messages extracted, read, merged and written."""
import datetime
import decimal
import io

from babel import Locale, dates, lists, numbers, plural
from babel.messages import catalog, extract, mofile, pofile

SOURCE = b"""
# NOTE: a comment
def f(n):
    print(_("Hello %(name)s") % {"name": n}, gettext('two ' 'parts'))
    return ngettext("%d file", "%d files", n), pgettext("menu", "Open")
""" * 8
WHEN = datetime.datetime(2021, 3, 14, 15, 9, 26)
for turn in range(40):
    for name in ("en_US", "de_DE", "fr_FR", "ar_EG", "ja_JP"):
        locale = Locale.parse(name)
        for form in ("short", "medium", "long", "full"):
            dates.format_date(WHEN, form, locale=locale), dates.format_time(WHEN, form, locale=locale)
            dates.format_datetime(WHEN, form, tzinfo=dates.get_timezone("Europe/Paris"), locale=locale)
        dates.format_timedelta(datetime.timedelta(days=turn), locale=locale, add_direction=True)
        dates.format_skeleton("yMMMd", WHEN, locale=locale), dates.format_interval(WHEN, WHEN.replace(day=20), locale=locale)
        dates.get_timezone_name(dates.get_timezone("America/New_York"), locale=locale)
        for value in (0, 1234.5678, -7, decimal.Decimal("12345678.9")):
            numbers.format_decimal(value, locale=locale), numbers.format_currency(value, "EUR", locale=locale)
            numbers.format_percent(value, locale=locale), numbers.format_scientific(value, locale=locale)
        lists.format_list(["a", "b", "c"], locale=locale), locale.get_display_name("en")
    numbers.parse_decimal("1,234.5", locale="en_US"), dates.parse_date("4/1/04", locale="en_US")
    dates.parse_time("15:30:00", locale="en_US"), plural.to_python({"one": "n is 1", "few": "n in 2..4"})(turn)
    plural.to_javascript({"one": "n is 1"}), plural.to_gettext({"one": "n is 1", "two": "n is 2"})
    messages = catalog.Catalog(locale="de", project="p", version="1")
    for line, message, comments, context in extract.extract("python", io.BytesIO(SOURCE), comment_tags=["NOTE:"]):
        messages.add(message, None, [("f.py", line)], auto_comments=comments, context=context)
    text = io.BytesIO()
    pofile.write_po(text, messages, sort_output=True, width=40)
    again = pofile.read_po(io.BytesIO(text.getvalue()), locale="de")
    again.update(messages), list(again.check())
    for message in again:
        message.string = message.string or message.id
    compiled = io.BytesIO()
    mofile.write_mo(compiled, again), mofile.read_mo(io.BytesIO(compiled.getvalue()))
