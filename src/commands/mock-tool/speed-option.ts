import { InvalidArgumentError } from 'commander';

/** Slower than this nobody waits for. */
const SLOWEST = 0.001;

export function speed(text: string): number {
  const number = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (number === 0 || number >= SLOWEST) return number;
  throw new InvalidArgumentError('A speed is a number such as 2 or 0.5; 0 is at once.');
}
