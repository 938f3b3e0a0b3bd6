import { type Session, sessionCallState, statusOf } from '../../exchange/session/session.js';
import { isSettledStatus } from '../../protocol/session/status.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Line, Span, Tone } from '../line.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';

/** How a session stands: its status and for how long, its rounds, its calls. @param now ms since the start */
export function sessionHead(session: Session, now: number): Line {
  const { rounds, calls, forgotten } = session;
  const taken = [...calls.values()].filter(call => sessionCallState(session, call) === 'taken').length;
  const counts = [
    ...(rounds > 0 ? [isSettledStatus(statusOf(session) ?? '') ? roundsIn(rounds) : `round ${rounds}`] : []),
    `${taken + forgotten} of ${calls.size + forgotten} calls answered`,
  ];
  return [...statusWords(session, now), say(` · ${counts.join(' · ')}`, 'dim')];
}

function roundsIn(count: number): string {
  return `${count} round${count === 1 ? '' : 's'}`;
}

function statusWords(session: Session, now: number): Line {
  const status = statusOf(session) ?? 'not heard of yet';
  const { mark, tone } = lookOf(status);
  const isOver = isSettledStatus(status);
  const at = session.statuses.at(-1)?.at ?? session.beganAt;
  const time = isOver
    ? ` after ${formatDuration(at - session.beganAt)}`
    : ` ${formatDuration(whole(now - at))}`;
  return [mark, say(' '), ...clipped(status, tone, 60), say(time, 'dim')];
}

function lookOf(status: string): { readonly mark: Span; readonly tone: Tone } {
  if (status === 'completed' || status === 'idle') return { mark: say('✓', 'good'), tone: 'good' };
  if (isSettledStatus(status)) return { mark: say('✗', 'bad'), tone: 'bad' };
  return { mark: say('…', 'running'), tone: 'running' };
}

/** It may last for hours: nobody needs ten frames a second of that. */
function whole(milliseconds: number): number {
  return Math.max(0, Math.floor(milliseconds / 1_000) * 1_000);
}
