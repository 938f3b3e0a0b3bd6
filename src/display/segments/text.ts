import * as z from 'zod/mini';
import { validate } from '../../protocol/validate.js';
import type { SegmentKind } from './kind.js';
import { malformed } from './malformed.js';

const Content = z.string();

/** Plain text (seed 000, "Segment Type: text"). */
export const textKind: SegmentKind = {
  type: 'text',
  read(content) {
    const checked = validate(Content, content);
    if (!checked.ok) return malformed('text', ...checked.faults);
    return { ok: true, drawing: { kind: 'text', text: checked.value } };
  },
};
