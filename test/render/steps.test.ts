import { describe, expect, test } from 'vitest';
import { History } from '../../src/events/history.js';
import type { Step } from '../../src/render/step.js';
import { stepLine } from '../../src/render/step.js';
import { StepLog } from '../../src/render/step-log.js';
import {
  acknowledged,
  arrives,
  at,
  CHOICE,
  call,
  canceled,
  chose,
  closed,
  ENDPOINT,
  eventsOf,
  INVOCATION,
  KEY,
  loaded,
  type Moment,
  OAUTH,
  RESULT,
  refused,
  resultArrives,
  timedOut,
  untrackedRequest,
} from '../events/build.js';
import { words } from '../support/words.js';
import { event, selected } from './flows.js';

function stepsOf(...parts: Moment[][]): readonly Step[] {
  const history = new History();
  const log = new StepLog(history);
  for (const each of eventsOf(...parts)) {
    history.apply(each);
    log.add(each);
  }
  return log.latest(Number.POSITIVE_INFINITY);
}

const linesOf = (...parts: Moment[][]) => stepsOf(...parts).map(step => words(stepLine(step)));
const SENT = `✓ sent edit_file to ${ENDPOINT}`;
const started = () => [at(0, call()), at(3, acknowledged())];

/** Without what every call begins with. */
const conversation = (...parts: Moment[][]) => linesOf(...started(), ...parts).slice(2);

describe('RT-CHOICE: who picked what, and whether the selection was sent', () => {
  const asked = () => at(9, arrives(CHOICE));
  const ASKED = '• the tool asks: Where to?  0 staging (default)  1 production';

  test.each([
    ['person', 'you picked 0 staging (the default)'],
    ['policy', 'the policy picked 0 staging (the default)'],
  ] as const)('by a %s', (by, line) => {
    const decided: Moment[] = [{ kind: 'decided', what: 'choice', by, value: 0, calls: [KEY] }];
    expect(conversation(asked(), at(10, decided))).toEqual([ASKED, `✓ ${line}`, '… waiting for the result']);
  });

  test.each([
    [null, 'ECONNREFUSED'],
    [500, 'answered 500 instead of 200'],
  ])(
    'reports a failed selection (%j): a pending call stays pending, and an ended call is not called pending',
    (status, why) => {
      const lost = `✗ could not send the selection: ${why} after 0ms`;
      const parts = [asked(), at(10, chose(1)), at(12, selected(status))];
      expect(conversation(...parts, at(20, timedOut(20)))).toContain(`${lost}; the call stays pending`);
      expect(
        conversation(...parts.slice(0, 2), at(11, resultArrives({}, { leg: 'b2' })), ...parts.slice(2)),
      ).toContain(lost);
    },
  );

  test('assigns a selection to the question that it names', () => {
    const again = arrives({ ...CHOICE, prompt: 'Sure?', choices: ['no', 'yes'] }, { leg: 'b2' });
    const lines = conversation(asked(), at(10, again), at(11, chose(0, 'b2')));
    expect(lines.slice(2)).toEqual(['✓ --choose picked 0 no (the default)', '… waiting for you']);
  });
});

describe('RT-OAUTH: consent', () => {
  test.each([
    ['given: the result says so', {}, ['✓ result after 2s; consent was given']],
    ['refused', { text: 'Error: no' }, ['✓ result after 2s', '✗ outcome error (by convention)']],
  ])('%s', (_, fields, lines) => {
    expect(conversation(at(9, arrives(OAUTH)), at(2_000, resultArrives(fields, { leg: 'b2' })))).toEqual([
      '• visit https://auth.example/consent to continue',
      ...lines,
    ]);
  });
});

describe('RT-SUB: the events of a subscription', () => {
  const opened = () => at(9, resultArrives({ subscription: true }));

  test('after the last one are discarded and reported', () => {
    expect(conversation(opened(), event('e1', { final: true }), event('e2')).at(-1)).toBe(
      '✗ subscription_event discarded with 404: the subscription has ended',
    );
  });

  test.each([
    [
      'cancelled',
      canceled(),
      '• the subscription was canceled, after 1 event',
      '• subscription_event came after the subscription was canceled; it was ignored',
    ],
    [
      'closed with its thread',
      closed(),
      '• the subscription was closed with its thread, after 1 event',
      '✗ subscription_event discarded with 404: the thread of the subscription was closed',
    ],
  ])('%s', (_, end, line, last) => {
    const lines = conversation(opened(), at(10, event('e1')), at(11, end), at(12, event('e2')));
    expect(lines).toContain(line);
    expect(lines.at(-1)).toBe(last);
  });

  test('have correct numbers, even with thousands of events', () => {
    const events = Array.from({ length: 2_100 }, (_, index) => at(10 + index, event(`e${index}`)));
    expect(conversation(opened(), ...events).at(-1)).toMatch(/^• event 2100 → child thread: opened/);
  });
});

test('a result that the runtime refused is marked as failed', () => {
  expect(linesOf(...started(), at(9, resultArrives({}, { status: 502 }))).at(-1)).toBe(
    '✗ result after 9ms; the runtime answered 502',
  );
});

describe('the duration of a discovery', () => {
  const discovery = (leg: string): Moment[] =>
    untrackedRequest('discovery').map(each => ('leg' in each ? { ...each, leg } : each));
  const asked = (leg: string) => discovery(leg).slice(0, 1);
  const answered = (leg: string) => discovery(leg).slice(1);
  const WHERE = '✓ discovered demo (1 operation) at http://127.0.0.1:3001 in';

  test('of a second toolset does not begin with the discovery of the first', () => {
    expect(
      linesOf(
        at(0, asked('d1')),
        at(5, answered('d1')),
        at(5, loaded()),
        at(60_000, asked('d2')),
        at(60_007, answered('d2')),
        at(60_007, loaded()),
      ),
    ).toEqual([`${WHERE} 5ms`, `${WHERE} 7ms`]);
  });

  test('is that of its own server, if several are asked at the same time', () => {
    expect(
      linesOf(
        at(0, asked('d1')),
        at(1, asked('d2')),
        at(5, answered('d1')),
        at(5, loaded()),
        at(9, answered('d2')),
        at(9, loaded()),
      ),
    ).toEqual([`${WHERE} 5ms`, `${WHERE} 8ms`]);
  });

  test('of an MCP server, whose requests are of no history, is not known after other toolsets', () => {
    expect(linesOf(at(3, loaded({ base: null })), at(60_000, loaded({ base: null })))).toEqual([
      '✓ discovered demo (1 operation) in 3ms',
      '✓ discovered demo (1 operation)',
    ]);
  });
});

test('with several calls, each step names its call', () => {
  const other = call({ invocation: { ...INVOCATION, id: 'other' } }).map(each => ({
    ...each,
    calls: ['other'],
  }));
  const lines = linesOf(
    at(0, call()),
    at(1, other),
    at(2, acknowledged()),
    at(3, arrives(CHOICE)),
    at(4, chose(1)),
    at(5, selected()),
  );
  expect(lines).toEqual([
    SENT,
    `✓ other: sent edit_file to ${ENDPOINT}`,
    `✓ ${KEY}: acknowledged with 200 after 2ms`,
    `• ${KEY}: the tool asks: Where to?  0 staging (default)  1 production`,
    `✓ ${KEY}: --choose picked 1 production`,
    `✓ ${KEY}: selection sent, answered 200 after 0ms`,
    '… other: waiting for the acknowledgement',
    `… ${KEY}: waiting for the result`,
  ]);
});

test('row 24: contains no raw control characters', () => {
  const evil = '\u001b]0;x\u0007\u202e\nnext';
  const parts = [
    at(0, loaded({ base: evil })),
    at(1, call({ invocation: { ...INVOCATION, operation: evil } })),
    at(2, arrives({ ...CHOICE, prompt: evil, choices: [evil] }, { leg: 'b1' })),
    at(3, arrives({ ...RESULT, id: evil }, { leg: 'b2' })),
    at(4, refused(evil, 403)),
  ];
  for (const line of linesOf(...parts)) expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
