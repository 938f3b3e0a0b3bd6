import type { Event, EventOf, RequestEvent } from '../events/events.js';
import { type RoundTrip, roundTripsIn } from '../events/round-trips.js';

/** The plan with which a check begins, and begins again on each new server. */
export const START_PLAN = 'discovery';

/** The part of a check in which one server ran, by `seq`. */
export interface ServerRun {
  readonly from: number;
  readonly to: number;
  readonly exit: EventOf<'exited'>;
  /** The plan of the only call or probe on this server; undefined on the first server. */
  readonly onlyPlan: EventOf<'planned'> | undefined;
}

export function isWithin({ from, to }: Pick<ServerRun, 'from' | 'to'>, { seq }: Pick<Event, 'seq'>): boolean {
  return seq > from && seq < to;
}

export function plansIn(events: readonly Event[]): readonly EventOf<'planned'>[] {
  return events.filter(event => event.kind === 'planned').filter(({ by }) => by === 'probe');
}

export function startsIn(events: readonly Event[]): readonly number[] {
  return plansIn(events).flatMap(({ plan, seq }) => (plan === START_PLAN ? [seq] : []));
}

/** The servers of a check that exited. */
export function exitedServers(events: readonly Event[]): readonly ServerRun[] {
  const plans = plansIn(events);
  const starts = startsIn(events);
  return exitsIn(events).map(exit => {
    const from = starts.findLast(seq => seq < exit.seq) ?? -1;
    const to = starts.find(seq => seq > exit.seq) ?? Number.POSITIVE_INFINITY;
    const onlyPlan = plans.find(plan => plan.newServer && isWithin({ from, to: exit.seq }, plan));
    return { from, to, exit, onlyPlan };
  });
}

export function exitsIn(events: readonly Event[]): readonly EventOf<'exited'>[] {
  return events.filter(event => event.kind === 'exited');
}

/** An invocation and a callback show how far their call came. */
const KEPT: ReadonlySet<RequestEvent['purpose']> = new Set(['invocation', 'callback']);

/**
 * The events of a check that rules may judge if its server exited, or stopped answering. Of the new servers, only the one that exited too counts. The requests
 * that got no answer because of an exit prove nothing; a probe that was repeated alone keeps them, since one of them is the cause.
 */
export function judgeableEvents(events: readonly Event[]): readonly Event[] {
  const [first, ...others] = exitedServers(events);
  if (!first) return untilRefusal(events);
  const repeatedRun = others.find(({ onlyPlan }) => onlyPlan);
  const counting = events.filter(
    event => event.seq < first.to || (repeatedRun && isWithin(repeatedRun, event)),
  );
  const trips = [...roundTripsIn(counting).values()];
  const runs = repeatedRun?.onlyPlan?.calls ? [first, repeatedRun] : [first];
  const interrupted = runs
    .flatMap(run => interruptedRequests(run, trips))
    .filter(({ request }) => !KEPT.has(request.purpose));
  const legs = new Set<string | undefined>(interrupted.map(({ request }) => request.leg));
  return counting.filter(event => !('leg' in event && legs.has(event.leg)));
}

/** Without the requests after the first refused connection of a tool that had answered: another program may answer them. */
function untilRefusal(events: readonly Event[]): readonly Event[] {
  if (plansIn(events).length === 0) return events;
  const refused = firstRefusal([...roundTripsIn(events).values()]);
  if (!refused) return events;
  const isLater = (event: Event) =>
    event.kind === 'request' && event.to === 'tool' && event.seq > refused.lastSeq;
  const later = new Set<string | undefined>(
    events.flatMap(event => (isLater(event) && 'leg' in event ? event.leg : [])),
  );
  return events.filter(event => !('leg' in event && later.has(event.leg)));
}

/** The first connection that a server refused after it had answered; `response_url` may be served by another one. */
export function firstRefusal(trips: readonly RoundTrip[]): RoundTrip | undefined {
  const toServers = trips.filter(({ request }) => request.to === 'tool' && request.purpose !== 'choice');
  const answered = toServers.filter(({ status }) => status !== null);
  return toServers
    .filter(isConnectionRefused)
    .toSorted((one, other) => one.lastSeq - other.lastSeq)
    .find(refused =>
      answered.some(each => each.lastSeq < refused.lastSeq && originOf(each) === originOf(refused)),
    );
}

export function isConnectionRefused({ broken }: Pick<RoundTrip, 'broken'>): boolean {
  return broken?.code === 'ECONNREFUSED' && broken.phase === 'connect';
}

export function originOf({ request: { url } }: Pick<RoundTrip, 'request'>): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** The requests that got no answer, and after which no other request got one. */
function interruptedRequests(run: ServerRun, trips: readonly RoundTrip[]): readonly RoundTrip[] {
  const own = trips.filter(({ request }) => isWithin(run, request));
  const alive = own.reduce(
    (last, { request, status }) => (status === null ? last : Math.max(last, request.seq)),
    -1,
  );
  return own.filter(
    ({ status, failure, lastSeq }) => status === null && failure !== 'timed-out' && lastSeq > alive,
  );
}
