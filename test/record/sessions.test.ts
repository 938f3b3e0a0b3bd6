import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../e2e/support/eventually.js';
import { type Peer, type PeerName, startPeer } from '../e2e/support/peers.js';
import { openRuntime, type PendingCall, type Runtime } from '../peers/runtime.mjs';
import { historyOf, startRecording } from './recording.js';

/** Sessions between a runtime and tools that share no code with us: the runtime sees the same with a recorder between them. */
const tools = new Map<PeerName, Peer>();

beforeAll(async () => {
  for (const name of ['plain', 'stdlib', 'odd'] as const) tools.set(name, await startPeer(name));
});
afterAll(() => Promise.all([...tools.values()].map(tool => tool.stop())));

const toolOf = (name: PeerName) => tools.get(name)?.url ?? '';

const isFinal = ({ body }: { body: Record<string, unknown> | null }) => body?.['final'] === true;

/** What a runtime saw, without what is drawn anew each time. */
function seen({ ack, callbacks, selections, invocation: { id, group_id } }: PendingCall) {
  const common = (text: string) =>
    text
      .replaceAll(id, 'ID')
      .replaceAll(group_id, 'GROUP')
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+[^"]*/g, 'URL');
  return {
    ack: { status: ack.status, body: ack.body },
    callbacks: callbacks.map(({ raw, beforeAck, headers }) => [
      common(raw),
      beforeAck,
      headers['content-type'],
    ]),
    selections: selections.map(({ selected, status }) => [selected, status]),
  };
}

type Flow = (runtime: Runtime, base: string) => Promise<PendingCall>;

const call =
  (operation: string, args: Record<string, unknown> = {}): Flow =>
  async (runtime, base) => {
    const pending = await runtime.invoke(base, operation, args, {
      callId: null,
      ancestors: ['root', 'parent'],
    });
    await pending.result();
    return pending;
  };

const FLOWS: readonly (readonly [name: string, tool: PeerName, flow: Flow])[] = [
  ['a result', 'plain', call('edit_file', { path: 'a.txt' })],
  ['a result of another tool', 'stdlib', call('echo', { text: 'ünï\u0000\ud83d\ude00' })],
  ['a large result', 'plain', call('big', { bytes: 3_000_000, kind: 'mixed' })],
  ['an error', 'plain', call('fail')],
  ['views', 'plain', call('paint', { afterwards: 'clear' })],
  ['a view of another tool', 'stdlib', call('view')],
  ['ancestors', 'stdlib', call('ancestors')],
  [
    'a choice',
    'stdlib',
    async (runtime, base) => {
      const pending = await runtime.invoke(base, 'ask', {});
      await pending.waitFor('user_choice');
      await runtime.choose(pending, 1);
      await pending.result();
      return pending;
    },
  ],
  [
    'a choice that is invalid',
    'stdlib',
    async (runtime, base) => {
      const pending = await runtime.invoke(base, 'ask', {});
      await pending.waitFor('user_choice');
      await runtime.choose(pending, 'staging');
      await runtime.choose(pending, 7);
      await pending.result();
      return pending;
    },
  ],
  [
    'consent',
    'plain',
    async (runtime, base) => {
      const pending = await runtime.invoke(base, 'sign_in', {});
      const { body } = await pending.waitFor('oauth');
      await runtime.visitConsent(String(body?.['auth_url']), 'grant');
      await pending.result();
      return pending;
    },
  ],
  [
    'a subscription',
    'plain',
    async (runtime, base) => {
      const pending = await runtime.invoke(base, 'watch', { events: 5, every_ms: 1, associative: 'all' });
      await pending.waitFor(isFinal);
      return pending;
    },
  ],
  [
    'a cancelled call',
    'stdlib',
    async (runtime, base) => {
      const pending = await runtime.invoke(base, 'work', { ms: 60_000, when_cancelled: 'say_so' });
      const { group_id, id } = pending.invocation;
      expect(await runtime.cancel(base, group_id, id)).toMatchObject({ status: 200 });
      await pending.result();
      return pending;
    },
  ],
  [
    'a closed thread',
    'plain',
    async (runtime, base) => {
      const pending = await runtime.invoke(base, 'sign_in', {});
      await pending.waitFor('oauth');
      expect(await runtime.closeThread(base, pending.invocation.group_id)).toMatchObject({ status: 200 });
      await pending.result();
      return pending;
    },
  ],
  [
    'callbacks that are answered 500 and broken off',
    'plain',
    async (runtime, base) => {
      const pending = await runtime.invoke(
        base,
        'edit_file',
        { path: 'a' },
        { answers: [500, 'reset', 200] },
      );
      await pending.waitFor(({ status }) => status === 200);
      return pending;
    },
  ],
  [
    'a callback that is refused',
    'plain',
    async (runtime, base) => {
      const pending = await runtime.invoke(base, 'edit_file', { path: 'a' }, { answers: [404] });
      await pending.waitFor(({ status }) => status === 404);
      return pending;
    },
  ],
  [
    'odd callback URLs',
    'plain',
    async (runtime, base) => {
      const callbackPath = '/own/%2F/?a=b&token=%20x';
      const pending = await runtime.invoke(base, 'echo', { text: 'hi' }, { callbackPath });
      await pending.result();
      return pending;
    },
  ],
];

describe.concurrent('a runtime receives the same with and without a recorder', () => {
  test.each(FLOWS)('%s', async (_, tool, flow) => {
    await using runtime = await openRuntime();
    await using recording = await startRecording(toolOf(tool));
    const without = await flow(runtime, toolOf(tool));
    const within = await flow(runtime, recording.url);
    expect(seen(within)).toEqual(seen(without));
    expect(within.verdict()).toEqual(without.verdict());
    expect(recording.warnings).toEqual([]);
  });

  test.each(['in_turn', 'pipelined'])('many events %s, in order', async way => {
    await using runtime = await openRuntime();
    await using recording = await startRecording(toolOf('plain'));
    const pending = await runtime.invoke(recording.url, 'watch', { events: 60, every_ms: 0, way });
    await pending.waitFor(isFinal);
    const numbers = Array.from({ length: 60 }, (_, index) => `Event ${index + 1} of 60`);
    expect(pending.callbacks.map(({ body }) => body?.['text'])).toEqual(['Watching', ...numbers]);
  });

  test('many concurrent calls of several threads', async () => {
    await using runtime = await openRuntime();
    await using recording = await startRecording(toolOf('plain'));
    const calls = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        runtime.invoke(recording.url, 'echo', { text: `text ${index}` }, { groupId: `thread_${index % 4}` }),
      ),
    );
    const texts = await Promise.all(calls.map(async each => (await each.result()).body?.['text']));
    expect(texts).toEqual(calls.map((_, index) => `text ${index}`));
    expect(runtime.verdict()).toEqual([]);
  });
});

/** Answers and deliveries that are odd, or that the protocol forbids: a recorder does not fix them. */
const ODD = [
  ...['before_ack', 'ack_201', 'ack_302', 'ack_500', 'ack_reset', 'ack_gzip', 'delivered_twice'],
  ...['malformed_json', 'bom', 'invalid_utf8', 'event_after_final', 'forged_group', 'wrong_call_id'],
  ...['unknown_callback_type', 'lone_surrogate', 'proto_keys', 'deep_json', 'empty_text'],
];
/** Of these none comes. */
const WITHOUT_CALLBACK = new Set(['ack_302', 'ack_500', 'ack_reset']);

describe.concurrent('unusual messages are passed on unchanged', () => {
  const meet =
    (operation: string): Flow =>
    async (runtime, base) => {
      const pending = await runtime.invoke(base, operation, {});
      if (!WITHOUT_CALLBACK.has(operation)) await pending.next();
      return pending;
    };

  test.each(ODD)('%s', async operation => {
    await using runtime = await openRuntime();
    await using recording = await startRecording(toolOf('odd'));
    const without = seen(await meet(operation)(runtime, toolOf('odd')));
    const within = seen(await meet(operation)(runtime, recording.url));
    expect(within.ack.status).toBe(without.ack.status);
    expect(within.callbacks[0]).toEqual(without.callbacks[0]);
  });

  test('an acknowledgement whose body never ends is still an acknowledgement', async () => {
    await using runtime = await openRuntime();
    await using recording = await startRecording(toolOf('odd'));
    const pending = await runtime.invoke(recording.url, 'ack_body_endless', {});
    expect(pending.ack.status).toBe(200);
    expect((await pending.result()).body?.['text']).toBe('ack_body_endless done');
  });

  test('a missing acknowledgement is not sent by the recorder', async () => {
    await using runtime = await openRuntime();
    await using recording = await startRecording(toolOf('odd'));
    const pending = await runtime.invoke(recording.url, 'ack_hang', {}, { ackWithinMs: 200 });
    expect(pending.ack.status).toBeNull();
    await eventually('the runtime is cut off', () =>
      recording.roundTrips('runtime-side').includes('runtime invocation ECONNRESET'),
    );
    expect(recording.roundTrips('tool-side')).toContain('runtime invocation ABORTED');
  });

  test('row 9: a response_url at a link-local address is unchanged', async () => {
    await using runtime = await openRuntime();
    await using recording = await startRecording(toolOf('odd'));
    const pending = await runtime.invoke(recording.url, 'choice_link_local', {});
    expect((await pending.waitFor('user_choice')).raw).toContain('169.254.169.254');
    expect(recording.warnings).toEqual([
      'the response_url is too long, or on another machine than the tool: its answer is not recorded',
    ]);
  });
});

describe.concurrent('what is logged', () => {
  test('each message twice, in order', async () => {
    await using runtime = await openRuntime();
    await using recording = await startRecording(toolOf('stdlib'));
    const pending = await runtime.invoke(recording.url, 'ask', {});
    await pending.waitFor('user_choice');
    await runtime.choose(pending, 0);
    await pending.result();
    await eventually('the result is passed on', () => recording.roundTrips('tool-side').length === 5);
    const expected = [
      'runtime discovery 200',
      'runtime invocation 200',
      'tool callback 200',
      'runtime choice 200',
      'tool callback 200',
    ];
    expect(recording.roundTrips('runtime-side').toSorted()).toEqual(expected.toSorted());
    expect(recording.roundTrips('tool-side').toSorted()).toEqual(expected.toSorted());
    expect(recording.events.find(({ kind }) => kind === 'loaded')).toMatchObject({ base: toolOf('stdlib') });
  });

  test.each(['runtime-side', 'tool-side'] as const)('a complete exchange on the %s', async hop => {
    await using runtime = await openRuntime();
    await using recording = await startRecording(toolOf('plain'));
    const id = 'call_1';
    const pending = await runtime.invoke(recording.url, 'edit_file', { path: 'a.txt' }, { id });
    await pending.result();
    await eventually('the result', () => historyOf(hop, recording.events).first?.settled?.by === 'result');
    const { exchanges } = historyOf(hop, recording.events);
    expect([...exchanges.keys()]).toEqual([id]);
    expect(exchanges.get(id)?.arrivals.map(({ verdict }) => verdict.kind)).toEqual(['settles']);
  });

  test('an id that another thread uses is logged as another call', async () => {
    await using runtime = await openRuntime();
    await using recording = await startRecording(toolOf('plain'));
    for (const groupId of ['one', 'two']) {
      const pending = await runtime.invoke(recording.url, 'echo', { text: groupId }, { id: 'same', groupId });
      await pending.result();
    }
    expect([...historyOf('tool-side', recording.events).exchanges.keys()]).toEqual(['same', 'recorded-1']);
  });
});
