import { describe, expect, test } from 'vitest';
import { Content } from '../../../src/events/content.js';
import { History } from '../../../src/events/history.js';
import { Sessions } from '../../../src/events/session-calls.js';
import { sessionNews } from '../../../src/render/news.js';
import { at, call, eventsOf, type Moment } from '../../events/build.js';
import {
  answered,
  answers,
  asks,
  awaiting,
  breaks,
  failure,
  LOOKUP,
  NAMELESS,
  posts,
  result,
  status,
  warned,
} from '../../events/session/build.js';
import { callOf, legTo } from './legs.js';

type Story = readonly (readonly Moment[])[];

/** What each event of a story says as it happens; what says nothing is left out. */
function told(...story: Story): string[] {
  const known = { sessions: new Sessions(), history: new History() };
  return eventsOf(...story).flatMap(event => {
    known.sessions.apply(event);
    known.history.apply(event);
    const line = sessionNews(event, known);
    return line ? [line.map(({ text }) => text).join('')] : [];
  });
}

const last = (...story: Story) => told(...story).at(-1);
const BEGUN = [status('awaiting_tool_results'), awaiting([LOOKUP, NAMELESS])];
const DETAIL = [
  { type: 'value_error', loc: ['body', 'results', 0, 'tool_req', 'id'], msg: 'unknown', input: 1 },
];

describe('a status', () => {
  test.each<[string, readonly Moment[], string]>([
    ['one on the way', status('running'), '• session session_1 is running'],
    ['one that is not known', status('dreaming'), '• session session_1 is dreaming'],
    [
      'the end',
      at(1_200, status('completed', { answer: { n: 1 } })),
      '✓ session session_1 ended as completed after 0ms: {"n":1}',
    ],
    ['idle, which clients take for the end', status('idle'), '✓ session session_1 is idle after 0ms'],
    [
      'a bad end',
      status('failed', { error: 'no money' }),
      '✗ session session_1 ended as failed after 0ms: no money',
    ],
    ['another bad end', status('timed_out'), '✗ session session_1 ended as timed_out after 0ms'],
  ])('%s', (_, moments, line) => {
    expect(told(moments)).toEqual([line]);
  });

  test('is told once, and by its calls where it waits for some', () => {
    expect(told(status('running'), status('running'))).toHaveLength(1);
    expect(told(...BEGUN)).toEqual([
      '→ waits for 2 calls: lookup_order {"order_id":"A1"} call_1 · lookup_order #1 (no id)',
    ]);
  });
});

describe('calls', () => {
  test('that are published again are no news; those that are new are', () => {
    const more = { ...LOOKUP, key: 'call_2', id: 'call_2', args: {} };
    expect(told(...BEGUN, awaiting([NAMELESS]))).toHaveLength(1);
    expect(last(...BEGUN, awaiting([NAMELESS, more]))).toBe('→ waits for a call: lookup_order call_2');
  });

  test('of which there are many are counted', () => {
    const many = Array.from({ length: 9 }, (_, index) => ({
      ...LOOKUP,
      key: `c${index}`,
      id: `c${index}`,
      args: {},
    }));
    expect(last(awaiting(many))).toMatch(
      /^→ waits for 9 calls: lookup_order c0 · .* · lookup_order c4 and 4 more$/,
    );
  });

  test.each<[string, readonly Moment[], string]>([
    [
      'a result',
      answered(LOOKUP, result(LOOKUP, { n: [1] })),
      '✓ lookup_order {"order_id":"A1"} call_1 answered: success {"n":[1]} after 1ms',
    ],
    [
      'a result that is null',
      answered(LOOKUP, result(LOOKUP, null)),
      '✓ lookup_order {"order_id":"A1"} call_1 answered: success null after 1ms',
    ],
    [
      'an error',
      answered(NAMELESS, failure(NAMELESS, 'not found')),
      '✗ lookup_order #1 (no id) answered: error not found after 1ms',
    ],
    [
      'by the platform',
      answered(LOOKUP, result(LOOKUP, 'x'), 'platform'),
      '✓ lookup_order {"order_id":"A1"} call_1 got success x after 1ms',
    ],
    [
      'of an unknown kind',
      answered(LOOKUP, { kind: 'odd', tool_req: {} }),
      '✗ lookup_order {"order_id":"A1"} call_1 answered: unknown {"kind":"odd","tool_req":{}} after 1ms',
    ],
  ])('are answered: %s', (_, moments, line) => {
    expect(last(...BEGUN, moments)).toBe(line);
  });

  test('whose bytes a broken file has lost are told all the same', () => {
    const lost = answered(LOOKUP, 1).map(each => ({ ...each, body: undefined }));
    expect(last(...BEGUN, lost as Moment[])).toBe(
      '✗ lookup_order {"order_id":"A1"} call_1 answered: unknown after 1ms',
    );
  });

  test('that nobody has asked for are no news', () => {
    expect(told(answered(LOOKUP, result(LOOKUP, 1)))).toEqual([]);
  });

  test.each<[string, object, string]>([
    [
      'by convention',
      { type: 'tool_result', id: 'call_1', text: '{"timeout":{"durationMs":5}}' },
      'timeout (by convention)',
    ],
    [
      'an error by convention',
      { type: 'tool_result', id: 'call_1', text: 'Error: no' },
      'error (by convention)',
    ],
  ])('that failed say how, as the leg to the tool knows it: %s', (_, message, words) => {
    const asked = callOf('call_1');
    const story = [awaiting([asked]), ...legTo('call_1', message), answered(asked, failure(asked, 'no'))];
    expect(last(...story)).toContain(`answered: ${words} no`);
  });

  test.each<[string, Moment, string]>([
    [
      'denied',
      {
        kind: 'denied',
        by: 'policy',
        tool: 'lookup_order',
        reason: 'not here',
        calls: ['call_1'],
        thread: 'session_1',
      },
      'denied (local)',
    ],
    [
      'timed out',
      { kind: 'expired', what: 'timeout', afterMs: 9, calls: ['call_1'], thread: 'session_1' },
      'timeout (local limit)',
    ],
  ])('that never got to a tool on another wire say why: %s', (_, fact, words) => {
    expect(last(...BEGUN, [fact], answered(LOOKUP, failure(LOOKUP, 'no')))).toContain(
      `answered: ${words} no`,
    );
  });
});

describe('results', () => {
  const posted = (end: readonly Moment[], attempt = 1) =>
    last(...BEGUN, posts([LOOKUP, NAMELESS], { attempt }), end);

  test.each<[string, readonly Moment[], string]>([
    ['taken', answers(202), '✓ 2 results posted, answered 202 in 1ms'],
    ['too late', answers(409), '• 2 results posted, answered 409 in 1ms: the session had finished'],
    [
      'refused, with every field',
      answers(422, { body: { detail: DETAIL } }),
      '✗ 2 results refused with 422 in 1ms: body.results.0.tool_req.id: unknown',
    ],
    [
      'refused in a sentence',
      answers(404, { body: { detail: 'Session not found.' } }),
      '✗ 2 results refused with 404 in 1ms: Session not found.',
    ],
    [
      'refused for their key',
      answers(401, { body: { message: 'no' } }),
      '✗ 2 results refused with 401 in 1ms: no',
    ],
    ['refused without a word', answers(500, { body: [] }), '✗ 2 results refused with 500 in 1ms'],
    ['lost', breaks(), '! 2 results posted, but ECONNRESET in 1ms: unknown whether they arrived'],
  ])('%s', (_, end, line) => {
    expect(posted(end)).toBe(line);
  });

  test('that are posted again say at which attempt', () => {
    expect(posted(answers(202), 2)).toBe('✓ 2 results posted at attempt 2, answered 202 in 1ms');
  });
});

describe('other requests', () => {
  test.each<[string, Story, string[]]>([
    ['that only ask are no news', [asks('changes'), answers(200, { leg: 'changes-1' })], []],
    ['nor is nothing new', [asks('changes'), answers(204, { leg: 'changes-1' })], []],
    [
      'but their refusal is',
      [asks('changes'), answers(401, { leg: 'changes-1', body: { message: 'no key' } })],
      ['✗ GET /sessions/session_1/changes answered 401 in 1ms: no key'],
    ],
    [
      'and that nobody answers',
      [asks('changes', { attempt: 2 }), breaks('ECONNREFUSED', { leg: 'changes-1' })],
      ['! GET /sessions/session_1/changes at attempt 2 was not answered: ECONNREFUSED in 1ms'],
    ],
    [
      'what changes a session is',
      [asks('message'), answers(202, { leg: 'message-1' })],
      ['• POST /sessions/session_1/message answered 202 in 1ms'],
    ],
    [
      'another wire has its own story',
      [call(), [{ kind: 'response', leg: 'try-1', status: 500, headers: {} }]],
      [],
    ],
  ])('%s', (_, story, lines) => {
    expect(told(...story)).toEqual(lines);
  });
});

test('where there are several sessions each line says of which', () => {
  const other = { ...LOOKUP, key: 'x', id: 'x', args: {} };
  expect(last(...BEGUN, awaiting([other], { id: 'session_2' }))).toBe(
    '→ waits for a call: lookup_order x (session_2)',
  );
});

test('warnings, and that nothing came for too long', () => {
  expect(
    told(warned('odd'), [{ kind: 'expired', what: 'timeout', afterMs: 5_000, thread: 'session_1' }]),
  ).toEqual(['! odd', '✗ no news for 5s']);
});

test('threats, row 24: foreign words are safe to print, and short', () => {
  const evil = '\u001b]0;owned\u0007\n'.repeat(10_000);
  const asked = { key: evil, tool_name: evil, args: { evil }, id: evil };
  const story = [
    status(evil),
    awaiting([asked]),
    answered(asked, failure(asked, evil)),
    asks('changes', { path: evil }),
    [
      {
        kind: 'response',
        leg: 'changes-1',
        status: 500,
        headers: {},
        body: Content.ofJson({ detail: evil }),
      } as const,
    ],
  ];
  const lines = told(...story);
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(line.length).toBeLessThan(3_000);
  }
});
