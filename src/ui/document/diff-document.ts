import type { Diff } from '../../display/diff/model.js';
import { type Part, partsOf } from '../../story/diff-parts.js';
import { offsetsOf } from '../../text/offsets.js';
import type { Document, Landmark, Look } from './document.js';
import { findAcross } from './find-across.js';

/** A diff of any length: where each of its parts begins is found out once, here. Folded rows are not searched: they are not seen. */
export function diffDocument(diff: Diff, look: Look): Document {
  const parts = [...partsOf(diff, look)];
  const offsets = offsetsOf(parts.map(({ height }) => height));
  const beginning = (kind: Landmark) => offsets.starts.filter((_, which) => parts[which]?.begins === kind);
  const landmarks = { hunk: beginning('hunk'), file: beginning('file') };
  return {
    length: offsets.total,
    line(index) {
      const { which, at } = offsets.locate(index);
      return parts[which]?.line(at) ?? [];
    },
    headersAt(index) {
      const { which } = offsets.locate(index);
      return parts[which]?.under.map(header => header()) ?? [];
    },
    find: (wanted, from, step) =>
      findAcross(offsets, from, step, (which, at) => findIn(parts[which], wanted, at, step)),
    landmarks: kind => landmarks[kind],
    isFoldable: () => heightOf(partsOf(diff, { ...look, isUnfolded: !look.isUnfolded })) !== offsets.total,
    anchorAt(line) {
      const { which, at } = offsets.locate(line);
      return [which, parts[which]?.rowAt(at) ?? 0];
    },
    lineAt: ([which = 0, row = 0]) => (offsets.starts[which] ?? 0) + (parts[which]?.lineOf(row) ?? 0),
  };
}

function heightOf(parts: Iterable<Part>): number {
  let sum = 0;
  for (const { height } of parts) sum += height;
  return sum;
}

function findIn(part: Part | undefined, wanted: RegExp, from: number, step: 1 | -1): number | null {
  const height = part?.height ?? 0;
  for (let at = from; at >= 0 && at < height; at += step)
    if (part?.textsAt(at).some(text => wanted.test(text))) return at;
  return null;
}
