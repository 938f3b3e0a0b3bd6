import type { Event } from '../events/events.js';
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
import { groupBy } from '../util/collections.js';
import { readJson } from '../util/json.js';
import { redactJson } from '../util/redact-json.js';
import { isRecord } from '../util/values.js';
import { DEFAULTS, type Mock } from './mock.js';

export interface ServerOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** The path below which everything is served, such as `/a1b2`; requests elsewhere are answered 404. Default: none. */
  readonly basePath?: string;
  /** Host names besides loopback that requests may use. */
  readonly allowHosts?: readonly string[];
  /** Maximum size of an invocation, in bytes. */
  readonly maxBody?: number;
  /** Name and version of the program, for transcripts: `protocol-cli/0.1.0`. */
  readonly program?: string;
}

/** Resets one key, or everything. */
export type Reset = (key?: string) => void;

/** How a wire handles HTTP requests. */
export interface Handling {
  readonly routes: readonly Route[];
  readonly reset: Reset;
  /** Called with each request that no route answered. */
  readonly refused: (denial: Denial, request: Incoming) => void;
}

/** Serves a mock over HTTP, with the controls for tests. @throws ProtocolCliError `port-in-use`, `usage`. */
export function serveMock(
  mock: Mock,
  {
    host,
    port,
    basePath,
    allowHosts = [],
    maxBody = DEFAULTS.maxBody,
    program = 'protocol-cli',
  }: ServerOptions,
  { routes, reset, refused }: Handling,
): Promise<RunningServer> {
  const list = new CallList(mock, program);
  return startServer({
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(basePath !== undefined && { basePath }),
    allowedHosts: allowHosts,
    maxBody,
    explains: true,
    routes: [...routes, ...controlRoutes(mock, list, reset)],
    onRefused: refused,
  });
}

/** Controls for tests in any language, not part of the protocol. The guard protects them too. */
function controlRoutes(mock: Mock, list: CallList, reset: Reset): Route[] {
  return [
    routeAt('/__mock__/journal', 'GET', 'nothing', ({ headers }) => {
      const isTranscript = headers['accept']?.includes('application/x-ndjson');
      const type = isTranscript ? 'application/x-ndjson' : 'application/json';
      const pieces = isTranscript ? list.transcript() : list.report();
      return { status: 200, headers: { 'Content-Type': type }, pieces };
    }),
    control('/__mock__/reset', ['key'], ({ key }) => {
      reset(key);
      return { reset: key ?? 'all' };
    }),
    control('/__mock__/fire', ['id', 'group_id'], ({ id, group_id }) => ({
      fired: mock.fire(id, group_id),
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
    const headers = { 'Content-Type': 'application/json' };
    return { status: 200, headers, body: JSON.stringify(work(json.value as object)) };
  });
}

const EMPTY = Buffer.from('{}');

/** The remembered calls, without the secrets of callback URLs, which are collected once per event. */
class CallList {
  readonly #secrets = callbackRedactor();
  #learned = -1;

  constructor(
    private readonly mock: Mock,
    private readonly program: string,
  ) {}

  *report(): Generator<string> {
    const { forgotten } = this.mock;
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
    const { startedAt } = this.mock;
    yield `${writer.header({ startedAt, program: this.program, observer: 'tool' })}\n`;
    for (const event of this.#events()) for (const line of writer.event(event)) yield `${line}\n`;
    yield `${writer.end('asked')}\n`;
  }

  #events(): readonly Event[] {
    const { events } = this.mock;
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
