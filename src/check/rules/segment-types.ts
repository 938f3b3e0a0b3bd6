import type { DisplaySegment, ToolResult } from '../../protocol/callbacks.js';
import { valueAt } from '../../util/values.js';

/** The types of segments that the protocol defines, each with a test of its content. */
const SEGMENTS: Readonly<Record<string, (content: unknown) => boolean>> = {
  text: content => typeof content === 'string',
  diff: content => /^@@ /m.test(String(valueAt(content, 'patch'))),
  image: content => typeof valueAt(content, 'data') === 'string',
};

/** Whether the protocol defines this type of segment. */
export function isKnownType({ type }: DisplaySegment): boolean {
  return Object.hasOwn(SEGMENTS, type);
}

/** Whether the content of a segment does not match its type, which is known. */
export function isMalformed({ type, content }: DisplaySegment): boolean {
  return SEGMENTS[type]?.(content) === false;
}

/** Whether a result has a segment that is malformed or of an unknown type. */
export function hasOddSegment({ display_as: segments = [] }: ToolResult): boolean {
  return segments.some(segment => isMalformed(segment) || !isKnownType(segment));
}
