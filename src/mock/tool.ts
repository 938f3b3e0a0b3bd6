import { randomBytes } from 'node:crypto';
import { EventRing } from '../events/bounded-events.js';
import type { Event } from '../events/events.js';
import { createLog, type EventStore, type Listener, type Log } from '../events/log.js';
import { callbackRedactor } from '../events/shareable.js';
import {
  type CallbackDelivery,
  isDelivered,
  type ToolCall,
  ToolCalls,
  toolCallState,
  typeOfDelivery,
} from '../events/tool-call.js';
import { transcriptWriter } from '../events/transcript-writer.js';
import { type Denial, type Incoming, type Route, routeAt } from '../http/route.js';
import { type RunningServer, startServer } from '../http/server.js';
import { type Clock, systemClock } from '../system/clock.js';
import { finishedWithin } from '../system/process.js';
import { groupBy } from '../util/collections.js';
import { readJson } from '../util/json.js';
import { redactJson } from '../util/redact.js';
import { isRecord } from '../util/values.js';
import type { VerificationReport } from '../verification/verification.js';
import { Pauses } from './open-call.js';
import { OpenCalls } from './plan.js';
import { type ArgumentCheckers, Responder } from './responder.js';

/** Default limits; the options of the command have the same values. */
export const DEFAULTS = {
  maxPending: 10_000,
  retries: 5,
  maxBody: 10 * 1024 * 1024,
  keep: 10_000,
  drainMs: 5_000,
  /** Timeout of one callback attempt, in ms. */
  attemptMs: 15_000,
  /** Maximum pause between two attempts, in ms. */
  maxPauseMs: 30_000,
  perOrigin: 256,
} as const;

export interface ServerOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Host names besides loopback that requests may use. */
  readonly allowHosts?: readonly string[];
  /** Maximum size of an invocation, in bytes. */
  readonly maxBody?: number;
  /** Name and version of the program, for transcripts: `protocol-cli/0.1.0`. */
  readonly program?: string;
}

type ResponderOptions = ConstructorParameters<typeof Responder>[0];

/** Options of all tools; fixtures or handlers are required. */
export interface ToolOptions extends ResponderOptions {
  /** Seed of all random numbers. Default: random. */
  readonly seed?: string;
  /** Number of events to remember. */
  readonly keep?: number;
  /** How long `close()` waits for pending work, in ms. */
  readonly drainMs?: number;
  /** Takes every event. An invocation is acknowledged once its events are stored. */
  readonly store?: EventStore;
}

/** Answers calls from fixtures and handlers on any wire; remembers and verifies them. */
export abstract class Tool implements AsyncDisposable {
  /** Seed of all random numbers. */
  readonly seed: string;
  protected readonly clock: Clock;
  protected readonly log: Log;
  protected readonly ring: EventRing;
  protected readonly responder: Responder;
  protected readonly openCalls = new OpenCalls();
  protected readonly pauses: Pauses;
  /** RFC 3339, UTC. */
  protected readonly startedAt: string;
  readonly #drainMs: number;
  #closed: Promise<void> | undefined;

  protected constructor(options: ToolOptions, checkers: ArgumentCheckers) {
    const { clock = systemClock, keep = DEFAULTS.keep, seed = randomBytes(4).toString('hex') } = options;
    this.seed = seed;
    this.clock = clock;
    this.startedAt = clock.wall().toISOString();
    this.pauses = new Pauses(clock);
    this.log = createLog(() => clock.now());
    if (options.store) this.log.storeEventsIn(options.store);
    this.ring = new EventRing({ events: keep });
    this.log.subscribe(event => this.ring.push(event));
    this.responder = new Responder(options, checkers, seed, this.log);
    this.#drainMs = options.drainMs ?? DEFAULTS.drainMs;
  }

  get toolset(): Responder['toolset'] {
    return this.responder.toolset;
  }

  /** The remembered events, oldest first. */
  get events(): readonly Event[] {
    return this.ring.events;
  }

  get forgotten(): number {
    return this.ring.forgotten;
  }

  /** Calls the listener for every future event. Returns a function that stops this. */
  subscribe(listener: Listener): () => void {
    return this.log.subscribe(listener);
  }

  /** Resets the counts and states of one key; without a key everything, including the list of calls and the verification. */
  reset(key?: string): void {
    this.responder.reset(key);
    if (key === undefined) this.ring.clear();
  }

  /**
   * Fires the trigger of a waiting call: an event on demand, a consent, the default of a choice. Without an id it fires all triggers,
   * without a thread those of every thread.
   */
  fire(id?: string, groupId?: string): number {
    return this.openCalls.fire(id, groupId);
  }

  /** What is unused, unmatched, undelivered or unexpected so far. */
  verify(): VerificationReport {
    return this.responder.verification.report();
  }

  /** Sends everything pending at once, for at most `drainMs`, then closes. */
  close({ drainMs = this.#drainMs } = {}): Promise<void> {
    this.#closed ??= this.end(drainMs);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected abstract end(drainMs: number): Promise<void>;

  /** Serves these routes with the mock's own controls. @throws ProtocolCliError `port-in-use`, `usage`. */
  protected serve(
    { host, port, allowHosts = [], maxBody = DEFAULTS.maxBody, program = 'protocol-cli' }: ServerOptions,
    routes: readonly Route[],
  ): Promise<RunningServer> {
    const list = new CallList(this.ring, { startedAt: this.startedAt, program });
    return startServer({
      ...(host !== undefined && { host }),
      ...(port !== undefined && { port }),
      allowedHosts: allowHosts,
      maxBody,
      explains: true,
      routes: [...routes, ...controlRoutes(this, list)],
      onRefused: (denial, request) => this.refused(denial, request),
    });
  }

  /** Logs a request that no handler answered. */
  protected refused({ status, detail }: Denial, { method, target }: Incoming): void {
    const shown = target.replace(/[\w-]{16,}/g, '…'); // masks possible tokens
    this.warn(`request refused with ${status}: ${method} ${shown} (${detail})`);
  }

  /** Logs a warning that is not about a call. */
  protected warn(message: string): void {
    this.log.emit({ kind: 'warned', message });
  }

  /** Ends all waits. Resolves when no call is open and `delivered` resolved, or after `ms`. */
  protected async drain(ms: number, delivered?: () => Promise<void>): Promise<void> {
    this.pauses.endAll();
    await finishedWithin(this.openCalls.idle().then(delivered), ms, { clock: this.clock });
  }
}

export const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Controls for tests in any language, not part of the protocol. The guard protects them too. */
function controlRoutes(tool: Tool, list: CallList): Route[] {
  return [
    routeAt('/__mock__/journal', 'GET', 'nothing', ({ headers }) => {
      const isTranscript = headers['accept']?.includes('application/x-ndjson');
      const type = isTranscript ? 'application/x-ndjson' : 'application/json';
      const pieces = isTranscript ? list.transcript() : list.report();
      return { status: 200, headers: { 'Content-Type': type }, pieces };
    }),
    control('/__mock__/reset', ['key'], ({ key }) => {
      tool.reset(key);
      return { reset: key ?? 'all' };
    }),
    control('/__mock__/fire', ['id', 'group_id'], ({ id, group_id }) => ({
      fired: tool.fire(id, group_id),
    })),
  ];
}

/** A POST without a body, or with these optional texts. A misspelled field must not mean "all". */
function control<F extends string>(
  path: string,
  fields: readonly F[],
  work: (values: { readonly [K in F]?: string }) => unknown,
): Route {
  const isField = ([key, value]: readonly [string, unknown]) =>
    fields.some(field => field === key) && typeof value === 'string';
  return routeAt(path, 'POST', 'json?', (_, body) => {
    const json = readJson(body.length === 0 ? EMPTY : body);
    if (!json.ok || !isRecord(json.value) || !Object.entries(json.value).every(isField))
      return {
        status: 400,
        body: `The body must be empty, or JSON with these optional texts: ${fields.join(', ')}.\n`,
      };
    return { status: 200, headers: JSON_TYPE, body: JSON.stringify(work(json.value as object)) };
  });
}

const EMPTY = Buffer.from('{}');

/** The remembered calls, without the secrets of callback URLs, which are collected once per event. */
class CallList {
  readonly #secrets = callbackRedactor();
  #learned = -1;

  constructor(
    private readonly ring: Pick<EventRing, 'events' | 'forgotten'>,
    private readonly about: { readonly startedAt: string; readonly program: string },
  ) {}

  *report(): Generator<string> {
    const { forgotten } = this.ring;
    const events = this.#events();
    let separator = '{"calls":[';
    for (const [key, ofCall] of groupBy(events, event => event.calls ?? [])) {
      const call = ToolCalls.of(ofCall).get(key);
      if (!call) continue;
      yield separator + redactJson(JSON.stringify(callReport(call)), this.#secrets);
      separator = ',';
    }
    const isEmpty = separator !== ',';
    yield `${isEmpty ? separator : ''}],"events":${events.length},"forgotten":${forgotten}}`;
  }

  *transcript(): Generator<string> {
    const writer = transcriptWriter(this.#secrets);
    yield `${writer.header({ ...this.about, observer: 'tool' })}\n`;
    for (const event of this.#events()) for (const line of writer.event(event)) yield `${line}\n`;
    yield `${writer.end('asked')}\n`;
  }

  #events(): readonly Event[] {
    const { events } = this.ring;
    for (const event of events) if (event.seq > this.#learned) this.#secrets.learn(event);
    this.#learned = Math.max(this.#learned, events.at(-1)?.seq ?? -1);
    return events;
  }
}

function callReport(call: ToolCall): object {
  const { invocation, addressee, nearest, acknowledgement } = call;
  const { receivedAt, arrivals, dropped, warnings } = call;
  return {
    id: addressee?.id ?? null,
    group_id: addressee?.group_id ?? null,
    operation: invocation?.operation ?? null,
    invocation,
    fixture: call.answeredBy,
    ...(nearest && { nearest }),
    state: toolCallState(call),
    receivedAt,
    arrivals,
    acknowledgement: { status: acknowledgement.status ?? null, at: acknowledgement.at ?? null },
    deliveries: call.deliveries.map(deliveryReport),
    dropped,
    warnings,
  };
}

function deliveryReport(delivery: CallbackDelivery): object {
  const { url, body, attempts } = delivery;
  return {
    type: typeOfDelivery(delivery),
    url,
    message: body?.json.ok ? body.json.value : null,
    delivered: isDelivered(delivery),
    attempts: attempts.map(({ leg: _, ...attempt }) => attempt),
  };
}
