import type { Event, EventOf } from '../events/events.js';
import type { RoundTrip } from '../events/round-trips.js';
import type { Discovery } from './discovery.js';
import type { RecordedCall } from './recorded-call.js';

/** A tool that crashed: nothing after `message` reached it. */
export interface ToolCrash {
  /** What the tool received, or sent without success, just before the crash. */
  readonly kind: 'malformed' | 'notice' | 'callback' | 'call';
  readonly message: RoundTrip;
  /** The proof that the tool was gone: the first later request, which could not connect, or the exit of its server. */
  readonly later: { readonly events: readonly number[] };
  /** The exit of its server; null if this program did not start the server. */
  readonly exit: EventOf<'exited'> | null;
  /** How many messages of the same kind were sent at the same time. */
  readonly others: number;
}

/** The exit of a server that this program started. `output` is the last lines that it wrote to stderr. */
export type ExitProof =
  /**
   * In a check. `repeated`: a new server exited too, with nothing else in progress. `repeats` is the number of new servers that were
   * started to repeat one call or one probe alone.
   */
  | {
      readonly kind: 'repeated' | 'not-repeated';
      readonly output: readonly string[];
      readonly repeats: number;
    }
  /** In another recording, of which there is only one run. */
  | { readonly kind: 'recorded'; readonly output: readonly string[] };

/** What answered later at the address of a tool that had stopped answering: the same toolset, or another program. */
export type ReturnedServer = 'same' | 'other';

/** What shows that a server ended, and how certain its cause is. */
export type EndProof =
  | ExitProof
  /** A tool that this program did not start refuses connections. `returned` is null if nothing answered later. */
  | { readonly kind: 'refused'; readonly returned: ReturnedServer | null };

/** The end of a server: the exit of one that this program started and did not stop, or of another one that refuses connections. */
export interface ServerEnd {
  /** The `seq` of the event that proves it. */
  readonly seq: number;
  /** `the server exited with status 1 during …` */
  readonly message: string;
  /** The calls in progress. */
  readonly open: readonly RecordedCall[];
  /** The messages because of which a rule fails, or the exit itself, by `seq`; none if it need not be the fault of the tool. */
  readonly cause: readonly number[];
  readonly proof: EndProof;
  /** The events of the calls that it interrupted. */
  readonly interruptedEvents: ReadonlySet<number>;
  /** The plans of a check with such a call, or without any call. */
  readonly interruptedPlans: ReadonlySet<string>;
}

/** What was sent to a tool. */
export interface SentMessages {
  /** In the order in which they were made. */
  readonly calls: readonly RecordedCall[];
  readonly discoveries: readonly Discovery[];
  readonly closes: readonly RoundTrip[];
  readonly cancels: readonly RoundTrip[];
  readonly migrations: readonly RoundTrip[];
}

/** Whether the end of a server fails the run, also if no rule does. */
export function isFatalExit({ proof, cause }: Pick<ServerEnd, 'proof' | 'cause'>): boolean {
  return proof.kind === 'repeated' || cause.length > 0;
}

/** What the exit of the first server of a check interrupted, or prevented. @param known calls that it is known to have interrupted */
export function interruptedBy(
  first: Pick<Event, 'seq'>,
  { calls }: SentMessages,
  plans: readonly EventOf<'planned'>[],
  known: ReadonlySet<RecordedCall>,
): Pick<ServerEnd, 'interruptedEvents' | 'interruptedPlans'> {
  const isUnanswered = ({ attempts }: RecordedCall) => attempts.every(({ status }) => status === null);
  const interrupted = calls.filter(
    call =>
      known.has(call) ||
      (isUnanswered(call) && call.attempts.every(({ request }) => request.seq < first.seq)),
  );
  const keys = new Set(interrupted.map(({ key }) => key));
  const made = plans.filter(({ newServer }) => !newServer);
  const whole = made.filter(({ calls: own = [] }) => own.length > 0 && !own.some(key => keys.has(key)));
  const isInterrupted = ({ plan }: EventOf<'planned'>) =>
    made.some(each => each.plan === plan && each.calls?.some(key => keys.has(key))) ||
    !whole.some(each => each.plan === plan);
  const interruptedPlans = new Set(made.filter(isInterrupted).map(({ plan }) => plan));
  return { interruptedEvents: eventsOf(interrupted), interruptedPlans };
}

/** The requests of calls, and their answers, by `seq`. */
export function eventsOf(calls: Iterable<RecordedCall>): ReadonlySet<number> {
  return new Set(
    [...calls].flatMap(({ attempts, callbacks, selections }) =>
      [attempts, callbacks, selections].flat().flatMap(({ events }) => events),
    ),
  );
}

/** What was sent to the tool, oldest first. */
export function requestsIn({
  calls,
  discoveries,
  closes,
  cancels,
  migrations,
}: SentMessages): readonly RoundTrip[] {
  return [
    ...calls.flatMap(({ attempts, selections }) => [...attempts, ...selections]),
    ...[discoveries, closes, cancels, migrations].flat(),
  ].sort((one, other) => one.request.seq - other.request.seq);
}
