import { formatDuration } from '../text/format-duration.js';
import type { Line, Span } from './line.js';
import { say } from './spans.js';
import type { Step } from './steps/index.js';

const MARKS: Readonly<Record<Step['state'], Span>> = {
  done: say('✓', 'good'),
  failed: say('✗', 'bad'),
  note: say('•', 'warn'),
  running: say('…', 'running'),
};

/** A step with its mark, on as many lines as it has. */
export function stepLines({ state, line, lines = [line] }: Step): readonly Line[] {
  return lines.map((each, index) => (index === 0 ? [MARKS[state], say(' '), ...each] : [say('  '), ...each]));
}

/** A step with its mark; where it is running, with the time it has run until `now` (ms since the start). */
export function stepLine(step: Step, now?: number): Line {
  const running =
    step.state === 'running' && now !== undefined
      ? [say(` ${formatDuration(Math.max(0, now - step.at))}`, 'dim')]
      : [];
  return [MARKS[step.state], say(' '), ...step.line, ...running];
}
