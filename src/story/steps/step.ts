import { formatDuration } from '../../text/format-duration.js';
import type { Line, Span } from '../line.js';
import { say } from '../spans.js';

/** One line of the story so far. */
export interface Step {
  /** Stable: a step with the same key is the same step, told further. */
  readonly key: string;
  /** Monotonic ms since the start. */
  readonly at: number;
  readonly state: 'done' | 'failed' | 'note' | 'running';
  readonly line: Line;
  /** The same on several lines, for where there is room. */
  readonly lines?: readonly Line[];
}

export function step(key: string, at: number, state: Step['state'], ...line: Line): Step {
  return { key, at, state, line };
}

export function after(milliseconds: number): Span {
  return say(` after ${formatDuration(milliseconds)}`, 'dim');
}

export function within(milliseconds: number): Span {
  return say(` in ${formatDuration(milliseconds)}`, 'dim');
}
