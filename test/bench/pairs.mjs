const WARM_UPS = 2;

/** Theirs, ours, theirs, ours, …: what the machine does besides hits both alike. */
export async function inPairs({ ours, theirs }, count) {
  const pairs = [];
  for (let index = -WARM_UPS; index < count; index++) {
    const theirMs = await theirs();
    const ourMs = await ours();
    if (index >= 0) pairs.push({ theirMs, ourMs });
  }
  return {
    ratio: spread(pairs.map(({ theirMs, ourMs }) => ourMs / theirMs)),
    ourMs: spread(pairs.map(({ ourMs }) => ourMs)),
    theirMs: spread(pairs.map(({ theirMs }) => theirMs)),
  };
}

export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
  return { median, min: sorted[0], max: sorted.at(-1) };
}
