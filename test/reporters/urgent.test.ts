import { describe, expect, test } from 'vitest';
import type { Page } from '../../src/render/outputs/reporter.js';
import {
  acknowledged,
  arrives,
  at,
  CHOICE,
  call,
  canceled,
  chose,
  eventsOf,
  type Moment,
  OAUTH,
  refused,
  resultArrives,
} from '../events/build.js';
import { event, selected } from '../render/flows.js';
import { report } from './report.js';

/** The output while the events happen; nothing is reported at the end. */
async function outputOf(parts: Moment[][], how: { quiet?: boolean } = {}): Promise<string[]> {
  const make = ({ urgent }: Page) => ({ event: urgent, async end() {} });
  const events = eventsOf(at(0, call()), at(3, acknowledged()), ...parts);
  const { stderr } = await report(make, events, how);
  return stderr.split('\n').slice(0, -1);
}

describe('TOOL-CHOICE: reports a failed selection immediately', () => {
  const asked = () => [arrives(CHOICE), chose(1)];
  const ASKED = 'the tool asks: Where to?';

  test.each([
    [null, 'not answered (ECONNREFUSED)'],
    [404, 'answered 404 instead of 200'],
  ])('%j', async (status, why) => {
    expect(await outputOf([...asked(), selected(status)])).toEqual([
      ASKED,
      `warning: the choice's response_url was ${why} [TOOL-CHOICE]`,
    ]);
  });
});

test('TOOL-SUB: reports an event after the end', async () => {
  const parts = [resultArrives({ subscription: true }), event('e1', { final: true }), event('e2')];
  expect(await outputOf(parts)).toEqual([
    'warning: a subscription_event was discarded with 404: the subscription has ended [TOOL-SUB]',
  ]);
});

describe('a result that arrives too late', () => {
  test('after a cancel is reported without a warning', async () => {
    expect(await outputOf([canceled(), resultArrives()])).toEqual([
      'a tool_result came after the call was canceled; it was ignored',
    ]);
    expect(await outputOf([canceled(), resultArrives()], { quiet: true })).toEqual([]);
  });

  test('is reported the first, tenth and hundredth time', async () => {
    const flood = Array.from({ length: 150 }, (_, index) =>
      arrives({ ...OAUTH, auth_url: `https://a.example/${index}` }, { leg: `l${index}` }),
    );
    expect(await outputOf([canceled(), ...flood])).toHaveLength(3);
  });
});

test('reports the first, tenth and hundredth of equal warnings', async () => {
  const flood = Array.from({ length: 150 }, (_, index) => event(`e${index}`));
  expect(await outputOf(flood)).toHaveLength(3);
});

test('row 15: after ten different texts, reports the first, tenth and hundredth of the rest', async () => {
  const flood = Array.from({ length: 500 }, (_, index) =>
    resultArrives({ id: `forged ${index}` }, { leg: `f${index}` }),
  );
  expect(await outputOf(flood)).toHaveLength(10 + 3);
});

test('-q: reports only required user actions', async () => {
  const parts = [
    arrives({ ...OAUTH, auth_url: 'https://a.example/?b=1' }),
    refused('wrong-address', 404),
    event('e1'),
  ];
  expect(await outputOf(parts, { quiet: true })).toEqual([
    'visit this URL to continue: https://a.example/?b=1',
  ]);
});
