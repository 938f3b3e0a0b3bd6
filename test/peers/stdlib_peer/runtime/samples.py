"""Arguments for any operation: some that fit its schema, and some that do not."""

_SAMPLES = {
    "string": lambda schema: "x" * max(1, schema.get("minLength", 0)),
    "integer": lambda schema: max(1, schema.get("minimum", 1)),
    "number": lambda schema: max(1, schema.get("minimum", 1)),
    "boolean": lambda _: True,
    "null": lambda _: None,
    "array": lambda schema: [sample(schema.get("items", {}))] * schema.get("minItems", 0),
    "object": lambda schema: fitting(schema),
}


def fitting(schema):
    properties = schema.get("properties", {})
    return {name: sample(properties.get(name, {})) for name in schema.get("required", [])}


def sample(schema):
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    return _SAMPLES[kind[0] if isinstance(kind, list) else kind](schema)


def unfitting(schema):
    """A property of the wrong type; where none has a type, no object at all."""
    for name, property_schema in schema.get("properties", {}).items():
        kind = property_schema.get("type") if isinstance(property_schema, dict) else None
        if isinstance(kind, str):
            return {**fitting(schema), name: 7 if kind == "string" else "seven"}
    return ["not", "an", "object"]
