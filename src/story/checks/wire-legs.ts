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
  /** Whose lines a finding names: the transcript that is checked, or that of a check. */
  readonly file?: string;
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
  /** The probe that let a callback end so, which is not taken; null where there is none. */
  readonly endedBy: string | null;
  readonly ms: number | null;
  readonly request: readonly Piece[];
  readonly response: readonly Piece[];
}

/** The requests among the events of a proof, in its order; those whose answer is meant too. */
export function wireLegs({ events: seqs, spots = [] }: Proof, record: WireRecord): readonly WireLeg[] {
  const places = new Map(seqs.map((seq, place) => [seq, place]));
  const placeOf = ({ seq }: Event) => places.get(seq) ?? 0;
  const proof = record.events.filter(({ seq }) => places.has(seq));
  const inOrder = proof.toSorted((one, other) => placeOf(one) - placeOf(other));
  const legs = new Set(inOrder.map(event => ('leg' in event ? event.leg : undefined)));
  const requests = new Map(requestsIn(record.events, legs).map(request => [request.leg, request]));
  return [...legs].flatMap(leg => requests.get(leg ?? '') ?? []).map(each => legOf(each, spots, record));
}

function requestsIn(events: readonly Event[], legs: ReadonlySet<string | undefined>) {
  return events.filter(event => event.kind === 'request').filter(({ leg }) => legs.has(leg));
}

function legOf(request: RequestEvent, spots: readonly Spot[], { events, redactor }: WireRecord): WireLeg {
  const { seq, method, leg, body, at } = request;
  const end = endOf(leg, events);
  const isTaken = end?.kind === 'response' && end.status < 300;
  const spotsIn = (event: Event) => spots.filter(spot => spot.event === event.seq);
  return {
    event: seq,
    method,
    url: shareableUrl(request, redactor),
    operation: operationOf(request, events, redactor),
    end: end ? (end.kind === 'response' ? String(end.status) : `${end.phase}: ${end.code}`) : null,
    endedBy: end && !isTaken ? probeOf(request, events) : null,
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

/** Who makes a call for a check listens for what comes of it. */
function probeOf({ calls: [key] = [], purpose }: RequestEvent, events: readonly Event[]): string | null {
  if (key === undefined || purpose !== 'callback') return null;
  const plan = events.find(
    event => event.kind === 'planned' && event.by === 'probe' && event.calls?.includes(key),
  );
  return plan?.kind === 'planned' ? plan.plan : null;
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
