import * as z from 'zod/mini';
import { itemText } from '../../protocol/llm-text.js';
import { validate } from '../../protocol/validate.js';
import type { SegmentKind } from './kind.js';
import { malformed } from './malformed.js';

const Content = z.object({ data: z.string(), mediaType: z.string() });

/** An image. A terminal shows a placeholder, and only where the client that is emulated draws images. */
export const imageKind: SegmentKind = {
  type: 'image',
  read(content) {
    const checked = validate(Content, content);
    if (!checked.ok) return malformed('image', ...checked.faults);
    return { ok: true, drawing: { kind: 'text', text: itemText({ type: 'image', ...checked.value }) } };
  },
};
