import type { Event, RequestEvent } from '../../exchange/events.js';
import { shareableUrl } from '../../exchange/shareable.js';
import type { Spot } from '../../rules/spot.js';
import { cut } from '../../text/cut.js';
import type { Redactor } from '../../text/redact.js';
import { valueAt } from '../../text/value-at.js';
import { type Piece, piecesOf } from './piece.js';

/** Characters of the name of an operation. */
const NAME = 60;

/** What was on the wire, for whoever wants to see for themselves. */
export interface WireRecord {
  readonly events: readonly Event[];
  readonly redactor: Redactor;
}

/** What a row is proved by. */
export interface Proof {
  readonly events: readonly number[];
  readonly spots?: readonly Spot[];
}

/** A request and what became of it, as it may leave the machine: bounded, secrets out, not yet made visible. */
export interface WireLeg {
  /** `seq` of the request. */
  readonly event: number;
  readonly method: string;
  readonly url: string;
  /** What was called; null where it is about no call, or about one that cannot be read. */
  readonly operation: string | null;
  /** A status, or how it broke: `connect: ECONNREFUSED`; null where nothing came. */
  readonly end: string | null;
  readonly ms: number | null;
  readonly request: readonly Piece[];
  readonly response: readonly Piece[];
}

/** The requests among the events of a proof, oldest first; those whose answer is meant too. */
export function wireLegs({ events: seqs, spots = [] }: Proof, record: WireRecord): readonly WireLeg[] {
  const wanted = new Set(seqs);
  const { events } = record;
  const legs = new Set(events.flatMap(event => (wanted.has(event.seq) && 'leg' in event ? [event.leg] : [])));
  return events
    .filter(event => event.kind === 'request')
    .filter(({ leg }) => legs.has(leg))
    .map(request => legOf(request, spots, record));
}

function legOf(request: RequestEvent, spots: readonly Spot[], { events, redactor }: WireRecord): WireLeg {
  const { seq, method, leg, body, at } = request;
  const end = endOf(leg, events);
  const spotsIn = (event: Event) => spots.filter(spot => spot.event === event.seq);
  return {
    event: seq,
    method,
    url: shareableUrl(request, redactor),
    operation: operationOf(request, events, redactor),
    end: end ? (end.kind === 'response' ? String(end.status) : `${end.phase}: ${end.code}`) : null,
    ms: end ? Math.max(0, end.at - at) : null,
    request: piecesOf(body, spotsIn(request), redactor),
    response: end?.kind === 'response' ? piecesOf(end.body, spotsIn(end), redactor) : [],
  };
}

function endOf(leg: string, events: readonly Event[]) {
  return events
    .filter(event => event.kind === 'response' || event.kind === 'broken')
    .find(event => event.leg === leg);
}

/** An invocation says it itself. */
function operationOf(
  { calls: [key] = [], purpose }: RequestEvent,
  events: readonly Event[],
  redactor: Redactor,
) {
  const invocation = events.find(
    event => event.kind === 'request' && event.purpose === 'invocation' && event.calls?.[0] === key,
  );
  if (
    key === undefined ||
    purpose === 'invocation' ||
    invocation?.kind !== 'request' ||
    !invocation.body?.json.ok
  )
    return null;
  const operation = valueAt(invocation.body.json.value, 'operation');
  return typeof operation === 'string' ? cut(redactor.text(operation), NAME) : null;
}
