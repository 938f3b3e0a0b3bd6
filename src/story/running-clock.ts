import { formatDuration } from '../text/format-duration.js';
import type { Span } from './line.js';
import { say } from './spans.js';

/** For how long something goes on, as wide however short that is to write: columns stand still. */
export function runningClock(milliseconds: number): Span {
  const step = STEPS.find(({ below }) => milliseconds < below)?.step ?? MINUTE;
  const shown = Math.max(0, Math.floor(milliseconds / step) * step);
  return say(` ${formatDuration(shown).padEnd(WIDTH)}`, 'dim');
}

const MINUTE = 60_000;
const STEPS = [
  { below: MINUTE, step: 100 },
  { below: 60 * MINUTE, step: 1_000 },
];
/** Cells of `59m 59s`. */
const WIDTH = 7;
