import * as z from 'zod/mini';
import { validate } from '../../protocol/validate.js';
import type { SegmentKind } from './kind.js';
import { malformed } from './malformed.js';

const Content = z.object({ data: z.string(), mediaType: z.string() });

/** An image: known, so that it is told apart from a type that nobody knows. */
export const imageKind: SegmentKind = {
  type: 'image',
  read(content) {
    const checked = validate(Content, content);
    if (!checked.ok) return malformed('image', ...checked.faults);
    return { ok: false, reason: 'an image cannot be drawn in a terminal' };
  },
};
