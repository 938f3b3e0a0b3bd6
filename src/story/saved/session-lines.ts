import type { Session } from '../../exchange/session/session.js';
import type { Line } from '../line.js';
import { callBodies } from '../session/call-details.js';
import { callStanding } from '../session/call-state.js';
import { sessionHead } from '../session/head-lines.js';
import type { KnownCall } from '../session/known.js';
import { callWords } from '../session/words.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';

/** A session of a file: how it stood at the end, and each of its calls in a line. @param now ms since the start, of the last event */
export function sessionLines(session: Session, calls: readonly KnownCall[], now: number): Line[] {
  return [
    [say('SESSION ', 'title'), ...clipped(session.id, 'title'), say('  '), ...sessionHead(session, now)],
    ...calls.map(known => {
      const { mark, line } = callStanding(known, now);
      return [mark, say(' '), ...callWords(known.call), say('  ', 'gutter'), ...line];
    }),
  ];
}

/** A call by itself: what it was asked with, and what the model gets. */
export function sessionCallLines({ call, ...known }: KnownCall): Line[] {
  return [[say('CALL ', 'title'), ...callWords(call)], ...callBodies({ call, ...known })];
}
