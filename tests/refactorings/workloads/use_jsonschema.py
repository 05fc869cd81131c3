"""Values held against schemas of several drafts, with references, formats and errors."""
import jsonschema

schema = {
    "$schema": "http://json-schema.org/draft-07/schema#", "definitions": {
        "name": {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^[a-z]+$"},
        "node": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/definitions/node"}},
                                                  "name": {"$ref": "#/definitions/name"}}, "required": ["name"]}},
    "type": "object", "properties": {
        "tree": {"$ref": "#/definitions/node"}, "number": {"anyOf": [{"minimum": 3}, {"const": 1}], "multipleOf": 1},
        "kind": {"enum": ["a", "b"]}, "pair": {"items": [{"type": "string"}, {"type": "number"}], "additionalItems": False},
        "set": {"uniqueItems": True, "minItems": 1, "contains": {"type": "integer"}},
        "mail": {"format": "email"}, "day": {"format": "date"}},
    "patternProperties": {"^x-": {"not": {"type": "null"}}}, "additionalProperties": False,
    "dependencies": {"kind": ["tree"]}, "if": {"required": ["set"]}, "then": {"required": ["kind"]},
    "oneOf": [{"required": ["tree"]}, {"required": ["nothing"]}], "allOf": [{"minProperties": 1}],
    "propertyNames": {"maxLength": 20}}
good = {"tree": {"name": "a", "children": [{"name": "b", "children": []}, {"name": "c"}]}, "number": 4, "kind": "a",
        "pair": ["x", 2], "set": [1, 2], "mail": "a@b", "day": "2020-01-01", "x-a": 1}
bad = {"tree": {"children": [{"name": "B"}, {"name": 3}]}, "number": 0.5, "kind": "z", "pair": [1, "x", 3], "set": [1, 1],
       "mail": "no", "day": "no", "x-a": None, "other": 1, "x" * 30: 2}
for draft in (jsonschema.Draft4Validator, jsonschema.Draft6Validator, jsonschema.Draft7Validator):
    draft.check_schema(schema)
    for _ in range(12):
        validator = draft(schema, format_checker=jsonschema.FormatChecker())
        validator.validate(good), validator.is_valid(bad)
        errors = sorted(validator.iter_errors(bad), key=lambda e: str(e.path))
        jsonschema.exceptions.best_match(errors), [str(e) for e in errors[:4]]
        tree = jsonschema.ErrorTree(errors)
        tree.total_errors, list(tree)
        jsonschema.exceptions.relevance(errors[0])
try:
    jsonschema.validate(bad, schema)
except jsonschema.ValidationError as e:
    str(e)
