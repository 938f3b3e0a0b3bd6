import { formatDuration } from '../text/format-duration.js';
import type { Line } from './line.js';
import { quote, say } from './spans.js';

/** A notice that went out: where to, with which body, and how it was answered. */
export interface ToldNotice {
  readonly url: string;
  readonly message: object;
  /** Null where there was no answer; `said` is then why. */
  readonly status: number | null;
  /** What the answer said. */
  readonly said: string;
  readonly ms: number;
}

/** One notice on one line, as a debugger wants it: what was sent, what came back, and when. */
export function noticeLine({ url, message, status, said, ms }: ToldNotice): Line {
  const mark = status === 200 ? say('✓ ', 'good') : say('✗ ', 'bad');
  const sent = [...quote(url, 'title'), say(' '), ...quote(JSON.stringify(message), 'dim')];
  const took = say(` after ${formatDuration(ms)}`, 'dim');
  return [mark, ...sent, say(answerOf(status)), took, ...(said === '' ? [] : [say(': '), ...quote(said)])];
}

function answerOf(status: number | null): string {
  if (status === null) return ' not answered';
  return status === 200 ? ' answered 200' : ` answered ${status} instead of 200`;
}
