import { describe, expect, test } from 'vitest';
import { gatherEvidence } from '../../src/check/evidence.js';
import { judgeCases } from '../../src/check/judge-cases.js';
import { readCases } from '../../src/fixtures/check-files.js';
import {
  acknowledged,
  answered,
  arrives,
  CHOICE,
  call,
  eventsOf,
  INVOCATION,
  KEY,
  lost,
  type Moment,
  OAUTH,
  resultArrives,
  VIEW,
} from '../events/build.js';

const planned = (index = 0): Moment[] => [
  { kind: 'planned', by: 'probe', plan: 'a case', case: index, checks: [], calls: [KEY] },
];

const expired = (afterMs = 5_000): Moment[] => [
  { kind: 'expired', what: 'observation', afterMs, calls: [KEY] },
];

type Parts = readonly (readonly Moment[])[];

const judged = (expected: string, ...parts: Parts) => judgedBy(`expect: ${expected}`, [parts]);

/** Judges recordings by one case. */
async function judgedBy(terms: string, recordings: readonly Parts[], isWhole = true) {
  const text = `version: 1\ncases:\n  - operation: edit_file\n    ${terms}\n`;
  const cases = await readCases({ path: 'c.yaml', text }, {});
  const evidence = recordings.map(parts => gatherEvidence({ events: eventsOf(...parts), isWhole }, 'tool'));
  const [check, ...others] = judgeCases(cases, await Promise.all(evidence));
  expect(others).toEqual([]);
  return check;
}

const diff = { type: 'diff', content: { path: 'a', patch: '--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n' } };

const shown = [{ type: 'hologram', content: 1 }, diff, { type: 'text', content: 'short' }];

describe('a result and its expectation', () => {
  test.each<[string, object]>([
    ['{ outcome: success, text: done }', { text: 'done' }],
    ['{ outcome: error }', { text: 'Error: no' }],
    ['{ outcome: denied }', { text: '{"denied":{"tool":"x"}}' }],
    ['{ text: { $regex: "^do" } }', { text: 'done' }],
    ['{ json: { count: { $gte: 1 } } }', { text: '{"count":2,"more":1}' }],
    ['{ display: { type: diff, content: { path: a } } }', { display_as: shown }],
    ['{ subscription: true }', { subscription: true }],
  ])('%s matches', async (expected, fields) => {
    const check = await judged(expected, planned(), call(), acknowledged(), resultArrives(fields));
    expect(check).toMatchObject({ place: 'c.yaml:3', operation: 'edit_file', status: 'pass' });
    expect(check?.events).toEqual([3, 4]);
  });

  test.each<[string, object, string]>([
    ['{ text: done }', { text: 'other' }, '$.text: wanted "done", got "other"'],
    ['{ outcome: success }', { text: 'Error: no' }, '$.outcome: wanted "success", got "error"'],
    ['{ json: { a: 1 } }', { text: 'plain' }, '$.json: wanted {"a":1}, got nothing'],
    ['{ display: { type: text } }', { display_as: shown }, '$.display.type: wanted "text", got "diff"'],
    [
      '{ outcome: error, text: x }',
      {},
      '$.outcome: wanted "error", got "success"; $.text: wanted "x", got "done"',
    ],
  ])('%s does not match', async (expected, fields, reason) => {
    const check = await judged(expected, planned(), call(), acknowledged(), resultArrives(fields));
    expect(check).toMatchObject({ status: 'fail', reason });
  });
});

describe('a call without a result', () => {
  test.each<[string, Moment[][], string, RegExp]>([
    ['that was never sent', [call(), acknowledged()], 'could-not-run', /not called/],
    ['that was planned for another case', [planned(1), call()], 'could-not-run', /not called/],
    ['that was refused', [planned(), call(), answered(503)], 'fail', /answered 503/],
    ['whose connection broke', [planned(), call(), lost()], 'could-not-run', /never answered/],
    ['that timed out', [planned(), call(), acknowledged(), expired()], 'fail', /within 5s/],
    ['that asks a question', [planned(), call(), acknowledged(), arrives(CHOICE)], 'could-not-run', /person/],
  ])('%s', async (_, parts, status, reason) => {
    expect(await judged('{}', ...parts)).toMatchObject({
      status,
      reason: expect.stringMatching(reason),
    });
  });
});

describe('the offers of a case', () => {
  const offered = (offer: string, ...before: Moment[][]) =>
    judgedBy(`offers: [${offer}]`, [[planned(), call(), acknowledged(), ...before]]);
  const subscribed = resultArrives({ subscription: true }, { leg: 'b' });
  const ends = resultArrives({}, { leg: 'b' });

  test.each<[string, Moment[][]]>([
    ['choice', [arrives(CHOICE), ends]],
    ['oauth', [arrives(OAUTH), ends]],
    ['subscription', [subscribed]],
    ['view', [arrives(VIEW), ends]],
    ['choice, view', [arrives(CHOICE), arrives(VIEW, { leg: 'v' }), ends]],
  ])('%s: it came', async (offer, parts) => {
    expect(await offered(offer, ...parts)).toMatchObject({ status: 'pass' });
  });

  test.each<[string, Moment[][], string]>([
    ['choice', [arrives(OAUTH), ends], 'no user_choice came, but the case expects one'],
    ['oauth', [arrives(CHOICE), ends], 'no oauth came, but the case expects one'],
    [
      'subscription',
      [arrives(VIEW), ends],
      'no tool_result with subscription: true came, but the case expects one',
    ],
    ['view', [ends], 'no view_update came, but the case expects one'],
    [
      'view',
      [arrives({ ...VIEW, content: 7 }, { status: 400 }), ends],
      'no valid view_update came, but the case expects one',
    ],
    [
      'choice',
      [arrives({ ...CHOICE, default: 7 }, { status: 400 }), ends],
      'no valid user_choice came, but the case expects one',
    ],
    [
      'oauth',
      [arrives({ ...CHOICE, default: 7 }, { status: 400 }), ends],
      'no oauth came, but the case expects one',
    ],
    ['choice, view', [arrives(CHOICE), ends], 'no view_update came, but the case expects one'],
    [
      'oauth, view',
      [ends],
      'no oauth came, but the case expects one; no view_update came, but the case expects one',
    ],
  ])('%s: it did not come', async (offer, parts, reason) => {
    expect(await offered(offer, ...parts)).toMatchObject({ status: 'fail', reason });
  });
});

describe('in an incomplete recording', () => {
  const judgedOf = (terms: string, ...parts: Parts) =>
    judgedBy(terms, [[planned(), call(), ...parts]], false);

  test.each<[string, string, Moment[][], string]>([
    [
      'a missing result',
      'expect: {}',
      [acknowledged(), expired()],
      'no result came within 5s; the recording is incomplete',
    ],
    [
      'a missing offer',
      'offers: [view]',
      [acknowledged(), resultArrives()],
      'no view_update came, but the case expects one; the recording is incomplete',
    ],
  ])('%s may have come', async (_, terms, parts, reason) => {
    expect(await judgedOf(terms, ...parts)).toMatchObject({ status: 'could-not-run', reason });
  });

  test.each<[string, Moment[][]]>([
    ['another result', [acknowledged(), resultArrives({ text: 'other' })]],
    ['a refusal', [answered(503)]],
  ])('%s came nevertheless', async (_, parts) => {
    const terms = 'expect: { text: done }\n    offers: [view]';
    expect(await judgedOf(terms, ...parts)).toMatchObject({ status: 'fail' });
  });
});

describe('a recorded call without a case index', () => {
  const judgedOf = (args: string, ...parts: Parts) =>
    judgedBy(`arguments: ${args}\n    expect: { text: done }`, [parts]);
  const same = JSON.stringify(INVOCATION.arguments);

  test('belongs to the case that sends the same', async () => {
    expect(await judgedOf(same, call(), acknowledged(), resultArrives())).toMatchObject({ status: 'pass' });
    expect(await judgedOf(same, call(), acknowledged(), resultArrives({ text: 'other' }))).toMatchObject({
      status: 'fail',
      reason: '$.text: wanted "done", got "other"',
    });
  });

  const probed = [{ ...planned()[0], case: undefined } as Moment];

  test.each([
    ['other arguments', '{ path: elsewhere }', []],
    ['a call for another case', same, planned(7)],
  ])('does not belong to the case: %s', async (_, args, plan) => {
    expect(await judgedOf(args, plan, call(), acknowledged(), resultArrives())).toMatchObject({
      status: 'could-not-run',
      reason: 'not called',
    });
  });

  test('has no case if the check ran without cases; the error tells how to fix this', async () => {
    expect(await judgedOf(same, probed, call(), acknowledged(), resultArrives())).toMatchObject({
      status: 'could-not-run',
      reason: 'this check was recorded without cases; check the tool itself with them',
    });
    expect(await judgedOf(same, probed)).toMatchObject({ reason: 'not called' });
  });
});

test('reports a result with the id of another call', async () => {
  const parts = [planned(), call(), acknowledged(), resultArrives({ id: 'other' }, { status: 404 })];
  expect(await judged('{ text: done }', ...parts)).toMatchObject({
    status: 'fail',
    reason: 'the result names another call and is ignored (TOOL-ID, RT-MATCH)',
  });
});

test('a recorded call belongs to the case that names its user; a case with headers has none', async () => {
  const text = `version: 1
cases:
  - { operation: edit_file, arguments: ${JSON.stringify(INVOCATION.arguments)} }
  - { operation: edit_file, arguments: ${JSON.stringify(INVOCATION.arguments)}, user_id: bob }
  - { operation: edit_file, arguments: ${JSON.stringify(INVOCATION.arguments)}, headers: { x-key: '1' } }
`;
  const cases = await readCases({ path: 'c.yaml', text }, null);
  const statusesFor = async (fields: object) => {
    const parts = [call({ invocation: { ...INVOCATION, ...fields } }), acknowledged(), resultArrives()];
    const evidence = await gatherEvidence({ events: eventsOf(...parts), isWhole: true }, 'tool');
    return judgeCases(cases, [evidence]).map(({ status, reason }) => `${status}: ${reason}`);
  };
  const [passed, absent] = ['pass: the result is as expected', 'could-not-run: not called'];
  const hidden =
    'could-not-run: the recording does not show the headers of calls; check the tool itself with these cases';
  expect(await statusesFor({ user_id: 'bob' })).toEqual([absent, passed, hidden]);
  expect(await statusesFor({ user_id: 'alice' })).toEqual([passed, absent, hidden]);
});

describe('several recordings', () => {
  const good = [planned(), call(), acknowledged(), resultArrives()];
  const bad = [planned(), call(), acknowledged(), resultArrives({ text: 'other' })];
  const torn = [planned(), call()];

  test.each<[string, Moment[][][], string]>([
    ['the first fails', [bad, good], 'fail'],
    ['the last fails', [good, torn, bad], 'fail'],
    ['one could not run', [good, torn], 'could-not-run'],
    ['one without the case', [[call()], good], 'pass'],
    ['both pass', [good, good], 'pass'],
  ])('the worst result counts: %s', async (_, recordings, status) => {
    expect(await judgedBy('expect: { text: done }', recordings)).toMatchObject({ status });
  });
});
