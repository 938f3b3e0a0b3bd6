import { describe, expect, test } from 'vitest';
import { stepLine } from '../../src/story/step-line.js';
import { stepsOf } from '../../src/story/steps/index.js';
import {
  acknowledged,
  answered,
  arrives,
  at,
  CHOICE,
  call,
  canceled,
  chose,
  ENDPOINT,
  EVENT,
  errand,
  gaveUp,
  historyOf,
  INVOCATION,
  KEY,
  loaded,
  lost,
  type Moment,
  OAUTH,
  RESULT,
  refused,
  resultArrives,
  timedOut,
  VIEW,
} from '../exchange/build.js';
import { words } from '../support/words.js';

const told = (...story: Moment[][]) => stepsOf(historyOf(...story)).map(step => words(stepLine(step)));
const SENT = `✓ sent edit_file to ${ENDPOINT}`;
const ACKNOWLEDGED = '✓ acknowledged with 200 after 3ms';
const started = () => [at(0, call()), at(3, acknowledged())];

test('the main job', () => {
  const story = [
    at(0, errand('discovery')),
    at(12, loaded()),
    at(13, call()),
    at(16, acknowledged()),
    at(1_213, resultArrives()),
    at(1_214, errand('close')),
  ];
  expect(told(...story)).toEqual([
    '✓ discovered demo (1 operation) at http://127.0.0.1:3001 in 12ms',
    SENT,
    ACKNOWLEDGED,
    '✓ result after 1.2s',
    '✓ thread closed, answered 200 after 0ms',
  ]);
});

describe('discovery', () => {
  test('several operations, no base', () => {
    expect(told(at(5, loaded({ base: null, operations: ['a', 'b'] })))).toEqual([
      '✓ discovered demo (2 operations) in 5ms',
    ]);
  });
});

describe('the dispatch', () => {
  test.each([
    ['not answered yet', [], ['… waiting for the acknowledgement']],
    ['acknowledged', [at(3, acknowledged())], [ACKNOWLEDGED, '… waiting for the result']],
    [
      'RT-NON200: refused',
      [at(3, answered(201)), at(4, gaveUp())],
      ['✗ answered 201 instead of 200 after 3ms'],
    ],
    ['broken', [at(3, lost()), at(4, gaveUp())], ['✗ not acknowledged: ECONNREFUSED after 3ms']],
    [
      'RT-RETRY: sent again',
      [at(3, answered(503)), at(9, call({ attempt: 2 })), at(12, answered(200, { attempt: 2 }))],
      [
        '✗ answered 503 instead of 200 after 3ms',
        `✓ sent again (attempt 2) edit_file to ${ENDPOINT}`,
        ACKNOWLEDGED,
        '… waiting for the result',
      ],
    ],
  ])('%s', (_, rest, lines) => {
    expect(told(at(0, call()), ...rest)).toEqual([SENT, ...lines]);
  });
});

describe('what arrives', () => {
  const other = { ...RESULT, id: 'other' };
  test.each([
    ['a result', [resultArrives()], ['✓ result after 9ms']],
    [
      'RT-DUP: again',
      [resultArrives(), resultArrives({}, { leg: 'b2' })],
      ['✓ result after 9ms', '• tool_result delivered again; the first counts after 9ms'],
    ],
    [
      'TOOL-ONCE: another one',
      [resultArrives(), resultArrives({ text: 'other' }, { leg: 'b2' })],
      ['✓ result after 9ms', '• tool_result with other content; the first counts after 9ms'],
    ],
    [
      'RT-MATCH: of another call',
      [arrives(other, { status: 404 })],
      [
        '✗ tool_result discarded with 404: id is "other", the call\'s is "call_abc123"',
        '… waiting for the result',
      ],
    ],
    [
      'RT-VALIDATE: broken',
      [arrives(7, { status: 400 })],
      ['✗ callback rejected with 400: $: must be an object', '… waiting for the result'],
    ],
    [
      'row 3: refused by the guard',
      [refused('an Origin header', 403, { to: KEY })],
      ['✗ callback rejected with 403: an Origin header', '… waiting for the result'],
    ],
    ['a view', [arrives(VIEW)], ['• view diff updated after 9ms', '… waiting for the result']],
    [
      'an event',
      [resultArrives({ subscription: true }), arrives(EVENT, { leg: 'b2' })],
      ['✓ result after 9ms', '• event: opened after 9ms'],
    ],
    ['oauth', [arrives(OAUTH)], ['• visit https://auth.example/consent to go on', '… waiting for you']],
    [
      'user_choice',
      [arrives(CHOICE)],
      ['• the tool asks: Where to?  0 staging  1 production', '… waiting for you'],
    ],
    [
      'user_choice, answered',
      [arrives(CHOICE), chose(1)],
      ['• the tool asks: Where to?  0 staging  1 production', '… waiting for the result'],
    ],
  ])('%s', (_, rest, lines) => {
    expect(told(...started(), ...rest.map(each => at(9, each)))).toEqual([SENT, ACKNOWLEDGED, ...lines]);
  });

  test('late: it is told, and changes nothing', () => {
    expect(told(...started(), at(60_000, timedOut()), at(60_500, resultArrives()))).toEqual([
      SENT,
      ACKNOWLEDGED,
      '✗ no result within 1m',
      '• tool_result came after the call had ended; it changes nothing after 1m 0.5s',
    ]);
  });

  test('a result before the acknowledgement stands where it came', () => {
    expect(told(at(0, call()), at(2, resultArrives()), at(3, acknowledged()))).toEqual([
      SENT,
      '✓ result after 2ms',
      ACKNOWLEDGED,
    ]);
  });
});

describe('how it ends', () => {
  test.each([
    [
      'an error by convention',
      at(9, resultArrives({ text: 'Error: no' })),
      ['✓ result after 9ms', '✗ outcome error (by convention)'],
    ],
    ['a timeout', at(5_000, timedOut(5_000)), ['✗ no result within 5s']],
    ['an interruption', at(9, canceled()), ['✗ interrupted']],
  ])('%s', (_, end, lines) => {
    expect(told(...started(), end)).toEqual([SENT, ACKNOWLEDGED, ...lines]);
  });
});

describe('notices and strangers', () => {
  test.each([
    [errand('close', 500), ['• thread closed, answered 500 after 1ms']],
    [errand('cancel', null), ['• call cancelled, not answered after 1ms']],
    [errand('choice', 200), ['✓ selection sent, answered 200 after 1ms']],
    [errand('discovery', 404), ['✗ http://127.0.0.1:3001/discovery answered 404 after 1ms']],
    [refused('wrong-address', 404), ['✗ a post to a wrong callback address, answered 404']],
    [
      refused('the Host header is foreign', 403),
      ['✗ a request to the callback listener, refused with 403: the Host header is foreign'],
    ],
  ])('case %#', (moments, lines) => {
    expect(told(moments)).toEqual(lines);
  });

  test('one that is under way is not told yet', () => {
    for (const purpose of ['close', 'cancel', 'choice'] as const)
      expect(told(errand(purpose).slice(0, 1))).toEqual([]);
    expect(told(refused('wrong-address', 404).slice(0, 1))).toEqual([]);
  });
});

test('a callback that the guard refused is not told before it was answered', () => {
  const [request = [], response = []] = refused('an Origin header', 403, { to: KEY }).map(each => [each]);
  const before = told(...started(), at(9, request));
  const after = told(...started(), at(9, request), at(9, response));
  expect(before).toEqual([SENT, ACKNOWLEDGED, '… waiting for the result']);
  expect(after).toContain('✗ callback rejected with 403: an Origin header');
});

test('a step keeps its key while it is told further', () => {
  const keys = (...story: Moment[][]) => stepsOf(historyOf(...story)).map(step => step.key);
  const [begun, more] = [keys(...started()), keys(...started(), resultArrives())];
  expect(new Set(more).size).toBe(more.length);
  expect(more.slice(0, 2)).toEqual(begun.slice(0, 2));
});

test('a running step shows the time it has run', () => {
  const [, , running] = stepsOf(historyOf(...started()));
  expect(running && words(stepLine(running, 1_203))).toBe('… waiting for the result 1.2s');
  expect(running && words(stepLine(running, 0))).toBe('… waiting for the result 0ms');
});

test('row 24: nothing foreign acts, wherever it stands', () => {
  const evil = '\u001b]0;x\u0007\u202e\nnext';
  const story = [
    at(0, loaded({ base: evil })),
    at(1, call({ invocation: { ...INVOCATION, operation: evil } })),
    at(2, arrives({ ...CHOICE, prompt: evil, choices: [evil] }, { leg: 'b1' })),
    at(3, arrives({ ...RESULT, id: evil }, { leg: 'b2' })),
    at(4, refused(evil, 403)),
  ];
  for (const line of told(...story)) expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
