/** The fields of a message, as they came. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of what a body says; none where it is not an object. */
export function fieldsIn(body: string): Fields {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
