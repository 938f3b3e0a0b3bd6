import { type EventRing, unread } from '../events/bounded-events.js';
import type { Event } from '../events/events.js';
import { callbackSecrets } from '../events/shareable.js';
import {
  type CallbackDelivery,
  isDelivered,
  type ToolCall,
  ToolCalls,
  toolCallState,
  typeOfDelivery,
} from '../events/tool-call.js';
import { transcriptWriter } from '../events/transcript-writer.js';
import type { Refusal, Route } from '../http/route.js';
import { type RunningServer, startServer } from '../http/server.js';
import { readJson } from '../util/json.js';
import { redactJson } from '../util/redact.js';
import { didYouMean, excerpt } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { DEFAULTS } from './limits.js';

/** Where a tool is served. */
export interface ServerOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Host names that requests may use besides those of the loopback. */
  readonly allowHosts?: readonly string[];
  /** Bytes of an invocation. */
  readonly maxBody?: number;
  /** Name and version of the program, for transcripts: `protocol-cli/0.1.0`. */
  readonly program?: string;
}

/** What the controls of a served tool act on. */
interface Controlled {
  readonly ring: Pick<EventRing, 'kept' | 'forgotten'>;
  /** RFC 3339, UTC. */
  readonly startedAt: string;
  /** Forgets one key; everything without one. */
  reset(key?: string): void;
  /** Returns how many were fired; all that wait without an id, and in every thread without one. */
  fire(id?: string, groupId?: string): number;
  warn(message: string): void;
}

/** Serves these routes, and the mock's own controls beside them. @throws ProtocolCliError `port-in-use`, `usage`. */
export function startToolServer(
  { host, port, allowHosts = [], maxBody = DEFAULTS.maxBody, program = 'protocol-cli' }: ServerOptions,
  tool: Controlled,
  routes: readonly Route[],
): Promise<RunningServer> {
  return startServer({
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    allowedHosts: allowHosts,
    maxBody,
    explains: true,
    routes: [...routes, ...controlRoutes(tool, program)],
    onRefused: refusal => tool.warn(refusalText(refusal)),
  });
}

/** Describes a request that no route answered. Masks anything that looks like a token. */
function refusalText({ method = '', target = '', status, detail }: Refusal): string {
  return `request refused with ${status}: ${method} ${target.replace(/[\w-]{16,}/g, '…')} (${detail})`;
}

export const JSON_TYPE = { 'Content-Type': 'application/json' };

/** A route at exactly one path. */
export function get(path: string, handle: Route['handle']): Route {
  return { name: path, method: 'GET', accepts: 'nothing', serves: asked => asked === path, handle };
}

/** As {@link get}, for a JSON body. */
export function post(path: string, handle: Route['handle']): Route {
  return { name: path, method: 'POST', accepts: 'json', serves: asked => asked === path, handle };
}

/** Controls for tests in any language. Guarded like everything else; none of it is part of the protocol. */
function controlRoutes(tool: Controlled, program: string): Route[] {
  const journal = new JournalReports(tool.ring, { startedAt: tool.startedAt, program });
  return [
    get('/__mock__/journal', ({ headers }) => {
      const isTranscript = headers.accept?.includes('application/x-ndjson');
      const type = isTranscript ? 'application/x-ndjson' : 'application/json';
      const pieces = isTranscript ? journal.transcript() : journal.report();
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

type Values<F extends string> = { [K in F]?: string };

/** A POST with no body at all, or with these fields, each of which is optional. */
function control<F extends string>(
  path: string,
  fields: readonly [F, ...F[]],
  work: (values: Values<F>) => unknown,
): Route {
  const handle: Route['handle'] = ({ body }) => {
    const values: Values<F> = {};
    const problem = readFields(body, fields, values);
    if (problem !== null) return { status: 400, body: `${problem}\n` };
    return { status: 200, headers: JSON_TYPE, body: JSON.stringify(work(values)) };
  };
  return { ...post(path, handle), accepts: 'json?' };
}

/** Returns what is wrong, or null. A misspelt field must not mean everything. */
function readFields<F extends string>(
  body: Uint8Array,
  fields: readonly [F, ...F[]],
  values: Values<F>,
): string | null {
  if (body.length === 0) return null;
  const unreadable = (field: string) => `The body must be empty, or JSON such as {"${field}":"…"}.`;
  const json = readJson(body);
  if (!json.ok || !isRecord(json.value)) return unreadable(fields[0]);
  for (const [key, value] of Object.entries(json.value)) {
    const field = fields.find(each => each === key);
    const meant = didYouMean(key, fields) || `Known fields: "${fields.join('", "')}".`;
    if (field === undefined) return `unknown field ${excerpt(key)}. ${meant}`;
    if (typeof value !== 'string') return unreadable(field);
    values[field] = value;
  }
  return null;
}

/** What a mock remembers of its calls, without the secrets of callback URLs, which are collected once per event. */
class JournalReports {
  readonly #secrets = callbackSecrets();
  #learned = -1;
  readonly #shared = new Map<object, { readonly state: string; readonly pieces: WeakRef<SharedPieces> }>();

  constructor(
    private readonly ring: Controlled['ring'],
    private readonly about: { readonly startedAt: string; readonly program: string },
  ) {}

  /** For tests in any language: plain JSON, call by call. */
  report(): Iterable<Uint8Array> {
    return this.#share(this.#report);
  }

  /** The same as the lines of a transcript. */
  transcript(): Iterable<Uint8Array> {
    return this.#share(this.#transcript);
  }

  /** Many may ask before anything more happens, and read slowly (threats, row 14). */
  #share(write: (this: this, kept: readonly Event[]) => Generator<string>): SharedPieces {
    const { kept, forgotten } = this.ring;
    const state = [kept.at(-1)?.seq, kept.length, forgotten].join();
    const known = this.#shared.get(write);
    const made = known?.state === state ? known.pieces.deref() : undefined;
    if (made) return made;
    for (const event of kept) if (event.seq > this.#learned) this.#secrets.learn(event);
    this.#learned = Math.max(this.#learned, kept.at(-1)?.seq ?? -1);
    const pieces = new SharedPieces(write.call(this, kept));
    this.#shared.set(write, { state, pieces: new WeakRef(pieces) });
    return pieces;
  }

  *#report(kept: readonly Event[]): Generator<string> {
    const { forgotten } = this.ring;
    let separator = '{"calls":[';
    for (const [key, events] of byCall(kept)) {
      const call = ToolCalls.of(events.map(unread)).get(key);
      if (!call) continue;
      yield separator + redactJson(JSON.stringify(callReport(call)), this.#secrets);
      separator = ',';
    }
    const isEmpty = separator !== ',';
    yield `${isEmpty ? separator : ''}],"events":${kept.length},"forgotten":${forgotten}}`;
  }

  *#transcript(kept: readonly Event[]): Generator<string> {
    const writer = transcriptWriter(this.#secrets);
    yield `${writer.header({ ...this.about, observer: 'tool' })}\n`;
    for (const event of kept) for (const line of writer.event(unread(event))) yield `${line}\n`;
    yield `${writer.end('asked')}\n`;
  }
}

/** Characters. */
const PIECE = 64 * 1024;

/** A text in pieces, each of which is made once, as its first reader comes to it; gone with the last reader. */
class SharedPieces implements Iterable<Uint8Array> {
  readonly #made: Uint8Array[] = [];

  constructor(private readonly text: Iterator<string>) {}

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (let at = 0; ; at++) {
      const piece = this.#made[at] ?? this.#next();
      if (piece.length === 0) return;
      yield piece;
    }
  }

  #next(): Uint8Array {
    let text = '';
    for (let next = this.text.next(); !next.done; next = this.text.next()) {
      text += next.value;
      if (text.length >= PIECE) break;
    }
    const piece = Buffer.from(text);
    this.#made.push(piece);
    return piece;
  }
}

/** In the order in which the calls came. */
function byCall(events: readonly Event[]): Map<string, Event[]> {
  const calls = new Map<string, Event[]>();
  for (const event of events)
    for (const key of event.calls ?? []) {
      const known = calls.get(key);
      if (known) known.push(event);
      else calls.set(key, [event]);
    }
  return calls;
}

function callReport(call: ToolCall): object {
  const {
    invocation,
    addressee,
    answeredBy,
    nearest,
    receivedAt,
    arrivals,
    acknowledgement,
    warnings,
    dropped,
  } = call;
  return {
    id: addressee?.id ?? null,
    group_id: addressee?.group_id ?? null,
    operation: invocation?.operation ?? null,
    invocation,
    fixture: answeredBy,
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
