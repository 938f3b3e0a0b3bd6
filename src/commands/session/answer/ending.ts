import type { Warning } from '../../../protocol/requirements.js';
import type { Trouble } from '../../../reporters/reporter.js';
import type { SessionEnd } from '../../../session/answering/answering.js';
import { cut } from '../../../text/cut.js';
import { formatDuration } from '../../../text/format-duration.js';
import { visibleLine } from '../../../text/visible.js';
import { isWildcard } from '../../../transport/server.js';
import type { AnswerPlan } from './plan.js';

const WELL: ReadonlySet<string> = new Set(['completed', 'idle']);
const LONGEST = 500;

/** What is wrong with how a session ended; null where it is well: an idle one waits for a message. */
export function troubleOf({ id, status, isSettled, error }: SessionEnd, waitMs: number): Trouble | null {
  if (!isSettled)
    return {
      code: 'timeout',
      message: `nothing new from the session ${visibleLine(id)} within ${formatDuration(waitMs)}: it is ${visibleLine(status)}`,
      hint: '--wait gives it more time; without it, it is waited for for ever.',
    };
  if (WELL.has(status)) return null;
  const said = error === null ? '' : `: ${cut(visibleLine(error), LONGEST)}`;
  return {
    code: 'session-failed',
    message: `the session ${visibleLine(id)} ended as ${visibleLine(status)}${said}`,
  };
}

/** What the options themselves are worth a warning for (threats, row 5). */
export function ownNotes({ source, flags: { callbackHost } }: AnswerPlan): readonly Warning[] {
  if (source.kind !== 'tool' || !isWildcard(callbackHost)) return [];
  return [{ message: `the callback listener is open to the network (--callback-host ${callbackHost})` }];
}
