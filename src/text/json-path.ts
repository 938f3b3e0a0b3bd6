/** `$.tools[0].name`; a key that is no identifier is quoted: `$["x-y"]`. */
export function jsonPath(path: readonly PropertyKey[]): string {
  return `$${path.map(step).join('')}`;
}

/** A JSON Pointer (RFC 6901) as the same notation. */
export function pointerToPath(pointer: string): string {
  const steps = pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return jsonPath(steps.map(part => (/^\d+$/.test(part) ? Number(part) : part)));
}

function step(key: PropertyKey): string {
  if (typeof key === 'number') return `[${key}]`;
  const name = String(key);
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
