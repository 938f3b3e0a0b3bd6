import type { Event } from '../../src/events/events.js';
import { parseFixtures } from '../../src/fixtures/read-fixtures.js';
import type { HttpRequest } from '../../src/http/client.js';
import { Incoming } from '../../src/http/route.js';
import { Conversation } from '../../src/mock/conversation.js';
import { Intake } from '../../src/mock/intake.js';
import { Mock } from '../../src/mock/mock.js';
import { type MockTool, type MockToolOptions, startMockTool } from '../../src/mock/mock-tool.js';
import { OpenCall } from '../../src/mock/open-call.js';
import { OpenCalls } from '../../src/mock/plan.js';
import { RapQuestions, RapWire } from '../../src/mock/rap-wire.js';
import { prepareToolset } from '../../src/mock/responder.js';
import { type InvokeOptions, openRuntime, type PendingCall, type Runtime } from '../peers/runtime.mjs';
import { type FakeClock, fakeClock } from '../support/fake-clock.js';
import { openOutbox } from './delivery/open-outbox.js';

export type FileText = Readonly<Record<string, unknown>>;

/** A fixture file of one operation, `op`, that takes anything and is answered by `reply`. */
export function replying(reply: unknown, more: FileText = {}): FileText {
  return { fixtures: [{ id: 'one', match: { operation: 'op' }, reply, ...more }] };
}

/** A fixture file with one operation per reply: `op0`, `op1`, … */
export function replyingEach(replies: readonly unknown[], more: FileText = {}): FileText {
  const fixtures = replies.map((reply, n) => ({ match: { operation: `op${n}` }, reply, ...more }));
  return { fixtures };
}

export interface StartedMock extends AsyncDisposable {
  readonly tool: MockTool;
  readonly runtime: Runtime;
  /** Calls `op` as `i` in the thread `g`, by default. */
  invoke(
    options?: InvokeOptions & { operation?: string; args?: Record<string, unknown> },
  ): Promise<PendingCall>;
  /** Events of one kind so far. */
  eventsOfKind<K extends Event['kind']>(kind: K): Extract<Event, { kind: K }>[];
  /** Resolves with the next event that fits, or one that came already. */
  until(fits: (event: Event) => boolean): Promise<Event>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** A mock that serves a fixture file (or handlers), and a runtime that calls it. Nothing is waited for at its end. */
export async function startMock(
  file: FileText | null,
  options: Partial<MockToolOptions> = {},
): Promise<StartedMock> {
  const fixtures = file ? { fixtures: parseFixtures({ version: 1, ...file }) } : {};
  const tool = await startMockTool({ ...fixtures, drainMs: 0, ...options });
  const runtime = await openRuntime();
  return {
    tool,
    runtime,
    invoke: ({ operation = 'op', args = {}, ...more } = {}) =>
      runtime.invoke(tool.url, operation, args, { id: 'i', groupId: 'g', ...more }),
    eventsOfKind: kind => tool.events.filter((event): event is never => event.kind === kind),
    until: fits => eventOf(tool, fits),
    post: (path, body, headers = {}) =>
      fetch(tool.url + path, {
        method: 'POST',
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      }),
    async [Symbol.asyncDispose]() {
      runtime.close();
      await tool.close();
    },
  };
}

function eventOf(tool: MockTool, fits: (event: Event) => boolean): Promise<Event> {
  const there = tool.events.find(fits);
  if (there) return Promise.resolve(there);
  return new Promise(resolve => {
    const stop = tool.subscribe(event => {
      if (!fits(event)) return;
      stop();
      resolve(event);
    });
  });
}

/** An intake without a server, whose callbacks are noted and never sent. */
export async function intakeWith(
  file: FileText | null,
  { openCalls = new OpenCalls(), remembered = 5_000 }: { openCalls?: OpenCalls; remembered?: number } = {},
) {
  const sent: unknown[] = [];
  const send = async ({ body = new Uint8Array() }: HttpRequest) => {
    sent.push(JSON.parse(Buffer.from(body).toString()).text);
    return { status: 200, headers: {}, body: new Uint8Array() };
  };
  const fixtures = file ? { fixtures: parseFixtures({ version: 1, ...file }) } : {};
  const checkers = file ? await prepareToolset(fixtures.fixtures) : new Map();
  const mock = new Mock({ ...fixtures, seed: 'seed', clock: fakeClock() }, checkers, openCalls);
  const { log, pauses } = mock;
  const { outbox, events } = openOutbox({ client: { send, close: async () => {} }, log });
  const questions = new RapQuestions();
  const callback_url = 'http://127.0.0.1:9/';
  const addressee = { callback_url, group_id: 'g', id: 'i' };
  const call = new OpenCall({ key: 'k', addressee, base: 'http://127.0.0.1' }, log, pauses);
  const conversation = new Conversation(call, new RapWire(call, outbox, questions, () => []));
  const intake = new Intake(mock, outbox, questions, { remembered });
  const incoming = new Incoming({ method: 'POST', url: '/invoke', headers: { host: '127.0.0.1' } });
  /** Returns the status. */
  const receive = async (fields: object) => {
    const invocation = { operation: 'op', arguments: {}, ...addressee, ...fields };
    const reply = await intake.route.handle(incoming, Buffer.from(JSON.stringify(invocation)));
    if (reply === 'reset') return reply;
    reply.sent?.();
    return reply.status;
  };
  return { intake, questions, conversation, openCalls, log, events, sent, receive };
}

export interface WatchedClock extends FakeClock {
  /** The next wait in ms; each is returned once, in order. */
  nextWait(): Promise<number>;
}

/** A fake clock that tells when it is waited for, so that a test knows when to let time pass. */
export function watchedClock(): WatchedClock {
  const clock = fakeClock();
  const waits: number[] = [];
  const askers: ((ms: number) => void)[] = [];
  return {
    ...clock,
    after(ms, callback) {
      const cancel = clock.after(ms, callback);
      const asker = askers.shift();
      if (asker) asker(ms);
      else waits.push(ms);
      return cancel;
    },
    nextWait() {
      const [first] = waits.splice(0, 1);
      return first === undefined ? new Promise(resolve => askers.push(resolve)) : Promise.resolve(first);
    },
  };
}
