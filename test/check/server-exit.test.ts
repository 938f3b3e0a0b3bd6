import { expect, test } from 'vitest';
import { gatherEvidence } from '../../src/check/evidence.js';
import { checkTranscript } from '../../src/check/judge.js';
import type { RequirementId } from '../../src/protocol/requirements.js';
import { at, eventsOf, type Moment } from '../events/build.js';
import { discovery, notice, someCall } from './samples/parts.js';

const a = someCall('a');

const b = someCall('b', { operation: 'deploy' });

const exited = (...calls: string[]): Moment[] => [
  {
    kind: 'exited',
    how: 'exited with status 1',
    message: 'the server exited with status 1',
    output: ['boom'],
    ...(calls.length > 0 && { calls }),
  },
];

const cut = { status: null, code: 'ECONNRESET', phase: 'send' };

const refused = { status: null, code: 'ECONNREFUSED', phase: 'connect' };

async function statusesOf(parts: readonly (readonly Moment[])[], ...ids: RequirementId[]) {
  const { checks } = await checkTranscript(eventsOf(...parts), { only: new Set(ids) });
  return Object.fromEntries(
    checks.map(({ id, status, calls = [] }) => [id, [status, ...calls.map(each => each.id)]]),
  );
}

test('the only call of a recording is accused: acknowledged, TOOL-ALWAYS fails, otherwise TOOL-ACK', async () => {
  expect(await statusesOf([discovery(), a.begun(), exited('a')], 'TOOL-ACK', 'TOOL-ALWAYS')).toEqual({
    'TOOL-ACK': ['pass'],
    'TOOL-ALWAYS': ['fail', 'a'],
  });
  expect(await statusesOf([discovery(), a.begun(cut), exited('a')], 'TOOL-ACK', 'TOOL-ALWAYS')).toEqual({
    'TOOL-ACK': ['fail', 'a'],
    'TOOL-ALWAYS': ['not-applicable'],
  });
});

test.each<[string, Moment[][], string]>([
  [
    'a call that was acknowledged, and one that was cut off',
    [a.begun(), b.begun(cut), exited('a', 'b')],
    'b',
  ],
  [
    'a call that was cut off, and one that was acknowledged',
    [a.sent(), b.begun(), a.answered(cut), exited('a', 'b')],
    'a',
  ],
  [
    'a call that had its result, and one that was cut off',
    [a.begun(), a.result(), b.begun(cut), exited('b')],
    'b',
  ],
])('of several calls of a recording, none is accused: %s', async (_, parts, id) => {
  const statuses = await statusesOf([discovery(), ...parts], 'TOOL-ACK', 'TOOL-ALWAYS', 'RT-RETRY');
  expect(statuses['TOOL-ACK']).toEqual(['could-not-run', id]);
  expect(statuses['TOOL-ALWAYS']?.[0]).not.toBe('fail');
  expect(statuses['RT-RETRY']).toEqual(['not-applicable']);
});

/** A check that starts a new server for each of `again`. */
const isolated = (...again: Moment[][][]): Moment[][] =>
  again.flatMap(parts => [start(), discovery(), ...parts]);

const start = (): Moment[] => [
  { kind: 'planned', by: 'probe', plan: 'discovery', checks: ['TOOL-DISCOVER'] },
];

const planned = (calls: string[], newServer?: true): Moment[] => [
  { kind: 'planned', by: 'probe', plan: 'valid-call', checks: [], calls, ...(newServer && { newServer }) },
];

const sound = someCall('b alone', { operation: 'deploy' });

const deadly = someCall('a alone');

const first = [planned(['a']), a.begun(), planned(['b']), b.begun(cut), exited('a', 'b')];

test('a check accuses the call that ended a new server alone, not one that a new server survived', async () => {
  const parts = isolated(
    first,
    [planned(['b alone'], true), sound.begun(), at(3_000, sound.cancelled())],
    [planned(['a alone'], true), deadly.begun(), exited('a alone')],
  );
  expect(await statusesOf(parts, 'TOOL-ACK', 'TOOL-ALWAYS', 'TOOL-CANCEL')).toEqual({
    'TOOL-ACK': ['could-not-run', 'b'],
    'TOOL-ALWAYS': ['fail', 'a alone'],
    'TOOL-CANCEL': ['not-applicable'],
  });
});

test('a check accuses nothing if no new server exits, nor for a server that ends before its only call', async () => {
  const survived = [planned(['a alone'], true), deadly.begun(), deadly.result()];
  for (const parts of [isolated(first, survived), isolated(first, survived, [exited()])])
    expect(await statusesOf(parts, 'TOOL-ACK', 'TOOL-ALWAYS')).toEqual({
      'TOOL-ACK': ['could-not-run', 'b'],
      'TOOL-ALWAYS': ['could-not-run', 'a'],
    });
});

test('a notice that got no answer because the server exited is no violation', async () => {
  const parts = isolated([
    planned(['a']),
    a.begun(),
    ...[notice('close', cut, { thread: 'thread_x' })],
    exited('a'),
    notice('close', refused),
  ]);
  expect(await statusesOf(parts, 'TOOL-CLOSE')).toEqual({ 'TOOL-CLOSE': ['not-applicable'] });
});

test('a probe of several calls that ends a new server accuses none of them', async () => {
  const probe = (calls?: string[]): Moment[] => [
    {
      kind: 'planned',
      by: 'probe',
      plan: 'hostile-texts',
      checks: [],
      newServer: true,
      ...(calls && { calls }),
    },
  ];
  const one = someCall('one');
  const two = someCall('two');
  const again = [
    probe(),
    probe(['one']),
    one.begun(),
    one.result(),
    probe(['two']),
    two.begun(),
    exited('two'),
  ];
  expect(await statusesOf(isolated(first, again), 'TOOL-ALWAYS')).toEqual({
    'TOOL-ALWAYS': ['could-not-run', 'a', 'two'],
  });
});

test('a notice that ends a new server is named, not a call that was open there', async () => {
  const cancel = notice('cancel', cut, { body: { thread_id: 'x', tool_call_id: 'x' } });
  const probe: Moment[] = [
    { kind: 'planned', by: 'probe', plan: 'cancel', checks: ['TOOL-CANCEL'], newServer: true },
  ];
  const again = [start(), discovery(), probe, cancel, b.begun(), exited('b')];
  const events = eventsOf(start(), discovery(), planned(['a']), a.begun(), exited('a'), ...again);
  const { exit } = await gatherEvidence({ events }, 'tool');
  expect(exit?.message).toMatch(/^the server exited with status 1 after POST \/\S+$/);
});

test.each<[string, Moment[][], Record<string, string[]>]>([
  [
    'one that it acknowledged, and one whose connection broke with it',
    [planned(['a']), a.begun(), planned(['b']), b.begun(cut)],
    { 'TOOL-ACK': ['could-not-run', 'b'], 'TOOL-ALWAYS': ['fail', 'a'] },
  ],
  [
    'one that it acknowledged, and one whose callback was refused',
    [planned(['b']), b.begun(), b.result({}, { status: 503 }), planned(['a']), a.begun()],
    { 'TOOL-ALWAYS': ['fail', 'a'] },
  ],
  [
    'none that it acknowledged',
    [planned(['b']), b.begun(cut)],
    { 'TOOL-ACK': ['fail', 'b'], 'TOOL-ALWAYS': ['not-applicable'] },
  ],
])(
  'a tool that the check did not start, and that is gone with calls in progress: %s',
  async (_, parts, all) => {
    const gone = [...parts, discovery('', refused), at(5_000, a.waited())];
    const statuses = await statusesOf(
      [start(), discovery(), ...gone],
      'TOOL-ACK',
      'TOOL-ALWAYS',
      'TOOL-RETRY',
    );
    expect(statuses).toMatchObject(all);
    expect(['pass', 'not-applicable', 'could-not-run']).toContain(statuses['TOOL-RETRY']?.[0]);
  },
);

test('in a recording, a tool that answers again is not gone, nor one without a call in progress', async () => {
  for (const parts of [
    [a.begun(), discovery('', refused), discovery(), a.result()],
    [a.begun(), a.result(), discovery('', refused)],
  ])
    expect((await statusesOf([discovery(), ...parts], 'TOOL-ALWAYS'))['TOOL-ALWAYS']).toEqual(['pass']);
});

test.each<[string, Moment[][], Record<string, string[]>]>([
  [
    'that timed out',
    [a.begun(), b.begun(), at(5_000, a.waited()), b.waited()],
    { 'TOOL-ACK': ['pass'], 'TOOL-ALWAYS': ['fail', 'a'] },
  ],
  [
    'whose connections broke',
    [a.sent(), b.begun(cut), a.answered(cut)],
    { 'TOOL-ACK': ['fail', 'a', 'b'], 'TOOL-ALWAYS': ['not-applicable'] },
  ],
])('a recording of a tool that is gone fails for several calls %s', async (_, parts, all) => {
  const gone = [discovery(), ...parts, notice('close', refused)];
  expect(await statusesOf(gone, 'TOOL-ACK', 'TOOL-ALWAYS')).toEqual(all);
});

test('a tool that is gone is not accused for calls that neither timed out nor broke', async () => {
  const gone = [discovery(), a.begun(), b.begun(), notice('close', refused)];
  const { 'TOOL-ALWAYS': [status] = [] } = await statusesOf(gone, 'TOOL-ALWAYS');
  expect(status).toBe('could-not-run');
});
