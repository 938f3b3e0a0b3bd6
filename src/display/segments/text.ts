import * as z from 'zod';
import type { SegmentKind } from './kind.js';
import { malformed } from './malformed.js';

const Content = z.string();

/** Plain text (seed 000, "Segment Type: text"). */
export const textKind: SegmentKind = {
  type: 'text',
  read(content) {
    const { success, data, error } = Content.safeParse(content);
    return success ? { ok: true, drawing: { kind: 'text', text: data } } : malformed('text', error);
  },
};
