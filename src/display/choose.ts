import type { Warning } from '../protocol/requirements.js';
import { excerpt } from '../text/excerpt.js';
import { lint, type ReadSegment } from './lint.js';
import type { Segment } from './segment.js';
import { segmentKinds } from './segments/index.js';
import type { Drawing, Reading } from './segments/kind.js';

export type { Drawing } from './segments/kind.js';

/** A segment that stood before the shown one. */
export interface Skipped {
  readonly index: number;
  readonly type: string;
  readonly reason: string;
}

export interface Chosen {
  readonly index: number;
  readonly type: string;
  readonly drawing: Drawing;
  /** Why this one. */
  readonly reason: string;
}

interface Seen {
  readonly skipped: readonly Skipped[];
  readonly warnings: readonly Warning[];
}

/** What the human sees; with `chosen: null` that is the result's `text`, and `reason` says why. */
export type Choice = Seen &
  ({ readonly chosen: Chosen } | { readonly chosen: null; readonly reason: string });

/**
 * Chooses the first segment whose type is supported and whose content is well formed; array order alone decides (RT-DISPLAY).
 * @param supports the segment types that this client claims to draw
 */
export function chooseSegment(
  segments: readonly Segment[] | undefined,
  supports: ReadonlySet<string>,
): Choice {
  if (!segments) return { chosen: null, reason: 'no display_as', skipped: [], warnings: [] };
  if (segments.length === 0)
    return { chosen: null, reason: 'display_as is empty', skipped: [], warnings: [] };
  const read = segments.map(readSegment);
  const skipped: Skipped[] = [];
  const seen = { skipped, warnings: lint(read) };
  for (const [index, { type, reading }] of read.entries()) {
    const offer = supports.has(type) ? reading : unsupported(type, reading, supports);
    if (offer.ok) return { chosen: { index, type, drawing: offer.drawing, reason: why(index) }, ...seen };
    skipped.push({ index, type, reason: offer.reason });
  }
  return { chosen: null, reason: 'no segment of display_as can be shown', ...seen };
}

function readSegment(segment: Segment): ReadSegment {
  const kind = segmentKinds.find(({ type }) => type === segment.type);
  return { ...segment, reading: kind?.read(segment.content) ?? unknown(segment.type) };
}

function unsupported(type: string, reading: Reading, supports: ReadonlySet<string>): Reading {
  if (!segmentKinds.some(kind => kind.type === type)) return unknown(type);
  if (type === 'image') return reading.ok ? NO_IMAGES : reading;
  const list = [...supports].join(',');
  return { ok: false, reason: `not supported by this client (--supports ${list})` };
}

const NO_IMAGES: Reading = { ok: false, reason: 'an image cannot be drawn in a terminal' };

function unknown(type: string): Reading {
  return { ok: false, reason: `the type ${excerpt(type)} is not known here` };
}

function why(index: number): string {
  return index === 0 ? 'the first segment' : 'the first that can be shown';
}
