"""A workbook of several sheets with styles, formulas, charts and rules, written and read in every mode."""
import datetime
import io
import sys

sys.modules["numpy"] = None  # openpyxl imports it if it is there, but an old one fails with a new numpy

from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart, LineChart, Reference
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule, ColorScaleRule
from openpyxl.formula.translate import Translator
from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.table import Table


def build(rows):
    book = Workbook()
    sheet = book.active
    sheet.title = "first"
    book.add_named_style(NamedStyle(name="loud", font=Font(bold=True)))
    sheet.append(["h%d" % n for n in range(8)])
    for n in range(rows):
        sheet.append([n, n / 3, "text %d" % n, datetime.datetime(2020, 1, 1 + n % 28), n % 2 == 0, "=A%d*2" % (n + 2), None, "same"])
        cell = sheet.cell(row=n + 2, column=3)
        cell.font, cell.fill = Font(size=10 + n % 3, italic=True), PatternFill("solid", fgColor="FFEE00")
        cell.border, cell.alignment = Border(left=Side("thin")), Alignment(wrap_text=True)
        sheet.cell(row=n + 2, column=2).number_format = "0.00"
    sheet["A1"].style, sheet["B1"].comment, sheet["C1"].hyperlink = "loud", Comment("c", "me"), "http://example.com"
    sheet.merge_cells("J1:K2"), sheet.add_table(Table(displayName="T", ref="A1:H%d" % rows))
    sheet.conditional_formatting.add("A2:A20", CellIsRule(operator="lessThan", formula=["5"], font=Font(bold=True)))
    sheet.conditional_formatting.add("B2:B20", ColorScaleRule(start_type="min", start_color="AA0000", end_type="max", end_color="00AA00"))
    validation = DataValidation(type="list", formula1='"a,b"')
    sheet.add_data_validation(validation), validation.add("L1"), sheet.insert_rows(3), sheet.delete_cols(7)
    for chart in (BarChart(), LineChart()):
        chart.add_data(Reference(sheet, min_col=1, min_row=1, max_row=9), titles_from_data=True)
        sheet.add_chart(chart, "M%d" % (2 if chart.tagname == "barChart" else 20))
    sheet.move_range("A5:B6", rows=1, cols=0), sheet.freeze_panes, book.copy_worksheet(sheet), book.create_sheet("z")
    book.defined_names, get_column_letter(70), Translator("=SUM(A1:B2)+$C$3", origin="A1").translate_formula("D9")
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


for turn in range(6):
    data = build(120)
    for options in ({}, {"read_only": True}, {"data_only": True}):
        book = load_workbook(io.BytesIO(data), **options)
        for row in book["first"].iter_rows():
            [cell.value for cell in row]
        if not options:
            book.save(io.BytesIO())
    stream = Workbook(write_only=True)
    page = stream.create_sheet()
    for n in range(150):
        page.append([n, "x", 1.5])
    stream.save(io.BytesIO())
