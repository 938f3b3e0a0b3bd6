import type { Event, RequestEvent } from '../../exchange/events.js';
import type { Transcript } from '../../exchange/transcript-reader.js';
import { readInvocation } from '../../protocol/read-invocation.js';
import { isBodyLost } from '../../rules/evidence/lost-body.js';
import { cut } from '../../text/cut.js';
import { formatDuration } from '../../text/format-duration.js';

/** Told of one transcript; whoever wants the others reads its lines. */
const MOST = 20;
/** Characters of what is wrong with one. */
const LONGEST = 300;

/**
 * The invocations that are none, of which no call is shown: where each is, what is wrong with it and how it was answered.
 * @param events those that are shown of the transcript
 */
export function malformedInvocations(events: readonly Event[], transcript: Transcript): readonly string[] {
  const faulty = events.flatMap(event => {
    const faults = event.kind === 'request' ? faultsOf(event) : [];
    return event.kind === 'request' && faults.length > 0 ? [{ request: event, faults }] : [];
  });
  const told = faulty.slice(0, MOST).map(({ request, faults }) => {
    const what = cut(faults.join('; '), LONGEST);
    return `${placeOf(request, transcript)}: ${what}; ${endOf(request, events)}`;
  });
  const rest = faulty.length - told.length;
  return rest > 0 ? [...told, `and ${rest} more`] : told;
}

/** What was not kept may have been well-formed, and another wire has invocations of its own. */
function faultsOf(request: RequestEvent): readonly string[] {
  if (request.purpose !== 'invocation' || request.dialect !== undefined || isBodyLost(request)) return [];
  const reading = readInvocation(request.body?.json ?? { ok: false, reason: 'it has no body' });
  return reading.ok ? [] : reading.faults;
}

function placeOf({ seq, at }: RequestEvent, { events, lines }: Transcript): string {
  const line = lines?.[events.findIndex(event => event.seq === seq)];
  return line === undefined ? `after ${formatDuration(at)}` : `line ${line}`;
}

function endOf({ leg }: RequestEvent, events: readonly Event[]): string {
  for (const event of events) {
    if (event.kind === 'response' && event.leg === leg) return `answered ${event.status}`;
    if (event.kind === 'broken' && event.leg === leg) return `not answered (${event.code})`;
  }
  return 'not answered';
}
