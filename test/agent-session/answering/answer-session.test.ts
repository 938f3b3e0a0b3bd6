import { afterAll, describe, expect, it } from 'vitest';
import {
  type AnswerSessionOptions,
  answerSession,
  type SessionEnd,
} from '../../../src/agent-session/client/answer-session.js';
import { answerWith } from '../../../src/agent-session/client/answerer.js';
import type { Event } from '../../../src/events/events.js';
import { type PlatformPeer, type Script, startPlatform } from '../../e2e/support/session-platform.js';
import { textOfEvents } from '../../support/events-text.js';

const KEY = 'sk-very-secret-key';

const opened: PlatformPeer[] = [];
afterAll(() => Promise.all(opened.map(platform => platform.stop())));

const call = (id: string | null, args: unknown = {}, tool_name = 'lookup_order') => ({ tool_name, args, id });

type ToolFunctions = Parameters<typeof answerWith>[0];

interface Answered {
  readonly end: SessionEnd;
  readonly events: readonly Event[];
  /** What the tools were called with. */
  readonly asked: readonly unknown[];
  readonly platform: PlatformPeer;
}

const shipped: ToolFunctions = { lookup_order: ({ order_id }) => `${order_id ?? 'it'} shipped` };

async function open(script: Script): Promise<PlatformPeer> {
  const platform = await startPlatform({ key: KEY, ...script });
  opened.push(platform);
  return platform;
}

async function play(
  script: Script,
  functions?: ToolFunctions,
  options?: Partial<AnswerSessionOptions>,
): Promise<Answered> {
  return playOn(await open(script), functions, options);
}

async function playOn(
  platform: PlatformPeer,
  functions: ToolFunctions = shipped,
  options: Partial<AnswerSessionOptions> = {},
): Promise<Answered> {
  const answerer = answerWith(functions);
  const asked: unknown[] = [];
  const events: Event[] = [];
  const end = await answerSession(platform.url, 'session_1', {
    key: KEY,
    answerer: {
      answer(pending, context) {
        asked.push(pending.args);
        return answerer.answer(pending, context);
      },
    },
    onEvent: event => events.push(event),
    ...options,
  });
  return { end, events, asked, platform };
}

const bodies = async ({ platform }: Answered) => (await platform.posts()).map(({ body }) => body);
const statuses = async ({ platform }: Answered) => (await platform.posts()).map(({ status }) => status);

describe.concurrent('a session', () => {
  it('joined late, is read to its end first; calls that are no longer pending are not answered', async () => {
    const old = {
      type: 'ActiveStateChangeEvent',
      data: { state: 'awaiting_tool_results', pending_tool_calls: [call('old')] },
    };
    const events = [{ type: 'PolicyEvent', data: 1 }, old, 'no event', { type: 'AnswerEvent' }];
    const done = await play({ events, page: 1, rounds: [{ calls: [call('new')] }] });
    expect(await bodies(done)).toMatchObject([{ tool_req: { id: 'new' } }]);
  });
});

describe.concurrent('a platform that echoes the key', () => {
  const leaking = { name: KEY, deep: [KEY] };

  it('the log does not contain the key, but the platform gets its call unchanged', async () => {
    const calls = [call(KEY, leaking), call(`${KEY}!`, leaking), { id: [KEY] }];
    const done = await play({
      echoes: true,
      rounds: [{ calls: calls.slice(0, 2) }],
      end: { answer: leaking, error: KEY },
    });
    expect(textOfEvents(done.events) + JSON.stringify(done.end)).not.toContain(KEY);
    expect(await bodies(done)).toMatchObject([{ results: [{ tool_req: calls[0] }, { tool_req: calls[1] }] }]);
  });

  it.each([
    ['as the whole response', KEY],
    ['at the end of an excerpt', `{"status": ${KEY}${' '.repeat(99)}}`],
  ])('%s is not quoted in the error', async (_, raw) => {
    const error = await play({ gets: [{ status: 200, raw }] }).catch(thrown => thrown);
    expect(error).toMatchObject({ code: 'bad-answer' });
    expect(String([error.message, error.hint, ...error.faults])).not.toContain(KEY.slice(0, 6));
  });

  it('a key that the cut would split is not quoted in part', async () => {
    const refused = { status: 403, body: { detail: `${'x'.repeat(293)}${KEY}` } };
    const error = await play({ gets: [refused] }).catch(thrown => thrown);
    expect(error).toMatchObject({ code: 'platform-refused' });
    expect(error.message).not.toContain(KEY.slice(0, 4));
  });
});

describe.concurrent('each call runs once and is answered once', () => {
  const rounds = [{ calls: [call('a'), call('b')] }, { calls: [call('c')] }];

  it('if the POST is lost and the session is paused for a while', async () => {
    const posts = { 1: { drop: true, statuses: ['paused', 'paused'] } };
    const done = await play({ rounds, posts }, shipped, { waitMs: 5_000 });
    expect(done.end.status).toBe('completed');
    const [first, second] = await bodies(done);
    expect(second).toEqual(first);
    expect(done.asked).toHaveLength(3);
  });

  it('if answers are refused while the session is not waiting, they are posted once it waits', async () => {
    const refusal = { status: 422, body: { detail: 'Not now.' }, statuses: ['paused', 'paused'] };
    const done = await play({ rounds, posts: { 1: refusal } }, shipped, { waitMs: 5_000 });
    expect(await statuses(done)).toEqual([422, 202, 202]);
    expect(done.end.status).toBe('completed');
    expect(done.asked).toHaveLength(3);
  });
});

describe.concurrent('a result that the platform refuses', () => {
  const rounds = [{ calls: [call('small'), call('big', { big: true })] }];
  const sized = (bytes: number): ToolFunctions => ({
    lookup_order: ({ big }) => (big ? 'x'.repeat(bytes) : 'ok'),
  });

  it('as an error too: the session ends once the others are posted', async () => {
    const invalid = { status: 422, body: { detail: 'Never.' } };
    const posts = { 1: invalid, 2: invalid, 3: invalid };
    const platform = await open({ rounds, posts });
    await expect(playOn(platform, sized(1))).rejects.toMatchObject({
      code: 'platform-refused',
      message: expect.stringMatching(/422.*Never/),
    });
    expect((await platform.session()).settled).toMatchObject([
      { kind: 'tool_result', tool_req: { id: 'big' } },
    ]);
  });
});

describe.concurrent('what ends the session', () => {
  it('an address that is never allowed, requested once', async () => {
    const answered = answerSession('http://169.254.169.254', 's', { key: KEY, answerer: answerWith({}) });
    await expect(answered).rejects.toMatchObject({ code: 'refused-address' });
  });

  it('a user interrupt, also while a tool works: nothing more is posted', async () => {
    const abort = new AbortController();
    let isAborted = false;
    const works = (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise(resolve => {
        signal.addEventListener('abort', () => {
          isAborted = true;
          resolve('too late');
        });
        abort.abort();
      });
    const rounds = [{ calls: [call('a', {}, 'works')] }];
    const platform = await open({ rounds });
    await expect(playOn(platform, { works }, { signal: abort.signal })).rejects.toMatchObject({
      code: 'interrupted',
    });
    expect(isAborted).toBe(true);
    expect(await platform.posts()).toEqual([]);
  });
});
