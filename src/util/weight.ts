/** Number of characters that count as one value. */
const CHARACTERS = 64;

/** The size of a JSON value: one per value, and one per 64 characters. Stops counting beyond `max`. */
export function weightOf(value: unknown, max: number): number {
  const waiting: unknown[] = [value];
  let weight = 0;
  while (waiting.length > 0 && weight <= max) {
    const next = waiting.pop();
    weight++;
    if (typeof next === 'string') weight += Math.floor(next.length / CHARACTERS);
    if (typeof next !== 'object' || next === null) continue;
    const parts = Array.isArray(next) ? next : Object.values(next);
    if (weight + parts.length > max) return weight + parts.length;
    for (const part of parts) waiting.push(part);
  }
  return weight;
}
