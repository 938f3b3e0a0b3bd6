import { readFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { PlatformSession } from '../src/agent-session/client/platform-session.js';
import { LineReader } from '../src/check/drive/driver.js';
import { ModelContact, ScenarioRun } from '../src/check/drive/scenario-run.js';
import { ScriptedModel } from '../src/check/drive/scripted-llm.js';
import { CALLBACK_LIMITS, quota } from '../src/check/probes/quota.js';
import { contentOf } from '../src/commands/mcp-server/answer.js';
import { progressOf } from '../src/commands/mcp-server/progress.js';
import { readSource } from '../src/commands/read-source.js';
import { EventRing } from '../src/events/bounded-events.js';
import { createLog } from '../src/events/log.js';
import { compilePattern } from '../src/fixtures/pattern.js';
import { createNodeClient } from '../src/http/node-client.js';
import { ResponseReader } from '../src/http/response-reader.js';
import { SecretPaths } from '../src/http/secret-paths.js';
import { startServer } from '../src/http/server.js';
import type { OpenCall } from '../src/mock/open-call.js';
import { OpenCalls } from '../src/mock/plan.js';
import { connect } from '../src/runtime/connect.js';
import { readAcknowledgement } from '../src/runtime/wire.js';
import { systemClock } from '../src/system/clock.js';
import { BoundedOutput } from '../src/system/streams.js';
import { readJson } from '../src/util/json.js';
import { LIMITS } from '../src/util/limits.js';
import { platformWith } from './agent-session/platform/client.js';
import { startPeer } from './http/peer.js';
import { echo, hello, rawExchange, request, statusOf } from './http/raw.js';
import { callbackTo, openOutbox } from './mock/delivery/open-outbox.js';
import { INITIALIZE, rpcCall, startMcpMock } from './mock/mcp/start-mcp-mock.js';
import { replying, startMock } from './mock/start-mock.js';
import { harmless, startRawTool } from './probes/tools.js';
import { startRecording } from './record/recording.js';
import { errorOf } from './support/failing.js';
import { readSources } from './support/imports.js';
import { startServing } from './support/serving.js';

/** Folders in which bytes of peers arrive. */
const PEERS = /^(?:http|mock|runtime|record|agent-session|events|system|check\/drive)\//;

/** A constant with the name of a limit and a number, a size in bytes, or a number for a limit of reading. */
const DECLARED =
  /\bconst (\w*(?:MAX|LIMIT|REMEMBERED)\w*|\w+_BYTES)\b[^=]*=[^>]*\d|\bconst (\w+)\b.*\d \* 1024\b|\b(maxBytes): \d/;

/** Constants whose names look like those of limits. */
const OTHERS = {
  'numbers and lengths that a message shows': [
    'agent-session/platform/request-errors.ts MAX_DETAILS',
    'agent-session/platform/request-errors.ts MAX_INPUT_LENGTH',
    'agent-session/platform/session.ts MAX_UNEXPECTED',
    'check/drive/driver.ts MAX_WARNINGS',
    'check/drive/driver.ts SHOWN_BYTES',
    'check/drive/leaked-secrets.ts MAX_LEAK',
    'check/drive/leaked-secrets.ts MAX_LEAKS',
    'check/drive/run.ts MAX_PROGRAMS',
    'check/drive/scenario-run.ts MAX_LAST_LENGTH',
    'check/drive/scripted-llm.ts MAX_WARNINGS',
    'events/answer.ts MAX_URLS',
    'events/judge-callback.ts MAX_REASON',
    'events/refusal.ts MAX',
    'events/transcript-reader.ts MAX_SEPARATE',
    'mock/client-messages.ts MAX_FAULTS',
    'mock/mcp/mcp-server.ts MAX_MESSAGE',
    'mock/middleware.ts MAX_CHANGES',
    'runtime/check-call.ts MAX_NAMES',
    'runtime/mcp/capabilities.ts MAX_NAMED',
    'runtime/mcp/explain.ts MAX_MESSAGE',
    'runtime/wire.ts MAX_SAID',
    'system/start-command.ts MAX_QUOTED',
  ],
  'lengths of names': [
    'http/guard.ts MAX_NAME_LENGTH',
    'mock/repeats.ts MAX_KEY_LENGTH',
    'record/recorded-calls.ts MAX_NAME_LENGTH',
  ],
  'how we work, whatever a peer does': [
    'agent-session/client/session-client.ts MAX',
    'check/drive/scenarios/results.ts LARGE_MESSAGE',
    'check/drive/scripted-llm.ts MAX_CONTINUABLE',
    'events/shareable.ts MAX_COMPARED',
    'events/transcript-reader.ts HEAD',
    'http/body.ts FIRST_CAPACITY',
    'http/secret-paths.ts TOKEN_BYTES',
    'mock/outbox.ts NO_BYTES',
    'mock/mcp/client-of.ts MAX_TIMER_MS',
    'runtime/mcp/connection.ts MAX_TIMER_MS',
    'system/clock.ts MAX_MS',
    'system/clock.ts MAX_TICK_MS',
    'system/atomic-file.ts BUFFERED',
    'system/streams.ts CHUNK',
  ],
};

function declaredLimits(sources: ReadonlyMap<string, string>): string[] {
  return [...sources]
    .filter(([path]) => PEERS.test(path))
    .flatMap(([path, source]) => source.split('\n').map(line => ({ path, found: DECLARED.exec(line) })))
    .flatMap(({ path, found }) => (found ? [`${path} ${found[1] ?? found[2] ?? found[3]}`] : []));
}

describe('a limit that a peer can reach is in util/limits.ts', () => {
  test('and declared nowhere else', () => {
    const sources = readSources(fileURLToPath(new URL('../src', import.meta.url)));
    expect(declaredLimits(sources).sort()).toEqual(Object.values(OTHERS).flat().sort());
  });

  test.each([
    ['http/server.ts', 'const MAX_TRAILER_BYTES = 8_192;', 'MAX_TRAILER_BYTES'],
    ['http/server.ts', 'const TRAILER_BYTES = 8_192;', 'TRAILER_BYTES'],
    ['mock/plan.ts', 'const LIMITS = { calls: 50_000 };', 'LIMITS'],
    ['mock/plan.ts', 'export const MAX: Readonly<Limits> = { calls: 50_000 };', 'MAX'],
    ['runtime/wire.ts', 'const EXCERPT = { maxBytes: 4_096, partial: true };', 'maxBytes'],
    ['record/recorder.ts', 'const REMEMBERED = 50_000;', 'REMEMBERED'],
    ['events/history.ts', 'const LARGE = 2 * 1024;', 'LARGE'],
  ])('and it bites: %s with %s', (path, source, name) => {
    expect(declaredLimits(new Map([[path, source]]))).toEqual([`${path} ${name}`]);
  });

  test('a limit of what is drawn stands beside the code that draws it', () => {
    expect(declaredLimits(new Map([['render/line.ts', 'const MAX_LINE = 4_000;']]))).toEqual([]);
  });
});

test('every limit names a row of the table of attacks', () => {
  const guide = readFileSync(new URL('../src/guides/security.md', import.meta.url), 'utf8');
  for (const { threat } of Object.values(LIMITS)) expect(guide).toContain(`\n| ${threat} | `);
});

const HOST = 'Host: 127.0.0.1';

/** The head of a POST with a body of so many bytes. */
const headOf = (path: string, bytes: number, ...headers: string[]) =>
  request(`POST ${path}`, HOST, 'Content-Type: application/json', `Content-Length: ${bytes}`, ...headers);

/** A server with the limits of all our servers. */
const plainServer = (more = {}) => startServer({ routes: [echo, hello], maxBody: 1_000, ...more });

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Bytes in pieces of a MiB. */
async function* bytes(count: number): AsyncGenerator<Uint8Array> {
  const piece = new Uint8Array(1024 * 1024);
  for (let left = count; left > 0; left -= piece.length) yield piece.subarray(0, left);
}

/** Counts posts until the quota is used up. */
function quotaCount(limits: (typeof CALLBACK_LIMITS)['call'], size: number): number {
  const isWithin = quota(
    createLog(() => 0),
    limits,
    'in all',
  );
  let count = 0;
  while (isWithin(size)) count++;
  return count;
}

const openCall = () => ({}) as OpenCall;

/** What one more than each limit does; or the test elsewhere that sends it. */
const PROOFS = {
  connections: async () => {
    await using server = await plainServer();
    const sockets = Array.from({ length: LIMITS.connections.value }, () =>
      connectSocket(server.port, '127.0.0.1').on('error', () => {}),
    );
    await Promise.all(sockets.map(socket => new Promise(resolve => socket.once('connect', resolve))));
    const closed = new Promise(resolve => sockets[0]?.once('close', resolve));
    expect(statusOf(await rawExchange(server.port, request('GET /hello', HOST)))).toBe(200);
    await closed;
    expect(sockets.filter(({ destroyed }) => destroyed)).toHaveLength(1);
    for (const socket of sockets) socket.destroy();
  },
  headersMs: async () => {
    await using server = await plainServer();
    const ms = await timeOf(async () =>
      expect(statusOf(await rawExchange(server.port, 'GET /hello HTTP/1.1\r\n'))).toBe(408),
    );
    expect(ms).toBeGreaterThan(LIMITS.headersMs.value);
  },
  requestMs: async () => {
    await using server = await plainServer();
    const ms = await timeOf(async () =>
      expect(statusOf(await rawExchange(server.port, headOf('/echo', 2), '{'))).toBe(408),
    );
    expect(ms).toBeGreaterThan(LIMITS.requestMs.value);
  },
  refusedMs: async () => {
    await using server = await plainServer();
    const ms = await timeOf(async () =>
      expect(statusOf(await rawExchange(server.port, headOf('/echo', 1_001)))).toBe(413),
    );
    expect(ms).toBeGreaterThan(LIMITS.refusedMs.value * 0.9);
  },
  refusedBytes: async () => {
    await using server = await plainServer({
      limits: { lingerMs: 600_000, requestMs: 600_000, headersMs: 600_000 },
    });
    const { value } = LIMITS.refusedBytes;
    await rawExchange(server.port, headOf('/echo', 2 * value), Buffer.alloc(value + 1));
  },
  headerBytes: async () => {
    await using server = await plainServer();
    const long = 'y'.repeat(LIMITS.headerBytes.value);
    expect(statusOf(await rawExchange(server.port, request('GET /hello', HOST, `X: ${long}`)))).toBe(431);
  },
  invocationBytes: async () => {
    await using mock = await startMock(replying({ payload: 'x' }));
    const head = headOf('/invoke', LIMITS.invocationBytes.value + 1);
    expect(statusOf(await rawExchange(mock.tool.port, head))).toBe(413);
  },
  messageBytes: async () => {
    const statuses: number[] = [];
    await using tool = await startRawTool({
      async invoked(invocation, response) {
        response.end();
        const { port, pathname } = new URL(String(invocation['callback_url']));
        const head = headOf(pathname, LIMITS.messageBytes.value + 1);
        statuses.push(statusOf(await rawExchange(Number(port), head)));
      },
    });
    await using server = await connect(tool.url);
    await server.invoke('op', {}, { timeoutMs: 3_000 });
    expect(statuses).toEqual([413]);
  },
  sessionBodyBytes: async () => {
    await using it = await platformWith();
    const key = `Authorization: Bearer ${it.platform.key}`;
    const head = headOf('/api/v2/sessions', LIMITS.sessionBodyBytes.value + 1, key);
    expect(statusOf(await rawExchange(it.platform.port, head))).toBe(413);
  },
  attachedBytes: async () => {
    await using it = await platformWith();
    const send = (bytes: number) => {
      const files = [{ name: 'a.txt', source: 'A'.repeat((bytes * 4) / 3) }];
      return it.ask('POST', `/${it.platform.session}/messages`, { message: 'x', files });
    };
    expect(await send(LIMITS.attachedBytes.value + 2)).toMatchObject({ status: 422 });
    expect(await send(LIMITS.attachedBytes.value - 1)).toMatchObject({ status: 202 });
  },
  webhooks: async () => {
    await using it = await platformWith();
    const create = () => it.api('POST', '/webhooks', { url: it.platform.url });
    for (let count = 0; count < LIMITS.webhooks.value; count++) await create();
    expect(await create()).toMatchObject({ status: 429 });
  },
  webhookDeliveries: 'agent-session/platform/webhooks.test.ts',
  webhookFailures: 'agent-session/platform/webhooks.test.ts',
  webhookMs: 'agent-session/platform/webhooks.test.ts',
  modelBodyBytes: async () => {
    const ignore = () => {};
    const observer = {
      onLine: ignore,
      onWarning: ignore,
      onRequest: ignore,
      onUnserved: ignore,
      onServed: ignore,
    };
    const model = await ScriptedModel.start('anthropic', observer);
    const { port } = new URL(model.env['ANTHROPIC_BASE_URL'] ?? '');
    const head = headOf('/v1/messages', LIMITS.modelBodyBytes.value + 1);
    expect(statusOf(await rawExchange(Number(port), head))).toBe(413);
    await model.close();
  },
  keptNames: './commands/completion.test.ts',
  toolsetBytes: async () => {
    const description = 'x'.repeat(LIMITS.toolsetBytes.value);
    await using tool = await startRawTool({ toolset: url => ({ ...harmless(url), description }) });
    expect(await errorOf(() => connect(tool.url))).toMatchObject({
      message: expect.stringMatching(/large/),
    });
  },
  acknowledgementBytes: async () => {
    const { value } = LIMITS.acknowledgementBytes;
    const reader = new ResponseReader({ method: 'POST', url: '', read: readAcknowledgement });
    reader.head(200, {});
    reader.chunk(new Uint8Array(value + 1));
    expect((await reader.answer).body).toHaveLength(value);
  },
  forwardedBytes: async () => {
    const { value } = LIMITS.forwardedBytes;
    await using tool = await startRawTool({
      invoked: (_, response) => void response.end('x'.repeat(value + 1)),
    });
    await using recording = await startRecording(tool.url);
    const callback_url = 'http://127.0.0.1:9/x';
    const body = JSON.stringify({ operation: 'op', id: 'i', group_id: 'g', callback_url, arguments: {} });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${recording.url}/invoke`, { method: 'POST', headers, body });
    expect(await answer.text()).toHaveLength(value);
  },
  excerptBytes: 'runtime/wire.test.ts',
  errorBytes: async () => {
    const { value } = LIMITS.errorBytes;
    const error = 'x'.repeat(value + 1);
    await using platform = await startServing(response => response.writeHead(400).end(error));
    const log = createLog(() => 0);
    const sizes: unknown[] = [];
    log.subscribe(event => event.kind === 'response' && sizes.push(event.body?.size));
    const client = createNodeClient();
    const { signal } = new AbortController();
    const about = { log, client, clock: systemClock, url: platform.url, thread: 's', key: 'k', signal };
    const session = new PlatformSession(about);
    await errorOf(() => session.poll(0));
    await session.post(new Uint8Array(), [], 1);
    await client.close();
    expect(sizes).toEqual([value, value]);

    const unwanted = new ResponseReader({ method: 'GET', url: '', read: 'nothing' });
    let isClosed = false;
    unwanted.opened(() => {
      isClosed = true;
    });
    unwanted.head(200, {});
    unwanted.chunk(new Uint8Array(value));
    expect(isClosed).toBe(false);
    unwanted.chunk(new Uint8Array(1));
    expect(isClosed).toBe(true);
    unwanted.end();
  },
  urlChars: 'record/passing.test.ts',
  jsonDepth: () => {
    const { value } = LIMITS.jsonDepth;
    const nested = (depth: number) => readJson(Buffer.from('['.repeat(depth) + ']'.repeat(depth))).ok;
    expect([nested(value), nested(value + 1)]).toEqual([true, false]);
  },
  compileMs: 'json-schema/check-value.test.ts',
  validateMs: 'json-schema/check-value.test.ts',
  patternMs: async () => {
    const matches = compilePattern({ $regex: '^(a|a)*$' });
    expect(matches(`${'a'.repeat(40)}b`)).not.toEqual([]);
  },
  exampleMs: 'probes/permission.test.ts',
  examplesMs: 'probes/permission.test.ts',
  discoveryMs: async () => {
    await using silent = await startPeer(() => {});
    const ms = await timeOf(() => errorOf(() => connect(silent.url)));
    expect(ms).toBeGreaterThan(LIMITS.discoveryMs.value * 0.9);
  },
  retryAfterMs: 'agent-session/answering/client.test.ts',
  openCalls: () => {
    const { value } = LIMITS.openCalls;
    const calls = new OpenCalls();
    for (let count = 0; count < value; count++) calls.admit(openCall(), new Uint8Array());
    expect(calls.admit(openCall(), new Uint8Array())).toBe(`too many open calls: ${value}`);
  },
  openCallBytes: () => {
    const calls = new OpenCalls();
    calls.admit(openCall(), Buffer.alloc(LIMITS.openCallBytes.value));
    expect(calls.problem(Buffer.alloc(1))).toMatch(/^the open calls are too large/);
  },
  pendingCallbacks: async () => {
    await using runtime = await startPeer(() => {});
    const { value } = LIMITS.pendingCallbacks;
    await using outbox = openOutbox({ queueLimit: value, perOrigin: 1 });
    for (let count = 0; count < value; count++) void outbox.outbox.post(callbackTo(runtime.url));
    expect(await outbox.outbox.post(callbackTo(runtime.url))).toBe(false);
    expect(outbox.outbox.pending).toBe(value);
  },
  mcpSessions: async () => {
    await using mock = await startMcpMock(replying({ payload: 'x' }));
    const begin = async () => (await mock.post(INITIALIZE)).headers.get('mcp-session-id') ?? '';
    const ids: string[] = [];
    while (ids.length <= LIMITS.mcpSessions.value) ids.push(await begin());
    const statusOfCall = async (id = '') => (await mock.post(rpcCall(1), { 'mcp-session-id': id })).status;
    expect([await statusOfCall(ids[0]), await statusOfCall(ids[1])]).toEqual([404, 200]);
  },
  sessions: async () => {
    await using it = await platformWith();
    const create = () => it.ask('POST', '', { agent: 'x' });
    for (let count = 1; count < LIMITS.sessions.value; count++) await create();
    expect(await create()).toMatchObject({ status: 429 });
  },
  sessionBytes: 'agent-session/platform/platform.test.ts',
  smallResultBytes: 'agent-session/platform/platform.test.ts',
  eventsKept: () => {
    const ring = new EventRing();
    for (let seq = 0; seq <= LIMITS.eventsKept.value; seq++)
      ring.push({ kind: 'warned', message: '', seq, at: 0 });
    expect([ring.kept.length, ring.forgotten]).toEqual([LIMITS.eventsKept.value, 1]);
  },
  keptBytes: 'events/history.test.ts',
  callsKept: 'events/bounded-events.test.ts',
  eventsOfCall: 'events/exchange.test.ts',
  callsRemembered: () => {
    const { value } = LIMITS.callsRemembered;
    const paths = new SecretPaths<number>('/callback/', value);
    const first = paths.issue(0).path;
    for (let count = 1; count <= 2 * value; count++) paths.issue(count);
    expect(paths.resolve(first)).toBeUndefined();
  },
  openQuestions: 'events/exchange.test.ts',
  pages: 'runtime/mcp/connection.test.ts',
  mcpTools: 'runtime/mcp/connection.test.ts',
  mcpRounds: 'runtime/mcp/connection.test.ts',
  outputChars: () => {
    const written: string[] = [];
    const output = new BoundedOutput(new Writable({ write: chunk => void written.push(String(chunk)) }));
    output.news(() => ['x'.repeat(LIMITS.outputChars.value + 1)]);
    output.news(() => ['dropped']);
    expect(written.join('')).not.toContain('dropped');
  },
  startLineChars: 'system/start-command.test.ts',
  driverLineBytes: () => {
    const reader = new LineReader({ onLine: () => {}, onWarning: () => {} });
    const line = Buffer.alloc(LIMITS.driverLineBytes.value + 1, 'x');
    expect(reader.add(line)).toBe('wrote a line of more than 8 MiB');
  },
  driverBytes: () => {
    const reader = new LineReader({ onLine: () => {}, onWarning: () => {} });
    const piece = Buffer.from(`${' '.repeat(64 * 1024 - 1)}\n`);
    const pieces = LIMITS.driverBytes.value / piece.length;
    for (let count = 0; count < pieces; count++) expect(reader.add(piece)).toBeNull();
    expect(reader.add(piece)).toBe('wrote more than 64 MiB');
  },
  driverLines: 'check/drive/scripted-llm-driver.test.ts',
  runtimeLogBytes: 'check/drive/log-file.test.ts',
  scenarioRequests: () => {
    const log = createLog(() => 0);
    const kinds: string[] = [];
    log.subscribe(({ kind }) => kinds.push(kind));
    const run = new ScenarioRun({ log, clock: systemClock, windowMs: 0, contact: new ModelContact() });
    for (let count = 0; count < LIMITS.scenarioRequests.value; count++) run.receiveModelRequest();
    expect(kinds).toEqual([]);
    run.receiveModelRequest();
    expect(kinds).toEqual(['driver', 'warned']);
  },
  checkedCallbacksOfCall: () =>
    expect(quotaCount(CALLBACK_LIMITS.call, 0)).toBe(LIMITS.checkedCallbacksOfCall.value),
  checkedCallbacks: () => expect(quotaCount(CALLBACK_LIMITS.run, 0)).toBe(LIMITS.checkedCallbacks.value),
  checkedRefusals: () => expect(quotaCount(CALLBACK_LIMITS.refused, 0)).toBe(LIMITS.checkedRefusals.value),
  checkedCallBytes: () => expect(quotaCount(CALLBACK_LIMITS.call, LIMITS.checkedCallBytes.value)).toBe(1),
  checkedBytes: () => expect(quotaCount(CALLBACK_LIMITS.run, LIMITS.checkedBytes.value)).toBe(1),
  agentAnswerChars() {
    const { value } = LIMITS.agentAnswerChars;
    const sizeOf = (data: unknown) => JSON.stringify(data).length;
    const whole = { text: 'x'.repeat(value - sizeOf({ text: '' })) };
    expect(contentOf(whole)).toBe(whole);
    const [long, many] = [{ text: `${whole.text}x` }, { list: Array(value).fill({ text: 'x' }) }];
    for (const data of [long, many]) expect(sizeOf(contentOf(data))).toBeLessThanOrEqual(value);
    expect(
      contentOf(Object.fromEntries(Array.from({ length: value }, (_, index) => [index, '']))),
    ).toBeNull();
  },
  agentProgress() {
    const sent: unknown[] = [];
    const notify = async (notification: unknown) => void sent.push(notification);
    const report = progressOf({ _meta: { progressToken: 1 }, notify });
    for (let count = 0; count <= LIMITS.agentProgress.value; count++) report?.('x');
    expect(sent).toHaveLength(LIMITS.agentProgress.value);
  },
  pasteChars: 'tui/keyboard.test.tsx',
  fileBytes: async () => {
    const { value } = LIMITS.fileBytes;
    expect(await errorOf(() => readSource('-', bytes(value + 1), value))).toMatchObject({
      message: 'cannot read -: it is larger than 64 MiB',
    });
  },
} satisfies Record<keyof typeof LIMITS, (() => unknown) | string>;

const proofs = Object.entries<(() => unknown) | string>(PROOFS);

/** They send very many requests: while another proof computes, the server would close connections that are kept. */
const IN_TURN = ['sessions', 'mcpSessions', 'webhooks', 'attachedBytes', 'forwardedBytes'];
const isInTurn = ({ name }: { readonly name: string }) => IN_TURN.includes(name);

const here = proofs.flatMap(([name, proof]) => (typeof proof === 'function' ? [{ name, proof }] : []));
const elsewhere = proofs.flatMap(([name, file]) => (typeof file === 'string' ? [{ name, file }] : []));

describe('one more than the limit', () => {
  test.concurrent.each(here.filter(each => !isInTurn(each)))(
    '$name',
    async ({ proof }) => void (await proof()),
  );

  test.each(here.filter(isInTurn))('$name', async ({ proof }) => void (await proof()));

  test.each(elsewhere)('$name is sent by $file', ({ name, file }) => {
    expect(readFileSync(new URL(file, import.meta.url), 'utf8')).toMatch(
      new RegExp(`LIMITS\\.${name}\\b|\\b${name}\\b[^;]*} = LIMITS`),
    );
  });
});
