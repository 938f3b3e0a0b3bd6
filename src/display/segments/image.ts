import * as z from 'zod';
import type { SegmentKind } from './kind.js';
import { malformed } from './malformed.js';

const Content = z.object({ data: z.string(), mediaType: z.string() });

/** An image: known, so that it is told apart from a type that nobody knows. */
export const imageKind: SegmentKind = {
  type: 'image',
  read(content) {
    const { success, error } = Content.safeParse(content);
    if (!success) return malformed('image', error);
    return { ok: false, reason: 'an image cannot be drawn in a terminal' };
  },
};
