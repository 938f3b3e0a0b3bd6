import { type Part, partsOf } from '../../render/diff.js';
import type { Diff } from '../../segments/diff.js';
import { type Document, findLine, type Look } from './document.js';
import { joinedDocument } from './joined-document.js';

export function diffDocument(diff: Diff, look: Look): Document {
  const parts = [...partsOf(diff, look)];
  return joinedDocument(parts.map(partDocument), () => {
    const others = [...partsOf(diff, { ...look, isUnfolded: !look.isUnfolded })];
    return heightOf(others) !== heightOf(parts);
  });
}

function heightOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { height }) => sum + height, 0);
}

function partDocument(part: Part): Document {
  return {
    length: part.height,
    line: at => part.line(at),
    headersAt: () => part.under.map(header => header()),
    find: (wanted, from, step) =>
      findLine(part.height, from, step, at => part.textsAt(at).some(text => wanted.test(text))),
    landmarks: kind => (part.begins === kind ? [0] : []),
    isFoldable: () => false,
    anchorAt: at => [part.rowAt(at)],
    lineAt: ([row = 0]) => part.lineOf(row),
  };
}
