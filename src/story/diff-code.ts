import type { RowKind } from '../display/diff/model.js';
import type { Mark } from '../display/diff/words.js';
import type { Role, Token } from '../display/syntax/token.js';
import { visibleRuns } from '../text/visible.js';
import type { Ground, Line, Span } from './line.js';

/** A row's text, and what is known of its pieces; where nothing is known, there are none. */
export interface Code {
  readonly text: string;
  readonly kind: RowKind;
  readonly marks: readonly Mark[];
  readonly tokens: readonly Token[];
}

interface Piece {
  readonly text: string;
  readonly isChanged: boolean;
  readonly role: Role | null;
}

/** Marks, tokens and hidden characters cut the same text independently; a hidden one keeps its own tone. */
export function codeSpans(code: Code): Line {
  const spans: Span[] = [];
  let column = 0;
  for (const { text: piece, isChanged, role } of piecesOf(code))
    for (const { text, hidden } of visibleRuns(piece, column)) {
      const tone = hidden ? 'hidden' : (role ?? 'plain');
      spans.push({ text, tone, ...groundOf(code.kind, isChanged) });
      column += text.length;
    }
  return spans.length > 0 ? spans : [{ text: '', tone: 'plain', ...groundOf(code.kind, false) }];
}

function groundOf(kind: RowKind, isChanged: boolean): { readonly ground?: Ground } {
  if (kind === 'context') return {};
  return { ground: isChanged ? `${kind}-word` : kind };
}

function* piecesOf({ text, marks, tokens }: Code): Generator<Piece> {
  const markAt = following(marks);
  const tokenAt = following(tokens);
  for (let at = 0; at < text.length; ) {
    const [mark, token] = [markAt(at), tokenAt(at)];
    const end = wholeCharacters(text, Math.min(mark.end, token.end, text.length));
    yield {
      text: text.slice(at, end),
      isChanged: mark.piece?.changed ?? false,
      role: token.piece?.role ?? null,
    };
    at = end;
  }
}

/** Of pieces one after the other, the one at an offset, and where it ends; asked with growing offsets. */
function following<T extends { readonly text: string }>(pieces: readonly T[]) {
  let index = -1;
  let end = 0;
  return (at: number): { readonly piece: T | undefined; readonly end: number } => {
    while (end <= at) end += pieces[++index]?.text.length ?? Number.POSITIVE_INFINITY;
    return { piece: pieces[index], end };
  };
}

/** A grammar may cut between the two halves of a character; no half can be shown. */
function wholeCharacters(text: string, end: number): number {
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end;
}
