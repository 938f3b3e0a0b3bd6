import * as z from 'zod/mini';
import { validate } from '../../protocol/validate.js';
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
    const checked = validate(Content, content);
    if (!checked.ok) return malformed('diff', ...checked.faults);
    const { path, patch } = checked.value;
    const parsed = parsePatch(patch, path);
    if (!parsed.ok) return malformed('diff', parsed.reason);
    const drawing = { kind: 'diff', path, diff: parsed.diff, raw: patch } as const;
    if (parsed.recounted.length === 0) return { ok: true, drawing };
    return { ok: true, drawing, complaint: `wrong line counts, recounted: ${shortList(parsed.recounted)}` };
  },
};

function shortList(items: readonly string[]): string {
  const rest = items.length - NAMED;
  return [...items.slice(0, NAMED), ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}
