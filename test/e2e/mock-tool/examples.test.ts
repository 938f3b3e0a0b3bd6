import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type InvokeOptions, openRuntime, type PendingCall, type Runtime } from '../../peers/runtime.mjs';
import { type MockHere, startMockHere } from '../support/mock.js';
import { ROOT } from '../support/program.js';

/** Every example of the package does what its comments say, for a runtime that shares no code with us. */
const FOLDER = join(ROOT, 'fixtures/examples');

interface Step {
  readonly call: readonly [operation: string, args?: Record<string, unknown>, options?: InvokeOptions];
  /** What the runtime does while the call waits, from its first callback on. */
  readonly meanwhile?: (call: PendingCall, runtime: Runtime, mock: MockHere) => Promise<unknown>;
  /** All callbacks, in order. */
  readonly gets: readonly object[];
}

interface Example {
  readonly args?: readonly string[];
  readonly steps: readonly Step[];
  /** Rows of the protocol that it breaks on purpose. */
  readonly breaks?: readonly string[];
}

const text = (text: unknown) => ({ type: 'tool_result', text });
const step = (call: Step['call'], ...gets: object[]): Step => ({ call, gets });
const fire = ({ invocation: { id } }: PendingCall, _: Runtime, { url }: MockHere) =>
  fetch(`${url}/__mock__/fire`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id }),
  });
const visit = (decision: 'grant' | 'refuse') => async (call: PendingCall, runtime: Runtime) =>
  runtime.visitConsent(String(call.callbacks[0]?.body?.['auth_url']), decision);
const choose = (selected: number) => (call: PendingCall, runtime: Runtime) => runtime.choose(call, selected);

const REFUSED = 'Error: authorization was refused; ask for access and try again';
const QUESTION = {
  type: 'user_choice',
  prompt: 'Allow writing a.txt?',
  choices: ['Yes once', 'No'],
  default: 1,
};
const OAUTH = { type: 'oauth', auth_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\//) };
const T = { groupId: 't' };

const EXAMPLES: Readonly<Record<string, Example>> = {
  choice: {
    steps: [
      { ...step(['write_outside', { path: 'a.txt' }], QUESTION, text('written')), meanwhile: choose(0) },
      {
        ...step(['write_outside', { path: 'a.txt' }], QUESTION, text('Error: the user said no')),
        meanwhile: choose(1),
      },
    ],
  },
  delays: {
    steps: [
      step(['deploy'], text('deployed')),
      step(['ping'], text('pong')),
      step(['fetch'], text('fetched')),
    ],
  },
  display: {
    steps: [
      step(['edit_file', { path: 'a.txt' }], {
        text: 'Replaced text in a.txt',
        display_as: [
          {
            type: 'diff',
            content: {
              path: 'a.txt',
              patch: expect.stringContaining('@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n'),
            },
          },
          { type: 'text', content: 'edit_file a.txt: 1 insertion, 1 deletion' },
        ],
      }),
      step(['create_file'], {
        text: 'created',
        display_as: [
          {
            type: 'diff',
            content: { path: 'new.txt', patch: expect.stringContaining('@@ -0,0 +1,1 @@\n+hello\n') },
          },
          { type: 'text', content: 'created new.txt' },
        ],
      }),
      step(['draw'], {
        text: 'a red dot',
        content: [{ type: 'text' }, { type: 'image', mediaType: 'image/png' }],
      }),
    ],
  },
  expect: { args: ['--verify'], steps: [step(['save'], text('saved'))] },
  faults: {
    args: ['--seed', 'example'], // it is drawn by this, and by the ids of the calls
    steps: [
      step(['flaky_ack', {}, { ...T, id: 'c5' }]),
      step(['flaky_ack', {}, { ...T, id: 'c0' }], text('acknowledged in the end')),
      step(['flaky_callback', {}, T], text('ok'), text('ok')),
    ],
    breaks: ['TOOL-ACK'], // the 503
  },
  hostile: {
    steps: [
      {
        ...step(
          ['watch', {}, { ...T, id: 'w' }],
          { ...text('subscribed'), subscription: true },
          { type: 'subscription_event', text: 'too late', final: true },
          { type: 'subscription_event', text: 'after the final event' },
        ),
        meanwhile: (_, runtime, { url }) => runtime.cancel(url, 't', 'w'),
      },
      step(['no schema'], text('no ids'), { id: 'unknown' }, { type: 'bogus' }, text('done')),
    ],
    breaks: ['TOOL-NAMES', 'TOOL-DISCOVER', 'TOOL-SUB', 'TOOL-POST', 'TOOL-GROUP', 'TOOL-ID', 'TOOL-ONCE'],
  },
  matching: {
    steps: [
      step(['edit_file', { path: 'src/main.rs', lines: 900 }], text('the main file')),
      step(['edit_file', { path: 'src/a.rs', lines: 3, mode: 'fast' }], text('a small careful change')),
      step(['edit_file', { path: 'b', lines: 3, note: null }], text('a change with a note')),
      step(
        [
          'edit_file',
          { path: 'c', x: 1 },
          { userId: 'user_42', ancestors: ['thread_root'], headers: { 'x-team': 'b' } },
        ],
        text('a change by a known user'),
      ),
      step(['edit_file', { path: 'd' }], text('only a path')),
      step(['edit_file', { path: 'd', x: 1 }], text('Error: this file cannot be edited; name another one')),
      step(['move_file', {}], text('Error: this file cannot be edited; name another one')),
    ],
  },
  middleware: {
    steps: [
      step(['login'], text('{"user":"ada","session":"[redacted]","note":"use [redacted] from now on"}')),
      step(['read_log'], text('done and [31mred[0m')),
      step(['show_token'], text('the token is t-123')),
    ],
  },
  oauth: {
    steps: [
      { ...step(['open_issue'], OAUTH, text('{"issue":7}')), meanwhile: visit('grant') },
      { ...step(['open_issue'], OAUTH, text(REFUSED)), meanwhile: visit('refuse') },
      {
        ...step(
          ['read_mail', {}, { id: 'mail 1' }],
          { type: 'oauth', auth_url: 'https://auth.example/consent?for=mail 1' },
          text('no mail'),
        ),
        meanwhile: fire,
      },
    ],
  },
  outcomes: {
    steps: [
      step(['query'], text('Error: rate limit exceeded, retry in 60 s')),
      step(['transfer'], text('{"canceled":{"reason":"the policy vetoed it","by":"policy"}}')),
      step(['compute'], text('{"timeout":{"durationMs":30000}}')),
      step(['delete_all'], text('{"denied":{"tool":"delete_all","reason":"not in this environment"}}')),
      step(['vanish']),
    ],
    breaks: ['TOOL-ALWAYS'],
  },
  sequence: {
    steps: [
      step(['pay', { account: 'a', amount: 5 }, T], text('Error: rate limited, retry in 60 s')),
      step(['pay', { account: 'b', amount: 5 }, T], text('Error: rate limited, retry in 60 s')),
      step(['pay', { account: 'a', amount: 5 }, T], text('Error: rate limited, retry in 30 s')),
      step(['pay', { account: 'a', amount: 5 }, T], text('{"paid":5}')),
      step(['pay', { account: 'a', amount: 6 }, T], text('{"paid":6}')),
      ...['alpha', 'beta', 'alpha'].map(name => step(['next_server', {}, T], text(name))),
      step(['use_ticket', {}, T], text('admitted')),
      step(['use_ticket', {}, T], text(expect.stringMatching(/^Error: .*once/))),
      step(['use_ticket', {}, { groupId: 'another' }], text('admitted')),
    ],
  },
  state: {
    steps: [
      step(['ship', {}, T], text('Error: pay first')),
      step(['pay', {}, T], text('paid')),
      step(['ship', {}, { groupId: 'another' }], text('Error: pay first')),
      step(['ship', {}, T], text('on its way')),
      step(['ship', {}, T], text('Error: it was shipped already')),
      step(['open_account', { name: 'Ada' }, T], text('opened')),
    ],
  },
  subscription: {
    steps: [
      {
        ...step(
          ['watch_pull_requests', {}, { id: 'sub' }],
          { ...text('Subscribed. Subscription ID: sub'), subscription: true },
          { type: 'subscription_event', tool_call_id: 'sub', text: '{"action":"opened"}' },
          { type: 'subscription_event', text: '{"action":"labelled"}', associative: true },
          { type: 'subscription_event', text: '{"action":"merged"}', final: true },
        ),
        meanwhile: async (call, runtime, mock) => {
          await call.waitFor(({ body }) => body?.['associative'] === true);
          await fire(call, runtime, mock);
        },
      },
    ],
  },
  templates: {
    steps: [
      step(
        ['echo', { count: 3, items: ['one'] }, { id: 'c1', groupId: 't', callId: null, ancestors: ['up'] }],
        text(
          expect.stringMatching(
            /^\{"whole":\{"count":3,"items":\["one"\]\},"number":3,"first":"one","text":"call c1 of echo, the 1\. for t","missing":null,"caller":" in t, , below \[\\"up\\"\]","made":"[\da-f-]{36} at \d{4}-\S+Z","literal":"\{\{not a placeholder\}\}"\}$/,
          ),
        ),
      ),
    ],
  },
  toolset: {
    steps: [
      step(['read_file', { path: 'a.txt', lines: 3 }], text('the first 3 lines of a.txt')),
      step(['read_file', { path: 'a.txt', lines: 0 }], text(expect.stringMatching(/^Error: .*lines/))),
      step(
        ['delete_file', { path: 'a.txt' }],
        text('{"denied":{"tool":"delete_file","reason":"not in this environment"}}'),
      ),
    ],
  },
  users: {
    steps: [
      step(
        [
          'read_note',
          { owner: 'alice' },
          { userId: 'alice', headers: { authorization: 'Bearer alice-0001' } },
        ],
        text('the note of alice'),
      ),
      step(
        ['read_note', { owner: 'alice' }, { userId: 'bob' }],
        text('Error: only its owner may read a note; ask the owner'),
      ),
      step(['ship', {}, T], text('Error: pay first')),
      step(['pay', {}, T], text('paid')),
      step(['ship', {}, T], text('on its way')),
    ],
  },
  view: {
    steps: [
      step(
        ['refactor'],
        {
          type: 'view_update',
          view_type: 'diff',
          content: { patch: expect.stringContaining('-a\n+A\n b\n') },
        },
        { view_type: 'diff', content: { patch: expect.stringContaining('-a\n-b\n+A\n+B\n') } },
        { view_type: 'diff', content: {} },
        text('done'),
      ),
      step(
        ['migrate_data'],
        { type: 'view_update', view_type: 'progress', content: { done: 1, of: 2 } },
        text('done'),
      ),
    ],
  },
};

describe.concurrent('fixtures/examples', () => {
  it('have a test each', async () => {
    const names = (await readdir(FOLDER)).map(name => name.replace('.yaml', ''));
    expect(names.sort()).toEqual(Object.keys(EXAMPLES).sort());
  });

  it.each(Object.entries(EXAMPLES))('%s', async (name, { args = [], steps, breaks = [] }) => {
    await using mock = await startMockHere([join(FOLDER, `${name}.yaml`), '-q', ...args]);
    await using runtime = await openRuntime();
    const calls: PendingCall[] = [];
    for (const { call: words, meanwhile, gets } of steps) {
      const [operation, args = {}, options] = words;
      const call = await runtime.invoke(mock.url, operation, args, options);
      calls.push(call);
      if (meanwhile) await call.waitFor(() => true).then(() => meanwhile(call, runtime, mock));
      for (const expected of gets) expect((await call.next()).body).toMatchObject(expected);
    }
    const { status, stderr } = await mock.stop();
    expect(status, stderr).toBe(0);
    expect([...new Set(runtime.verdict().map(({ id }) => id))]).toEqual(breaks);
    expect(calls.map(({ callbacks }) => callbacks.length)).toEqual(steps.map(({ gets }) => gets.length));
  });
});
