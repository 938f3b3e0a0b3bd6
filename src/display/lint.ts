import type { Warning } from '../protocol/requirements.js';
import { excerpt } from '../text/excerpt.js';
import type { Segment } from './segment.js';
import type { Reading } from './segments/kind.js';

export interface ReadSegment extends Segment {
  readonly reading: Reading;
}

/** What the author of a `display_as` should know, whichever of its segments is shown. */
export function lint(segments: readonly ReadSegment[]): Warning[] {
  return [...segments.flatMap(diffFault), ...shadowedDiff(segments), ...missingFallback(segments)];
}

function diffFault({ type, reading }: ReadSegment, index: number): Warning[] {
  const fault = reading.ok ? reading.complaint : reading.reason;
  if (type !== 'diff' || fault === undefined) return [];
  return [{ id: 'TOOL-DIFF', message: `display_as[${index}]: ${fault}` }];
}

function shadowedDiff(segments: readonly Segment[]): Warning[] {
  const text = segments.findIndex(({ type }) => type === 'text');
  const diff = segments.findLastIndex(({ type }) => type === 'diff');
  if (text < 0 || diff < text) return [];
  return [
    {
      message: `display_as[${text}] is a "text" before the "diff" at [${diff}]: order alone decides, so the diff is never shown; hardly meant`,
    },
  ];
}

function missingFallback(segments: readonly Segment[]): Warning[] {
  const last = segments.at(-1);
  const fault = last && fallbackFault(last);
  return fault
    ? [{ id: 'TOOL-FALLBACK', message: `display_as should end with a one-line "text"; its last ${fault}` }]
    : [];
}

function fallbackFault({ type, content }: Segment): string | undefined {
  if (type !== 'text') return `is ${excerpt(type)}`;
  if (typeof content !== 'string') return undefined;
  return content.trimEnd().includes('\n') ? 'has several lines' : undefined;
}
