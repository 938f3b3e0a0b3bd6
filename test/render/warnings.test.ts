import { describe, expect, test } from 'vitest';
import { mergeWarnings, warningsOf } from '../../src/render/warnings.js';
import {
  acknowledged,
  arrives,
  at,
  call,
  canceled,
  closed,
  historyOf,
  KEY,
  type Moment,
  refused,
  resultArrives,
  untrackedRequest,
  VIEW,
} from '../events/build.js';
import { event } from './flows.js';

function warningTexts(...parts: Moment[][]): string[] {
  const history = historyOf(...parts);
  return warningsOf(history, history.first).map(({ id, message }) => (id ? `${id}: ${message}` : message));
}
const acknowledgedAt = (milliseconds: number) => [at(0, call()), at(milliseconds, acknowledged())];
const started = () => acknowledgedAt(3);

test('reports callbacks that are no longer kept', () => {
  const flood = Array.from({ length: 2_100 }, (_, index) => arrives(VIEW, { leg: `${index}` }));
  const history = historyOf(...started(), ...flood);
  const { forgotten } = history.first ?? {};
  expect(warningTexts(...started(), ...flood)).toEqual([
    `${forgotten} callbacks are not kept: too many, or too large`,
  ]);
});

describe('TOOL-ACK', () => {
  test.each([
    [1_000, []],
    [1_001, ['TOOL-ACK: the acknowledgement took 1s, more than 1000ms']],
    [1_500, ['TOOL-ACK: the acknowledgement took 1.5s, more than 1000ms']],
  ])('after %i ms', (milliseconds, warnings) => {
    expect(warningTexts(...acknowledgedAt(milliseconds))).toEqual(warnings);
  });

  test('the result arrived first', () => {
    const parts = [at(0, call()), at(2, resultArrives()), at(103, acknowledged())];
    expect(warningTexts(...parts)).toEqual([
      'TOOL-ACK: the result arrived before the acknowledgement, by more than 100ms',
    ]);
  });
});

describe('callbacks', () => {
  test('row 3: a callback that the guard refused', () => {
    expect(warningTexts(...started(), refused('an Origin header', 403, { to: KEY }))).toEqual([
      'TOOL-POST: a callback was rejected with 403: an Origin header',
    ]);
  });

  test('does not warn of a result after a cancel, which it may have crossed; its step reports it', () => {
    expect(warningTexts(...started(), canceled(), resultArrives())).toEqual([]);
  });
});

describe('TOOL-SUB: events after the end of a subscription', () => {
  const opened = () => resultArrives({ subscription: true });

  test('after the last event', () => {
    expect(warningTexts(...started(), opened(), event('e1', { final: true }), event('e2'))).toEqual([
      'TOOL-SUB: a subscription_event was discarded with 404: the subscription has ended',
    ]);
  });

  test('does not warn of an event after a cancel, which it may have crossed; its step reports it', () => {
    expect(warningTexts(...started(), opened(), canceled(), event('e2'))).toEqual([]);
  });

  test('warns of a subscription without --follow that was closed with its thread', () => {
    expect(warningTexts(...started(), opened(), event('e1'), closed())).toEqual([
      'the tool opened a subscription, but its events were not awaited (it was closed with its thread); use --follow to receive them',
    ]);
  });
});

describe('counted', () => {
  test('merges equal warnings at the place of the first', () => {
    const [a, b] = [{ id: 'RT-DUP', message: 'a' } as const, { message: 'b' }];
    expect(mergeWarnings([a, b, a, a])).toEqual([{ id: 'RT-DUP', message: 'a (3 times)' }, b]);
    expect(mergeWarnings([])).toEqual([]);
  });

  test('row 15: keeps only the first of many texts about one requirement, and all without a requirement', () => {
    const flood = Array.from(
      { length: 500 },
      (_, index) => ({ id: 'RT-MATCH', message: `${index}` }) as const,
    );
    const others = Array.from({ length: 30 }, (_, index) => ({ message: `other ${index}` }));
    expect(mergeWarnings([...flood, ...others])).toEqual([
      ...flood.slice(0, 20),
      ...others,
      { id: 'RT-MATCH', message: '… and 480 more of this kind' },
    ]);
  });
});

describe('row 1: posts without a call', () => {
  test('are counted', () => {
    expect(warningTexts(refused('wrong-address', 404))).toEqual([
      expect.stringMatching(/^TOOL-OPAQUE: 1 post to a wrong callback URL: /),
    ]);
    expect(warningTexts(refused('wrong-address', 404), refused('wrong-address', 404, { leg: 's2' }))).toEqual(
      [expect.stringMatching(/^TOOL-OPAQUE: 2 posts to a wrong callback URL: /)],
    );
  });

  test('are counted even if they are not kept', () => {
    const flood = Array.from({ length: 2_500 }, (_, index) =>
      refused('wrong-address', 404, { leg: `${index}` }),
    );
    expect(warningTexts(...flood)).toEqual([
      expect.stringMatching(/^TOOL-OPAQUE: 2500 posts to a wrong callback URL: /),
    ]);
    const broken = ['b1', 'b2'].flatMap(leg => [
      ...refused('', 0, { leg }).slice(0, 1),
      { kind: 'broken', leg, phase: 'receive', code: 'ECONNRESET' } as const,
    ]);
    expect(warningTexts(broken, ...flood).at(-1)).toBe('2 more requests were dropped (limit reached)');
  });

  test('do not include refused invocations', () => {
    const invocations = refused('not JSON', 415).map(each => ({ ...each, purpose: 'invocation' }) as Moment);
    expect(warningTexts(invocations)).toEqual([]);
  });

  test('report each reason for a refusal once', () => {
    const foreign = (leg: string) => refused('the Host is foreign', 403, { leg });
    expect(warningTexts(foreign('s1'), foreign('s2'), refused('too large', 413, { leg: 's3' }))).toEqual([
      'a request to the callback listener was refused with 403: the Host is foreign',
      'a request to the callback listener was refused with 413: too large',
    ]);
  });
});

describe('RT-NOTIFY: notices not answered with 200', () => {
  test.each([
    ['close', 404, 'TOOL-CLOSE: /close_thread was answered 404 instead of 200'],
    ['close', null, 'TOOL-CLOSE: /close_thread was not answered (ECONNREFUSED)'],
    ['cancel', 500, 'TOOL-CANCEL: /cancel_tool_call was answered 500 instead of 200'],
    ['choice', 201, "TOOL-CHOICE: the choice's response_url was answered 201 instead of 200"],
  ] as const)('%s, %j', (purpose, status, warning) => {
    expect(warningTexts(untrackedRequest(purpose, status))).toEqual([warning]);
  });

  test.each(['discovery', 'close', 'cancel', 'choice'] as const)('%s, answered 200 or not yet', purpose => {
    expect(warningTexts(untrackedRequest(purpose))).toEqual([]);
    expect(warningTexts(untrackedRequest(purpose).slice(0, 1))).toEqual([]);
  });
});

describe('RT-SANITIZE: reports unusual texts without changing them', () => {
  test.each([
    ['plain\ttext\n', []],
    ['\u001b[31m', ['RT-SANITIZE']],
    ['\ud800', ['TOOL-POST', 'RT-SANITIZE', 'RT-SANITIZE']],
  ])('%j: %j', (text, ids) => {
    const warnings = warningTexts(...started(), resultArrives({ text }));
    expect(warnings.map(warning => warning.split(':')[0])).toEqual(ids);
  });
});
