const MIB = 1024 * 1024;

export function ratioTable(rows) {
  return table(
    ['what', 'against', 'ratio', 'ms', 'target', ''],
    rows.map(({ what, against, ratio, ourMs, theirMs, target, isMet }) => [
      what,
      against,
      range(ratio, 2),
      `${ourMs.median.toFixed(0)} : ${theirMs.median.toFixed(0)}`,
      `≤ ${target.toFixed(2)}`,
      mark(isMet),
    ]),
  );
}

export function memoryTable(rows) {
  return table(
    ['text', 'peak memory', 'target (6n + 150 MB)', ''],
    rows.map(({ kind, bytes, peak, limit, isMet }) => [
      `${(bytes / MIB).toFixed(0)} MiB, ${kind}`,
      megabytes(peak),
      `≤ ${megabytes(limit)}`,
      mark(isMet),
    ]),
  );
}

export function stormTable(rows) {
  return table(
    ['workbench', 'figure', 'target', ''],
    rows.map(({ what, figure, target, isMet }) => [what, figure, target, isMet === null ? '' : mark(isMet)]),
  );
}

/** What has no target is the price of something. */
export function mockTable(rows) {
  return table(
    ['`mock-tool`', 'ratio', 'it : a bare server', 'target', ''],
    rows.map(({ what, ratio, figures, target, isMet }) => [
      what,
      ratio ? range(ratio, 2) : '',
      figures,
      target ?? '',
      isMet === null ? '' : mark(isMet),
    ]),
  );
}

function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows];
  return `${lines.map(cells => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}

function range({ median, min, max }, digits) {
  const [middle, low, high] = [median, min, max].map(value => value.toFixed(digits));
  return `**${middle}** (${low}–${high})`;
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

function mark(isMet) {
  return isMet ? '✓' : '✗';
}
