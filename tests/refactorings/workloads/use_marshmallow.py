"""Objects dumped, loaded and refused by schemas with nested and computed fields."""
import datetime
import marshmallow
from marshmallow import Schema, fields, post_load, pre_load, validate, validates, validates_schema, ValidationError

new = marshmallow.__version__ >= "3"
key = "data_key" if new else "load_from"
both = {} if new else {"dump_to": "theMail"}


class Author(Schema):
    name = fields.Str(required=True, validate=validate.Length(min=1, max=30))
    mail = fields.Email(**{key: "theMail"}, **both)
    born = fields.Date()
    site = fields.Url()

    @pre_load
    def strip(self, data, **kwargs):
        return {k: x.strip() if isinstance(x, str) else x for k, x in data.items()}


class Book(Schema):
    title = fields.String(required=True)
    pages = fields.Integer(validate=validate.Range(min=1))
    price = fields.Decimal(places=2, as_string=True)
    when = fields.DateTime()
    kind = fields.Str(validate=validate.OneOf(["a", "b"]))
    author = fields.Nested(Author)
    others = fields.Nested(Author, many=True, only=("name",))
    tags = fields.List(fields.Str())
    long = fields.Method("is_long")
    double = fields.Function(lambda book: book["pages"] * 2)
    flag = fields.Boolean()
    uid = fields.UUID()

    def is_long(self, book):
        return book["pages"] > 100

    @validates("pages")
    def even(self, value, **kwargs):
        if value % 2:
            raise ValidationError("odd")

    @validates_schema
    def all_of_it(self, data, **kwargs):
        if data.get("title") == "bad":
            raise ValidationError("bad", "title")

    @post_load
    def make(self, data, **kwargs):
        return dict(data)


author = {"name": "n", "mail": "a@b.de", "born": datetime.date(2000, 1, 2), "site": "http://a.de/x"}
book = {"title": "t", "pages": 120, "price": "3.5", "when": datetime.datetime(2020, 1, 1), "kind": "a", "author": author,
        "others": [author] * 3, "tags": ["x", "y"], "flag": True, "uid": "12345678123456781234567812345678"}
for _ in range(60):
    schema = Book()
    done = schema.dump(book)
    done = done if new else done.data
    done = {k: x for k, x in done.items() if k not in ("long", "double")}
    schema.load(done), schema.validate({"pages": 3, "kind": "z", "author": {"mail": "no", "site": "no", "born": "no"}})
    Book(many=True, only=("title", "author.name")).dump([book] * 4), Author(partial=True).load({"theMail": "q@r.de"})
    try:
        schema.load({"title": "bad", "pages": 2, "when": "yesterday", "tags": [1], "others": [{}], "uid": "q"})
    except ValidationError as e:
        e.messages
