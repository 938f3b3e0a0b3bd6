import type { Line } from '../../story/line.js';
import { say } from '../../story/spans.js';
import type { Typed } from './step.js';
import { typedLine } from './text-window.js';

/** A line that is typed, with its cursor; of a long one, what is around the cursor. @param label ours, before it */
export function promptLine(label: string, typed: Typed, columns: number): Line {
  return [say(label, 'title'), ...typedLine(typed, Math.max(4, columns - label.length))];
}
