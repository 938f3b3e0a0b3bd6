/** The background of the terminal. */
export type Background = 'dark' | 'light';

/**
 * Reads the background from `COLORFGBG`, which many terminals set: `15;0`, `0;15`, `0;default;15`. The last number is one of the 16
 * colours. Dark unless it is known to be light.
 */
export function backgroundOf(env: Readonly<Record<string, string | undefined>>): Background {
  const [, colour] = /;(\d+)$/.exec(env['COLORFGBG'] ?? '') ?? [];
  return colour !== undefined && LIGHT.has(Number(colour)) ? 'light' : 'dark';
}

/** White, and the bright colours except bright black. */
const LIGHT: ReadonlySet<number> = new Set([7, 9, 10, 11, 12, 13, 14, 15]);
