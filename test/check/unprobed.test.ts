import { describe, expect, test } from 'vitest';
import { unprobed } from '../../src/check/evidence.js';
import { checkTranscript } from '../../src/check/report.js';
import type { Event } from '../../src/events/events.js';
import { eventsOf, type Moment } from '../events/build.js';
import { discovery, someCall } from './samples/parts.js';

const probe = someCall('probe', { operation: 'no_such_operation' });
const own = someCall('own');
const warned = (fields: object): Moment[] => [{ kind: 'warned', message: 'a word', ...fields }];

const left = (...story: Moment[][]): readonly Event[] => unprobed(eventsOf(...story));
const told = (...story: Moment[][]) =>
  left(...story).flatMap(event => (event.kind === 'warned' ? [event.message] : []));

describe('what no probe did', () => {
  test('has none of the calls that a probe planned, and all of the others', () => {
    const events = left(probe.plannedFor([]), probe.sent(), probe.answered(), own.sent(), own.answered());
    expect(events.map(({ kind, calls }) => `${kind} ${calls}`)).toEqual(['request own', 'response own']);
  });

  test('has what a fixture planned, and its call', () => {
    const planned: Moment[] = [{ kind: 'planned', by: 'fixture', plan: 'silence', calls: ['own'] }];
    expect(left(planned, own.sent())).toHaveLength(2);
  });

  test('has what concerns a call of each', () => {
    const both = warned({ calls: ['probe', 'own'] });
    expect(told(probe.plannedFor([]), probe.sent(), both)).toEqual(['a word']);
  });

  test('has nothing that is only about the thread of a probe, and what is about others', () => {
    const about = (thread: string) =>
      told(probe.plannedFor([]), probe.sent(), own.sent(), warned({ thread }));
    expect(about('thread_probe')).toEqual([]);
    expect(about('thread_own')).toEqual(['a word']);
  });

  test('has what is about nothing in particular, though a probe planned something', () => {
    expect(told([{ kind: 'planned', by: 'probe', plan: 'a probe', checks: [] }], warned({}))).toEqual([
      'a word',
    ]);
    expect(told(probe.plannedFor([]), warned({ calls: [] }))).toEqual(['a word']);
  });

  test('has what names its call, in the thread of a probe', () => {
    expect(
      told(probe.plannedFor([]), probe.sent(), warned({ thread: 'thread_probe', calls: ['own'] })),
    ).toEqual(['a word']);
  });
});

test('where the word of a probe is lost, the runtime is not blamed for what it did', async () => {
  const events = eventsOf(
    discovery(),
    own.plannedFor([]),
    own.sent(),
    probe.sent(),
    probe.answered({ status: 400 }),
  );
  const statusOf = async (isWhole: boolean) =>
    (await checkTranscript(events, { only: new Set(['RT-FIELDS', 'RT-OP']), isWhole })).checks.map(
      ({ id, status }) => `${id} ${status}`,
    );
  expect(await statusOf(true)).toEqual(['RT-OP fail', 'RT-FIELDS pass']);
  expect(await statusOf(false)).toEqual(['RT-OP could-not-run', 'RT-FIELDS pass']);
});

test.each([
  ['a probe', probe.plannedFor([]), 'not-applicable'],
  ['nobody', [], 'fail'],
] as const)('an unknown operation that %s planned', async (_, plan, status) => {
  const events = eventsOf(discovery(), [...plan], probe.sent(), probe.answered({ status: 400 }));
  const { checks } = await checkTranscript(events, { only: new Set(['RT-OP', 'TOOL-UNKNOWN-OP']) });
  expect(checks.map(check => `${check.id} ${check.status}`)).toEqual([
    'TOOL-UNKNOWN-OP warn',
    `RT-OP ${status}`,
  ]);
});
