import type { Event, RequestEvent } from '../../src/events/events.js';
import { History } from '../../src/events/history.js';
import { createLog, type Log } from '../../src/events/log.js';
import { eventsOnSide } from '../../src/events/round-trips.js';
import type { HttpClient } from '../../src/http/client.js';
import { startRecorder } from '../../src/record/recorder.js';
import { systemClock } from '../../src/system/clock.js';

const DEFAULTS = {
  ...{ host: '127.0.0.1', port: 0, maxBody: 64 * 1024 * 1024, drainMs: 200 },
  ...{ allowHosts: [], allowCallbacks: [], callbackBase: null },
};

type Recorder = Awaited<ReturnType<typeof startRecorder>>;

/** A recorder in this process, and its events. */
export interface Recording extends Recorder {
  readonly log: Log;
  readonly events: readonly Event[];
  /** The round trips on one side, as `sender purpose status`. */
  roundTrips(hop: NonNullable<RequestEvent['hop']>): string[];
  /** The messages of its warnings. */
  readonly warnings: readonly string[];
}

export async function startRecording(
  url: string,
  options: Partial<Parameters<typeof startRecorder>[1]> = {},
  log = createLog(() => systemClock.now()),
  client?: HttpClient,
): Promise<Recording> {
  const events: Event[] = [];
  log.subscribe(event => events.push(event));
  const recorder = await startRecorder(log, { ...DEFAULTS, url, ...options }, client);
  return {
    ...recorder,
    log,
    events,
    roundTrips: hop => roundTripsOn(hop, events),
    get warnings() {
      return events.flatMap(event => (event.kind === 'warned' ? [event.message] : []));
    },
    [Symbol.asyncDispose]: () => recorder.close(),
  };
}

/** The history of one side. */
export function historyOf(hop: NonNullable<RequestEvent['hop']>, events: readonly Event[]): History {
  const history = new History();
  for (const event of eventsOnSide(hop, events)) history.apply(event);
  return history;
}

/** The finished round trips of one side, in order: sender, purpose, status or error code. */
export function roundTripsOn(hop: NonNullable<RequestEvent['hop']>, events: readonly Event[]): string[] {
  const open = new Map<string, string>();
  return events.flatMap(event => {
    if (event.kind === 'request' && event.hop === hop) open.set(event.leg, `${event.from} ${event.purpose}`);
    if (event.kind !== 'response' && event.kind !== 'broken') return [];
    const request = open.get(event.leg);
    if (request === undefined) return [];
    return [`${request} ${event.kind === 'response' ? event.status : event.code}`];
  });
}
