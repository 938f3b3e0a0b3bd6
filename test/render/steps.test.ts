import { describe, expect, test } from 'vitest';
import { stepLine, stepsOf } from '../../src/render/steps.js';
import {
  acknowledged,
  answered,
  arrives,
  at,
  CHOICE,
  call,
  canceled,
  chose,
  closed,
  denied,
  ENDPOINT,
  EVENT,
  errand,
  expected,
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
} from '../events/build.js';
import { words } from '../support/words.js';
import { event, selected, view } from './stories.js';

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

test.each([
  ['{"ok":true}', '11 bytes'],
  ['1', '1 byte'],
])('an acknowledgement that says something: %s', (body, size) => {
  const steps = told(at(0, call()), at(3, answered(200, { body })), at(9, resultArrives()));
  expect(steps).toContain(`✓ acknowledged with 200 and a body of ${size} after 3ms`);
});

test('the line of its display script is shown where it is sent, as foreign text', () => {
  const displayScripts = { edit_file: '"Edit " + args.path + "\\x1b[31m"' };
  expect(told(loaded({ displayScripts }), call())[1]).toBe(
    `✓ sent edit_file (Edit src/main.rs␛[31m) to ${ENDPOINT}`,
  );
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
      'broken, in words of a transcript that acts (threats, row 24)',
      [at(3, lost('\u001b]0;own\u0007')), at(4, gaveUp())],
      ['✗ not acknowledged: ␛]0;own␇ after 3ms'],
    ],
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
      ['✓ result after 9ms; it opened a subscription', '• event 1 → child thread: opened after 9ms'],
    ],
    ['oauth', [arrives(OAUTH)], ['• visit https://auth.example/consent to continue', '… waiting for you']],
    [
      'user_choice',
      [arrives(CHOICE)],
      ['• the tool asks: Where to?  0 staging (default)  1 production', '… waiting for you'],
    ],
    [
      'user_choice, answered',
      [arrives(CHOICE), chose(1)],
      [
        '• the tool asks: Where to?  0 staging (default)  1 production',
        '✓ --choose picked 1 production',
        '… waiting for the result',
      ],
    ],
    [
      'RT-VIEW: cleared, or of an unknown type',
      [view('v1', ''), arrives({ ...VIEW, view_type: 'hologram' }, { leg: 'v2' })],
      ['• view diff cleared after 9ms', '• view hologram updated after 9ms', '… waiting for the result'],
    ],
  ])('%s', (_, rest, lines) => {
    expect(told(...started(), ...rest.map(each => at(9, each)))).toEqual([SENT, ACKNOWLEDGED, ...lines]);
  });

  test.each<[string, Moment[], string]>([
    [
      'RT-MATCH: an id that is not known',
      resultArrives({ id: 'x' }, { status: 200 }),
      '✗ tool_result matches no pending call: id is "x", the call\'s is "call_abc123"; the runtime answered 200',
    ],
    [
      'RT-VALIDATE: no callback at all',
      arrives({ type: 'nope' }, { status: 200 }),
      '✗ callback is invalid: $.type: is "nope"; a callback is one of tool_result, oauth, user_choice, subscription_event, view_update; the runtime answered 200',
    ],
    [
      'a result that is fine',
      resultArrives({}, { status: 503 }),
      '✓ result after 9ms; the runtime answered 503',
    ],
  ])('recorded, and answered otherwise than here: %s', (_, rest, line) => {
    expect(told(...started(), at(9, rest))).toContain(line);
  });

  test('recorded, and never answered', () => {
    const [request = {} as Moment] = resultArrives({ id: 'x' }, { leg: 'lost' });
    const lost: Moment = { ...request, kind: 'broken', phase: 'response', code: 'ECONNRESET' } as Moment;
    expect(told(...started(), at(9, [request, lost]))).toContain(
      '✗ tool_result matches no pending call: id is "x", the call\'s is "call_abc123"; the runtime did not answer (ECONNRESET)',
    );
  });

  test('late: it is told, and changes nothing', () => {
    expect(told(...started(), at(60_000, timedOut()), at(60_500, resultArrives()))).toEqual([
      SENT,
      ACKNOWLEDGED,
      '✗ timed out after 1m',
      '• tool_result came after the call had ended, 1m 0.5s after it was sent; it was ignored',
    ]);
  });

  test('late, after our own cancel', () => {
    expect(told(...started(), at(9, canceled()), at(19, resultArrives())).at(-1)).toBe(
      '• tool_result came after the call was canceled, 19ms after it was sent; it was ignored',
    );
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
    ['a timeout', at(5_000, timedOut(5_000)), ['✗ timed out after 5s']],
    ['an interruption', at(9, canceled()), ['✗ interrupted']],
  ])('%s', (_, end, lines) => {
    expect(told(...started(), end)).toEqual([SENT, ACKNOWLEDGED, ...lines]);
  });

  test.each([
    ['policy', 'edit_file was not called: not here'],
    ['person', 'edit_file was not called: declined by you'],
  ] as const)('denied by a %s: nothing was sent', (by, line) => {
    expect(told(denied(by))).toEqual([`✗ ${line}`]);
  });

  test('a call that others make has no dispatch to count from', () => {
    expect(told(expected(), resultArrives())).toEqual(['✓ result']);
    expect(told(expected())).toEqual(['… waiting for the result']);
  });
});

/** Without what every call begins with. */
const conversation = (...story: Moment[][]) => told(...started(), ...story).slice(2);

describe('RT-CHOICE: who picked what, and whether the tool heard of it', () => {
  const asked = () => at(9, arrives(CHOICE));
  const ASKED = '• the tool asks: Where to?  0 staging (default)  1 production';

  test.each([
    ['person', 'you picked 0 staging (the default)'],
    ['flag', '--choose picked 0 staging (the default)'],
    ['policy', 'the policy picked 0 staging (the default)'],
  ] as const)('by a %s', (by, line) => {
    const decided: Moment[] = [{ kind: 'decided', what: 'choice', by, value: 0, calls: [KEY] }];
    expect(conversation(asked(), at(10, decided))).toEqual([ASKED, `✓ ${line}`, '… waiting for the result']);
  });

  test('the selection is sent', () => {
    expect(conversation(asked(), at(10, chose(1)), at(12, selected()))).toEqual([
      ASKED,
      '✓ --choose picked 1 production',
      '✓ selection sent, answered 200 after 0ms',
      '… waiting for the result',
    ]);
  });

  test.each([
    [null, 'ECONNREFUSED'],
    [500, 'answered 500 instead of 200'],
  ])(
    'it does not arrive (%j): the call stays pending, which is no longer said of a call that has ended',
    (status, why) => {
      const lost = `✗ could not send the selection: ${why} after 0ms`;
      const story = [asked(), at(10, chose(1)), at(12, selected(status))];
      expect(conversation(...story, at(20, timedOut(20)))).toContain(`${lost}; the call stays pending`);
      expect(
        conversation(...story.slice(0, 2), at(11, resultArrives({}, { leg: 'b2' })), ...story.slice(2)),
      ).toContain(lost);
    },
  );

  test('of two questions the first selection answers the first', () => {
    const again = arrives({ ...CHOICE, prompt: 'Sure?', choices: ['no', 'yes'] }, { leg: 'b2' });
    const lines = conversation(asked(), at(10, again), at(11, chose(1)), at(12, chose(1)));
    expect(lines.slice(2, 4)).toEqual(['✓ --choose picked 1 production', '✓ --choose picked 1 yes']);
  });

  test('a selection that names its question answers that one', () => {
    const again = arrives({ ...CHOICE, prompt: 'Sure?', choices: ['no', 'yes'] }, { leg: 'b2' });
    const lines = conversation(asked(), at(10, again), at(11, chose(0, 'b2')));
    expect(lines.slice(2)).toEqual(['✓ --choose picked 0 no (the default)', '… waiting for you']);
  });

  test('of a thousand choices the first are told', () => {
    const choices = Array.from({ length: 1_000 }, (_, index) => `c${index}`);
    const [line = ''] = conversation(arrives({ ...CHOICE, choices }));
    expect(line).toMatch(/ {2}19 c19 {2}and 980 more$/);
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
  const OPENED = '✓ result after 9ms; it opened a subscription';

  test('each with its number, and the conversation that it goes to', () => {
    const story = [
      at(10, event('e1')),
      at(11, event('e2', { associative: true, text: 'joined' })),
      at(12, event('e3', { final: true, text: 'gone' })),
    ];
    expect(conversation(opened(), ...story)).toEqual([
      OPENED,
      '• event 1 → child thread: opened after 10ms',
      '• event 2 → this thread (associative): joined after 11ms',
      '• last event 3 → child thread: gone after 12ms',
    ]);
  });

  test('one after the last is discarded, and told', () => {
    expect(conversation(opened(), event('e1', { final: true }), event('e2')).at(-1)).toBe(
      '✗ subscription_event discarded with 404: the subscription has ended',
    );
  });

  test.each([
    ['cancelled', canceled(), '• the subscription was canceled, after 1 event'],
    ['closed with its thread', closed(), '• the subscription was closed with its thread, after 1 event'],
  ])('%s', (_, end, line) => {
    const lines = conversation(opened(), at(10, event('e1')), at(11, end), at(12, event('e2')));
    expect(lines).toContain(line);
    expect(lines.at(-1)).toMatch(
      /^✗ subscription_event discarded with 404: the .*subscription was c|^✗ .* closed$/,
    );
  });

  test('a long text is cut for the eye', () => {
    expect(conversation(opened(), event('e1', { text: 'x'.repeat(1_000_000) })).at(-1)?.length).toBeLessThan(
      5_000,
    );
  });

  test('those that are not kept any more are counted, and the numbers of the others stay', () => {
    const events = Array.from({ length: 2_500 }, (_, index) => at(10 + index, event(`e${index}`)));
    const lines = conversation(opened(), ...events);
    const { forgotten = 0 } = historyOf(...started(), opened(), ...events).first ?? {};
    expect(forgotten).toBeGreaterThan(0);
    expect(lines[1]).toBe(`• ${forgotten} earlier callbacks were dropped`);
    expect(lines[2]).toMatch(new RegExp(`^• event ${forgotten + 1} →`));
    expect(lines.at(-1)).toMatch(/^• event 2500 →/);
  });
});

test('of several calls each step says whose it is', () => {
  const other = call({ invocation: { ...INVOCATION, id: 'other' } }).map(each => ({
    ...each,
    calls: ['other'],
  }));
  const lines = told(
    at(0, call()),
    at(1, other),
    at(2, acknowledged()),
    at(3, arrives(CHOICE)),
    at(4, chose(1)),
    at(5, selected()),
  );
  expect(lines).toEqual([
    `✓ ${KEY}: sent edit_file to ${ENDPOINT}`,
    `✓ other: sent edit_file to ${ENDPOINT}`,
    `✓ ${KEY}: acknowledged with 200 after 2ms`,
    `• ${KEY}: the tool asks: Where to?  0 staging (default)  1 production`,
    `✓ ${KEY}: --choose picked 1 production`,
    `✓ ${KEY}: selection sent, answered 200 after 0ms`,
    '… other: waiting for the acknowledgement',
    `… ${KEY}: waiting for the result`,
  ]);
});

describe('the latest only', () => {
  test('as many as are asked for, the last of all', () => {
    const story = [...started(), resultArrives({ subscription: true }), event('e1'), event('e2')];
    const all = stepsOf(historyOf(...story));
    expect(stepsOf(historyOf(...story), { latest: 2 })).toEqual(all.slice(-2));
    expect(stepsOf(historyOf(...story), { latest: 1_000 })).toEqual(all);
  });
});

describe('notices and strangers', () => {
  test.each([
    [errand('close', 500), ['• thread closed, answered 500 after 1ms']],
    [errand('cancel', null), ['• call canceled, not answered after 1ms']],
    [errand('discovery', 404), ['✗ http://127.0.0.1:3001/discovery answered 404 after 1ms']],
    [refused('wrong-address', 404), ['✗ a POST to a wrong callback URL, answered 404']],
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
