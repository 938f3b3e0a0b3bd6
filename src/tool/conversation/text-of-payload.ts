/** The text that a payload is wrapped into: a string as it is, other JSON compact (seed 003). @throws TypeError for what is no JSON. */
export function textOfPayload(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
}
