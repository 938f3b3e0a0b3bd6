import type { Exchange } from '../events/exchange.js';
import { formatDuration } from '../util/text.js';
import { clipped, type Line, line, type Mark, say, withMark } from './line.js';

/** One line in the progress of a call; a question has several. */
export interface Step {
  /** Monotonic ms since the start. */
  readonly at: number;
  readonly state: Extract<Mark, 'done' | 'failed' | 'note' | 'running'>;
  readonly lines: readonly Line[];
  /** The id of the request that the step is about, if it is about one. */
  readonly leg?: string;
}

/** What a step says, and whether that is good. */
export interface StepText {
  readonly state: Step['state'];
  readonly words: Line;
}

/** A step with its mark, on all of its lines. */
export function stepLines({ state, lines }: Step): readonly Line[] {
  return lines.map((each, index) => (index === 0 ? withMark(state, each) : [say('  '), ...each]));
}

/** Maximum number of lines that are joined into one. */
const JOINED = 21;

/** A step with its mark on one line; a running step also shows its duration until `now` (ms since the start). */
export function stepLine(step: Step, now?: number): Line {
  const { state, lines, at } = step;
  const isRunning = state === 'running' && now !== undefined;
  const more = lines.length > JOINED && say(`  and ${lines.length - JOINED} more`, 'dim');
  const time = isRunning && say(` ${formatDuration(Math.max(0, now - at))}`, 'dim');
  // A gutter in the middle would indent the rows after it.
  const words = stepLines(step).slice(0, JOINED).flat();
  return line`${words.map(span => (span.tone === 'gutter' ? say(span.text, 'dim') : span))}${more}${time}`;
}

/** Adds the id of the call to a step if there are several calls. */
export function labelledStep(step: Step, exchange: Exchange | undefined, isOfMany: boolean): Step {
  if (!exchange || !isOfMany) return step;
  const [first = [], ...rest] = step.lines;
  const label = [...clipped(exchange.invocation.id, 'dim'), say(': ', 'dim')];
  return { ...step, lines: [[...label, ...first], ...rest] };
}
