import type { ToolCall } from '../../exchange/tool-call.js';
import type { Line, Span } from '../line.js';
import { say } from '../spans.js';
import { answeredBy } from './answered-by.js';
import { operationOf } from './call-name.js';
import { callState } from './call-state.js';
import { clipped } from './clip.js';
import { elapsed } from './elapsed.js';

/** One call in a list, cell by cell. */
export interface CallRow {
  readonly mark: Span;
  readonly cells: Readonly<Record<CallColumn, Line>>;
  readonly isRunning: boolean;
}

export type CallColumn = 'time' | 'operation' | 'id' | 'thread' | 'answeredBy' | 'state';

/**
 * @param now ms since the start
 * @param isPaused deliveries are held back
 */
export function callRow(call: ToolCall, now: number, isSelected = false, isPaused = false): CallRow {
  const { id = '', group_id = '' } = call.addressee ?? {};
  const { mark, line, isRunning } = callState(call, now, isPaused);
  return {
    mark,
    isRunning,
    cells: {
      time: [say(elapsed(call.receivedAt).padStart(7), 'dim')],
      operation: operationOf(call, isSelected ? 'title' : 'plain'),
      id: clipped(id, 'dim'),
      thread: clipped(group_id, 'dim'),
      answeredBy: answeredBy(call),
      state: line,
    },
  };
}
