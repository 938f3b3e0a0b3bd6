import * as z from 'zod';
import { parsePatch } from '../diff/parse.js';
import type { SegmentKind } from './kind.js';
import { malformed } from './malformed.js';

const Content = z.object({ path: z.string(), patch: z.string() });

/** More wrong headers than this are only counted. */
const NAMED = 3;

/** A unified diff (seed 000, "Segment Type: diff"). */
export const diffKind: SegmentKind = {
  type: 'diff',
  read(content) {
    const { success, data, error } = Content.safeParse(content);
    if (!success) return malformed('diff', error);
    const parsed = parsePatch(data.patch, data.path);
    if (!parsed.ok) return malformed('diff', parsed.reason);
    const drawing = { kind: 'diff', path: data.path, diff: parsed.diff, raw: data.patch } as const;
    if (parsed.recounted.length === 0) return { ok: true, drawing };
    return { ok: true, drawing, complaint: `wrong line counts, recounted: ${shortList(parsed.recounted)}` };
  },
};

function shortList(items: readonly string[]): string {
  const rest = items.length - NAMED;
  return [...items.slice(0, NAMED), ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}
