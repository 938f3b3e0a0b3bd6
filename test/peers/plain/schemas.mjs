export function schema(properties, required = []) {
  return { type: 'object', properties, required, additionalProperties: false };
}

export function integer(minimum, maximum) {
  return { type: 'integer', minimum, maximum };
}

export function oneOf(...values) {
  return { type: 'string', enum: values };
}
