/** The dark window of a picture. */
export const WINDOW = {
  background: '#161b22',
  bar: '#1f262e',
  border: '#3d444d',
  title: '#8b949e',
  dots: ['#ff5f57', '#febc2e', '#28c840'],
} as const;

export const INK = { plain: '#d1d7e0', bold: '#ffffff', dim: '#8b949e' } as const;

const SIXTEEN = [
  '#484f58',
  '#ff7b72',
  '#57d36c',
  '#e3b341',
  '#79c0ff',
  '#d2a8ff',
  '#4cc9e0',
  '#d1d7e0',
  '#6e7681',
  '#ffa198',
  '#7ee787',
  '#f2cc60',
  '#a5d6ff',
  '#e2c5ff',
  '#76e3ea',
  '#ffffff',
];
const LEVELS = [0, 95, 135, 175, 215, 255];
const FIRST_GREY = 232;

/** A colour of the 256 as CSS has it: the 16, the cube of 6 × 6 × 6, the 24 greys. */
export function colourOf(number: number): string {
  const named = SIXTEEN[number];
  if (named !== undefined) return named;
  if (number >= FIRST_GREY) return hex(...Array<number>(3).fill(8 + 10 * (number - FIRST_GREY)));
  const place = number - SIXTEEN.length;
  return hex(
    ...[Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map(step => LEVELS[step] ?? 0),
  );
}

function hex(...parts: readonly number[]): string {
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`;
}
