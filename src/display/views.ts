import type { View } from '../exchange/thread.js';
import { excerpt } from '../text/excerpt.js';
import { diffKind } from './segments/diff.js';
import type { Reading } from './segments/kind.js';

/** What there is to draw of a view of a thread (RT-VIEW). A `diff` is a segment's `diff`, whose patch names its file itself. */
export function readView({ type, content }: Pick<View, 'type' | 'content'>): Reading {
  if (type === 'diff') return diffKind.read({ path: '', ...content });
  return { ok: false, reason: `the view type ${excerpt(type)} is not known here` };
}
