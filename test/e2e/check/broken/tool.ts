import { type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import type { CheckStatus } from '../../../../src/check/report.js';
import { parseFixtures } from '../../../../src/fixtures/read-fixtures.js';
import { type MockTool, startMockTool } from '../../../../src/mock/mock-tool.js';
import type { RequirementId } from '../../../../src/protocol/requirements.js';
import { createRunnableClock } from '../../../../src/system/clock.js';
import type { ProbeOptions } from '../../../probes/probing.js';
import { deferred } from '../../../support/deferred.js';
import { servePeer } from '../../support/serve-peer.js';

/** A tool that breaks one rule, and how that is reported. */
export interface BrokenTool {
  /** What it does that it must not. */
  readonly does: string;
  readonly start?: () => Promise<AsyncDisposable & { readonly url: string }>;
  /** If only one operation breaks the rule: its fixture. All of these operations are checked together, and judged one by one. */
  readonly fixture?: object;
  readonly says: RegExp;
  /** What the rule's row comes to: fail for a MUST, a warning for a SHOULD, by default. */
  readonly status?: CheckStatus;
  readonly options?: Partial<ProbeOptions>;
}

export type BrokenTools = Readonly<Partial<Record<RequirementId, readonly BrokenTool[]>>>;

/** The fields of a message, as they came. */
export type Fields = Readonly<Record<string, unknown>>;

/** The fields of what a body says; none where it is not an object. */
export function fieldsIn(body: string): Fields {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A callback on its way out, and the call it is for. */
export interface Delivery {
  readonly url: string;
  readonly message: Fields;
  readonly invocation: Fields;
}

/** Posts a callback. The status; rejects where none exists. */
export type Post = (url: string, message: Fields) => Promise<number>;

export interface Answer {
  readonly status: number;
  readonly body?: string;
}

/** What is done other than by the good tool behind. */
export interface Twist {
  readonly toolset?: (toolset: Fields) => Fields;
  /** In place of the tool's answer to a POST: undefined leaves it to the tool. */
  readonly answers?: (path: string, body: string) => Answer | 'reset' | undefined;
  /** Whether it answers no one any more. */
  readonly isGone?: () => boolean;
  /** The status of an acknowledgement, for that of the tool, as soon as it is to go out. */
  readonly acknowledged?: (status: number) => number | Promise<number>;
  /** What the tool gets for what was sent. */
  readonly invocation?: (invocation: Fields) => Fields;
  /** What is posted for what the tool says. The status that the tool is notified. */
  readonly delivers?: (delivery: Delivery, post: Post, front: string) => Promise<number>;
}

export interface Front extends AsyncDisposable {
  readonly url: string;
}

/** Stands before a good tool, and breaks what it is asked to; all else passes. */
export async function startFront(
  tool: AsyncDisposable & { readonly url: string },
  twist: Twist,
): Promise<Front> {
  const { url, stop } = await servePeer(frontOf(tool.url, twist));
  return {
    url,
    async [Symbol.asyncDispose]() {
      await stop();
      await tool[Symbol.asyncDispose]();
    },
  };
}

interface Pending {
  readonly url: string;
  readonly invocation: Fields;
  readonly acknowledged: Promise<void>;
}

function frontOf(tool: string, twist: Twist) {
  const {
    toolset = same,
    answers,
    acknowledged: statusOf = as,
    invocation = same,
    delivers = deliver,
  } = twist;
  const { isGone = () => false } = twist;
  const pending: Pending[] = [];

  return async (request: IncomingMessage, response: ServerResponse) => {
    const own = `http://${request.headers.host}`;
    const body = await text(request);
    if (isGone()) return void response.destroy();
    if (request.method === 'GET') return discover(own, response);
    const [, place] = /^\/callback\/(\d+)$/.exec(request.url ?? '') ?? [];
    const call = place === undefined ? undefined : pending[Number(place)];
    return call ? passBack(call, body, own, response) : take(request, body, own, response);
  };

  async function discover(own: string, response: ServerResponse) {
    const answer = await fetch(`${tool}/.well-known/rap-toolset`);
    const shown = toolset({ ...fieldsIn(await answer.text()), endpoint: `${own}/invoke` });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(shown));
  }

  async function take(request: IncomingMessage, body: string, own: string, response: ServerResponse) {
    const path = request.url ?? '';
    const answer = answers?.(path, body);
    if (answer === 'reset') return void response.destroy();
    if (answer) return void response.writeHead(answer.status).end(answer.body);
    const { promise: acknowledged, resolve } = deferred<void>();
    const passed = path === '/invoke' ? redirected(body, own, acknowledged) : body;
    const { status, said } = await posted(tool + path, passed);
    response.writeHead(path === '/invoke' ? await statusOf(status) : status).end(said, resolve);
  }

  /** With a callback URL here in place of the runtime's. */
  function redirected(body: string, own: string, acknowledged: Promise<void>): string {
    const came = fieldsIn(body);
    const { callback_url: url } = came;
    if (typeof url !== 'string') return body;
    const place = pending.push({ url, invocation: came, acknowledged }) - 1;
    return JSON.stringify({ ...invocation(came), callback_url: `${own}/callback/${place}` });
  }

  async function passBack(call: Pending, body: string, own: string, response: ServerResponse) {
    await call.acknowledged;
    const { url, invocation: of } = call;
    const status = await delivers({ url, invocation: of, message: fieldsIn(body) }, post, own);
    response.writeHead(status).end();
  }
}

const as = (status: number) => status;
const same = (fields: Fields) => fields;
const deliver = ({ url, message }: Delivery, send: Post) => send(url, message);
const post: Post = async (url, message) => (await posted(url, JSON.stringify(message))).status;

/** By a connection of its own: one that is kept may be broken before it is used, and would reports a loss that was none. */
export function posted(
  url: string,
  body: string,
): Promise<{ readonly status: number; readonly said: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const outgoing = send(url, { method: 'POST', headers, agent: false }, answer => {
      text(answer).then(said => resolve({ status: answer.statusCode ?? 0, said }), reject);
    });
    outgoing.once('error', reject).end(body);
  });
}

/** An operation that does all well, and everything is tried with; its only argument is a number. */
const READ = {
  name: 'read',
  description: 'Reads a line',
  inputSchema: {
    type: 'object',
    properties: { line: { type: 'integer', minimum: 1 } },
    required: ['line'],
    additionalProperties: false,
  },
  annotations: { readOnly: true },
};

const odd = (name: string) => ({
  name,
  description: 'Does what no tool may',
  inputSchema: { type: 'object' },
  annotations: { readOnly: true },
});

/** A tool that does all well, but for its odd operations, which are played as they are written: fixtures without their `match`. */
export function startWithOdd(odds: Readonly<Record<string, object>>): Promise<MockTool> {
  const fixtures = parseFixtures({
    version: 1,
    toolset: { name: 'broken', tools: [READ, ...Object.keys(odds).map(odd)] },
    fixtures: [
      { match: { operation: 'read' }, reply: { payload: 'a line' } },
      ...Object.entries(odds).map(([operation, fixture]) => ({ match: { operation }, ...fixture })),
    ],
  });
  return startMockTool({ fixtures, clock: createRunnableClock() });
}

/** The same behind a front that breaks something. */
export async function startTwisted(
  twist: Twist,
  fixture: object = { reply: { payload: 'done' } },
): Promise<Front> {
  return startFront(await startWithOdd({ odd: fixture }), twist);
}

/** A good tool with an operation that takes any text, `odd`, behind a front that breaks something. */
export async function startWithText(twist: Twist): Promise<Front> {
  const inputSchema = {
    type: 'object',
    properties: { query: { type: 'string' } },
    required: ['query'],
    additionalProperties: false,
  };
  const fixtures = parseFixtures({
    version: 1,
    toolset: { name: 'broken', tools: [READ, { ...odd('odd'), inputSchema }] },
    fixtures: ['read', 'odd'].map(operation => ({ match: { operation }, reply: { payload: operation } })),
  });
  return startFront(await startMockTool({ fixtures }), twist);
}

/** The text that a message gives to such an operation. */
export function textIn(invocation: Fields): string {
  const { query } = Object(invocation['arguments']) as Fields;
  return typeof query === 'string' ? query : '';
}
