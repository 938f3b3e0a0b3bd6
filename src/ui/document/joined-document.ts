import { offsetsOf } from '../../text/offsets.js';
import type { Document, Landmark } from './document.js';
import { findAcross } from './find-across.js';

/** Documents one below the other. */
export function joinedDocument(parts: readonly Document[]): Document {
  const offsets = offsetsOf(parts.map(({ length }) => length));
  const beginning = (kind: Landmark) =>
    parts.flatMap((part, which) =>
      Array.from(part.landmarks(kind), line => line + (offsets.starts[which] ?? 0)),
    );
  const landmarks = { hunk: beginning('hunk'), file: beginning('file') };
  return {
    length: offsets.total,
    line(index) {
      const { which, at } = offsets.locate(index);
      return parts[which]?.line(at) ?? [];
    },
    headersAt(index) {
      const { which, at } = offsets.locate(index);
      return parts[which]?.headersAt(at) ?? [];
    },
    find: (wanted, from, step) =>
      findAcross(offsets, from, step, (which, at) => parts[which]?.find(wanted, at, step) ?? null),
    landmarks: kind => landmarks[kind],
    isFoldable: () => parts.some(part => part.isFoldable()),
    anchorAt(line) {
      const { which, at } = offsets.locate(line);
      return [which, ...(parts[which]?.anchorAt(at) ?? [])];
    },
    lineAt: ([which = 0, ...rest]) => (offsets.starts[which] ?? 0) + (parts[which]?.lineAt(rest) ?? 0),
  };
}
