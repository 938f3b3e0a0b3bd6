/** Milliseconds, without the noise that subtracting decimals makes. */
export function since(at: number, start: number): number {
  return Math.round((at - start) * 1_000) / 1_000;
}
