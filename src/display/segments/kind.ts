import type { Diff } from '../diff/model.js';

/** What a terminal is to draw. `raw` is the patch as it came. */
export type Drawing =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'diff'; readonly path: string; readonly diff: Diff; readonly raw: string };

/** What became of one segment's content. `complaint`: it is drawn, but not as the tool wrote it. */
export type Reading =
  | { readonly ok: true; readonly drawing: Drawing; readonly complaint?: string }
  | { readonly ok: false; readonly reason: string };

/** A segment type of the protocol: what its content must be, and how that becomes something to draw. */
export interface SegmentKind {
  readonly type: string;
  read(content: unknown): Reading;
}
