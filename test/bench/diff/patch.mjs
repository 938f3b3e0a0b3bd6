const ROWS = 50;
/** Lines between two hunks. */
const APART = 100;

/** A diff of about so many lines: hunks of 50 rows of code, of which every tenth was changed. */
export function patchOf(lines) {
  const hunks = Array.from({ length: Math.ceil(lines / (1.1 * ROWS)) }, (_, index) =>
    hunk(1 + index * (ROWS + APART)),
  );
  return `--- a/src/totals.ts\n+++ b/src/totals.ts\n${hunks.join('')}`;
}

function hunk(start) {
  const rows = Array.from({ length: ROWS }, (_, index) => row(start + index));
  return `@@ -${start},${ROWS} +${start},${ROWS} @@ function total${start}()\n${rows.join('')}`;
}

function row(number) {
  const code = word => `  const value${number} = compute(${number}, "${word} text");\n`;
  return number % 10 === 0 ? `-${code('old')}+${code('new')}` : ` ${code('same')}`;
}
