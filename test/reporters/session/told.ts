import { Writable } from 'node:stream';
import type { Event } from '../../../src/events/events.js';
import { History } from '../../../src/events/history.js';
import { Sessions } from '../../../src/events/session-calls.js';
import type { Paper } from '../../../src/render/outputs/reporter.js';
import type { KnownSession, SessionReporter } from '../../../src/render/outputs/session.js';
import type { Trouble } from '../../../src/render/outputs/trouble.js';
import { BASE, SESSION } from '../../events/session/build.js';

/** Lets a reporter live through the events of a session, as they happened, to the end of a command. */
export async function tell(
  make: (known: KnownSession, paper: Paper) => SessionReporter,
  events: readonly Event[],
  { quiet = false, trouble = null }: { quiet?: boolean; trouble?: Trouble | null } = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const known = { sessions: new Sessions(), history: new History() };
  const said = { stdout: '', stderr: '' };
  const reporter = make(known, { stdout: sheet(said, 'stdout'), stderr: sheet(said, 'stderr'), quiet });
  for (const event of events) {
    known.sessions.apply(event);
    known.history.apply(event);
    reporter.event?.(event);
  }
  const notes = [{ message: 'a note' }];
  await reporter.end({ session: { id: SESSION, url: `${BASE}/${SESSION}` }, known, notes, trouble });
  return said;
}

function sheet<Name extends string>(said: Record<Name, string>, name: Name): Writable {
  return new Writable({
    write(chunk, _, done) {
      said[name] += String(chunk);
      done();
    },
  });
}
