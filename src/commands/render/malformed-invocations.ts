import type { Event, RequestEvent } from '../../events/events.js';
import { isBodyLost, roundTripsIn } from '../../events/round-trips.js';
import type { Transcript } from '../../events/transcript-reader.js';
import { readInvocation } from '../../protocol/invocation.js';
import { firstWithRest, formatDuration, truncate } from '../../util/text.js';

/** Maximum number of malformed invocations listed. */
const MAX_LISTED = 20;

/** Maximum length of an error, in characters. */
const MAX_LENGTH = 300;

/** Returns the malformed invocations of a transcript, which no call shows: the place, the error, and the answer. */
export function malformedInvocations(events: readonly Event[], transcript: Transcript): readonly string[] {
  const found = [...roundTripsIn(events).values()].flatMap(({ request, status, broken }) => {
    const faults = faultsOf(request);
    if (faults.length === 0) return [];
    const why = broken ? ` (${broken.code})` : '';
    const end = status === null ? `not answered${why}` : `answered ${status}`;
    return [`${placeOf(request, transcript)}: ${truncate(faults.join('; '), MAX_LENGTH)}; ${end}`];
  });
  return firstWithRest(found, MAX_LISTED);
}

/** A body that was not kept may have been valid, and other protocols have their own invocations. */
function faultsOf(request: RequestEvent): readonly string[] {
  if (request.purpose !== 'invocation' || request.dialect !== undefined || isBodyLost(request)) return [];
  const reading = readInvocation(request.body?.json ?? { ok: false, reason: 'it has no body' });
  return reading.ok ? [] : reading.faults;
}

function placeOf({ seq, at }: RequestEvent, { events, lines }: Transcript): string {
  const number = lines?.[events.findIndex(event => event.seq === seq)];
  return number === undefined ? `after ${formatDuration(at)}` : `line ${number}`;
}
