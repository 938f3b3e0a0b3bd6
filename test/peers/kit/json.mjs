/** The value, or null for what is not JSON. */
export function parsed(raw) {
  try {
    return JSON.parse(raw);
  } catch {
    return null;
  }
}
