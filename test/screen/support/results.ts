import type { Behaviour } from '../../e2e/support/own-tool.js';

interface Segment {
  readonly type: string;
  readonly content: unknown;
}

/** Segments as tools send them. */
export const display = {
  text: (content: string): Segment => ({ type: 'text', content }),
  diff: (path: string, patch: string): Segment => ({ type: 'diff', content: { path, patch } }),
};

/** An operation that answers every call with this. */
export function resultWith(result: { text: string; display_as?: readonly Segment[] }): Behaviour {
  return {
    callbacks: ({ id, group_id }) => [JSON.stringify({ type: 'tool_result', group_id, id, ...result })],
  };
}
