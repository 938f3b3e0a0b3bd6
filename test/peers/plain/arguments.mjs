const TYPES = {
  string: value => typeof value === 'string',
  integer: value => Number.isInteger(value),
};

/** What is wrong with the arguments, or null: the part of JSON Schema that this tool's own schemas use. */
export function argumentFault({ properties = {}, required = [] }, args) {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return 'arguments must be an object';
  const missing = required.find(name => !Object.hasOwn(args, name));
  if (missing) return `argument "${missing}" is required`;
  for (const [name, value] of Object.entries(args)) {
    const fault = Object.hasOwn(properties, name) ? valueFault(properties[name], value) : 'is not known';
    if (fault) return `argument "${name}" ${fault}`;
  }
  return null;
}

function valueFault(schema, value) {
  if (!TYPES[schema.type](value)) return `must be of type ${schema.type}`;
  if (schema.enum && !schema.enum.includes(value)) return `must be one of ${schema.enum.join(', ')}`;
  if (value < schema.minimum) return `must be at least ${schema.minimum}`;
  if (value > schema.maximum) return `must be at most ${schema.maximum}`;
  return null;
}
