import { halvesOf, type Line, partsOfHalf } from '../../render/line.js';
import type { Highlighter } from '../../render/syntax.js';

/** A long text to read on the screen; its lines are created lazily. Lines may be added at its end; a line never changes. */
export interface Document {
  readonly length: number;
  line(index: number): Line;
  /** The headers above a line (file, hunk), repeated at the top of the screen once they have scrolled out. */
  headersAt(index: number): readonly Line[];
  /**
   * The nearest line from `from` on in this direction whose text (without gutter and headings) matches; null without a match.
   * @param wanted tested on many lines at once, so it must not match a line feed
   */
  find(wanted: RegExp, from: number, step: 1 | -1): number | null;
  /** The lines where a hunk or a file begins, ascending. */
  landmarks(kind: 'hunk' | 'file'): ArrayLike<number>;
  /** Whether folding or unfolding would change the document. */
  isFoldable(): boolean;
  anchorAt(line: number): Anchor;
  /** The line of an anchor, or the fold that hides it. */
  lineAt(anchor: Anchor): number;
}

/** A position in a document that does not depend on the look: the index of a part, then the position in that part. */
export type Anchor = readonly number[];

/** How a document is drawn. */
export interface Look {
  readonly isSplit: boolean;
  readonly isUnfolded: boolean;
  /** Without a highlighter, code has no colours. */
  readonly highlighter: Highlighter | null;
}

/** A document without headers, landmarks and folds that does not depend on the look. */
export function simpleDocument(own: Pick<Document, 'length' | 'line' | 'find'>): Document {
  return {
    ...own,
    headersAt: () => [],
    landmarks: () => [],
    isFoldable: () => false,
    anchorAt: line => [line],
    lineAt: ([line = 0]) => Math.max(0, Math.min(line, own.length - 1)),
  };
}

export function linesDocument(lines: readonly Line[]): Document {
  const textOf = (line: Line) =>
    halvesOf(line)
      .halves.map(half => searchable(partsOfHalf(half).body))
      .join('\n');
  return simpleDocument({
    length: lines.length,
    line: index => lines[index] ?? [],
    find: (wanted, from, step) =>
      findLine(lines.length, from, step, index => wanted.test(textOf(lines[index] ?? []))),
  });
}

/** The nearest line from `from` on in this direction that matches; null without a match. */
export function findLine(
  length: number,
  from: number,
  step: 1 | -1,
  matches: (line: number) => boolean,
): number | null {
  for (let line = from; line >= 0 && line < length; line += step) if (matches(line)) return line;
  return null;
}

/** The text of a line for a search: line feeds replace the pictures of hidden characters, so that offsets stay the same. */
export function searchable(body: Line): string {
  return body.map(({ text, tone }) => (tone === 'hidden' ? '\n'.repeat(text.length) : text)).join('');
}
