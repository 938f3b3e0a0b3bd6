import prettyMs from 'pretty-ms';

/** `3ms`, `1.2s`, `5m 3s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 10) return `${round(milliseconds, 1)}ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)}ms`;
  return prettyMs(Math.max(milliseconds, 1000), { keepDecimalsOnWholeSeconds: false });
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
