import { describe, expect, test } from 'vitest';
import { gatherEvidence } from '../../src/check/evidence.js';
import { checksOf } from '../../src/check/judge.js';
import { reasonOf } from '../../src/check/reason.js';
import { met, violated } from '../../src/check/rule.js';
import type { RequirementId } from '../../src/protocol/requirements.js';
import { at, eventsOf, type Moment } from '../events/build.js';
import { notice, someCall } from './samples/parts.js';
import { cannot, scenario } from './samples/runtime/driven.js';

async function judged(id: RequirementId, parts: readonly (readonly Moment[])[], isWhole = true) {
  const evidence = await gatherEvidence({ events: eventsOf(...parts), isWhole }, 'tool');
  const [check] = checksOf('tool', [evidence], { only: new Set([id]) });
  return check ?? expect.unreachable();
}

describe('the reason', () => {
  const faults = (count: number) =>
    Array.from({ length: count }, (_, index) => `$.tools[${index}]: is wrong`);

  test('is one line for one kind of violation', () => {
    expect(reasonOf([met([]), met([])])).toEqual({ reason: 'seen 2 times' });
    expect(reasonOf([violated('answered 500', [])])).toEqual({ reason: 'answered 500' });
    expect(reasonOf([violated('no toolset', [], { faults: faults(1) })])).toEqual({
      reason: 'no toolset: $.tools[0]: is wrong',
    });
  });

  test('of many errors has three in a sentence, and ten on separate lines', () => {
    const { reason, reasonLines } = reasonOf([
      violated('no toolset', [], { faults: faults(12) }),
      violated('no toolset', [], { faults: faults(2) }),
    ]);
    expect(reason).toBe(
      'no toolset: $.tools[0]: is wrong; $.tools[1]: is wrong; $.tools[2]: is wrong; and 9 more',
    );
    expect(reasonLines).toEqual(['no toolset:', ...faults(10).map(fault => `  ${fault}`), '  and 2 more']);
  });

  test('of a remark is the remark alone', async () => {
    const [a, b] = [someCall('a'), someCall('b')];
    const { status, reason } = await judged('TOOL-ASYNC', [
      ...[a.begun({ body: 'OK' }), a.result()],
      ...[b.begun(), b.result()],
    ]);
    expect([status, reason]).toEqual(['pass', 'the acknowledgement has a body, which no runtime reads']);
  });

  test('of a scenario that the driver cannot play is the missing ability, in any other scenario too', async () => {
    const played = [scenario('RT-TEXT'), [...scenario('RT-OAUTH'), ...cannot('consent')]];
    const evidences = await Promise.all(
      played.map(events => gatherEvidence({ events: eventsOf(events) }, 'runtime')),
    );
    const reason = 'the driver does not support consent';
    const only = new Set(['RT-OAUTH'] as const);
    expect(checksOf('runtime', evidences, { only })).toMatchObject([{ status: 'not-applicable', reason }]);
  });

  test('of many kinds has three', () => {
    const many = ['a', 'b', 'c', 'd', 'e'].map(what => violated(what, []));
    expect(reasonOf(many)).toEqual({
      reason: 'a; b; c; and 2 more',
      reasonLines: ['a', 'b', 'c', 'and 2 more'],
    });
  });

  test('of many wrong ids has three, and each kind once', async () => {
    const many = Array.from({ length: 50 }, (_, index) => someCall(`call-${index}`));
    const { reason } = await judged('TOOL-ID', [
      ...many.map((call, index) => [...call.begun(), ...call.result({ id: `job-${index}` })]),
      ...many.slice(0, 4).map(call => call.asks({ id: 'job-0' })),
    ]);
    expect(reason).toBe(
      'a tool_result has another id: "job-0", "job-1", "job-2" and 47 more; a user_choice has another id: "job-0"',
    );
  });
});

describe('the calls of a finding', () => {
  const [a, b] = [someCall('a'), someCall('b', { operation: 'list' })];
  const begun = [a.begun(), b.begun()];
  const malformed = (body: string | object) => [a.sent(body), a.answered({ status: 500 })];
  const refused = { status: null, code: 'ECONNREFUSED', phase: 'connect' } as const;

  test.each<[string, RequirementId, Moment[][], object[] | undefined]>([
    [
      'are in the order of the violations',
      'TOOL-ID',
      [...begun, b.result({ id: 'x' }), a.result({ id: 'y' })],
      [
        { operation: 'edit_file', id: 'a' },
        { operation: 'list', id: 'b' },
      ],
    ],
    [
      'are those that violated the rule',
      'TOOL-ID',
      [...begun, b.result({ id: 'x' }), a.result()],
      [{ operation: 'list', id: 'b' }],
    ],
    ['are absent if the row passes', 'TOOL-ID', [...begun, a.result(), b.result()], undefined],
    ['do not include a notice', 'TOOL-CLOSE', [...begun, notice('close', { status: 404 })], undefined],
    [
      'have the ids of a malformed invocation',
      'TOOL-MALFORMED',
      malformed({ operation: 5, id: 'only' }),
      [{ operation: null, id: 'only' }],
    ],
    ['are absent without an id', 'TOOL-MALFORMED', malformed('['), undefined],
    [
      'do not include calls after the tool crashed',
      'TOOL-ALWAYS',
      [a.begun(), b.begun(refused), at(60_000, a.waited())],
      [{ operation: 'edit_file', id: 'a' }],
    ],
  ])('%s', async (_, id, parts, calls) => {
    expect((await judged(id, parts)).calls).toEqual(calls);
  });

  test.each([true, false])(
    'are those that crashed the tool, with all proof (complete: %j)',
    async isWhole => {
      const parts = [
        ...[a.sent({ id: 'a' }), a.answered({ status: null, code: 'ECONNRESET' })],
        ...[b.begun(refused), b.waited()],
      ];
      const { calls, events } = await judged('TOOL-MALFORMED', parts, isWhole);
      expect([calls, events]).toEqual([[{ operation: null, id: 'a' }], [0, 1, 2, 3]]);
    },
  );
});
