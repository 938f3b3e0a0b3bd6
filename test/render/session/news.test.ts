import { describe, expect, test } from 'vitest';
import { Content } from '../../../src/events/content.js';
import { History } from '../../../src/events/history.js';
import { Sessions } from '../../../src/events/session-calls.js';
import { sessionHead } from '../../../src/render/session-calls.js';
import { newsOf } from '../../../src/render/tool-news.js';
import { eventsOf, type Moment } from '../../events/build.js';
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
  status,
} from '../../events/session/build.js';
import { words } from '../../support/words.js';

type Parts = readonly (readonly Moment[])[];

/** The line of each event; events without a line are left out. */
function newsLines(...parts: Parts): string[] {
  const known = { sessions: new Sessions(), history: new History() };
  return eventsOf(...parts).flatMap(event => {
    known.sessions.apply(event);
    known.history.apply(event);
    const line = newsOf(event, known);
    return line ? [line.map(({ text }) => text).join('')] : [];
  });
}

const last = (...parts: Parts) => newsLines(...parts).at(-1);
const BEGUN = [status('awaiting_tool_results'), awaiting([LOOKUP, NAMELESS])];
const DETAIL = [
  { type: 'value_error', loc: ['body', 'results', 0, 'tool_req', 'id'], msg: 'unknown', input: 1 },
];

describe('a status', () => {
  test.each<[string, readonly Moment[], string]>([
    ['idle, which clients take for the end', status('idle'), '✓ session session_1 is idle after 0ms'],
    [
      'a bad end',
      status('failed', { error: 'no money' }),
      '✗ session session_1 ended as failed after 0ms: no money',
    ],
  ])('%s', (_, moments, line) => {
    expect(newsLines(moments)).toEqual([line]);
  });

  test('is reported once; a wait for calls is reported by the calls', () => {
    expect(newsLines(status('running'), status('running'))).toHaveLength(1);
    expect(newsLines(...BEGUN)).toEqual([
      '→ waits for 2 calls: lookup_order {"order_id":"A1"} call_1 · lookup_order #1 (no id)',
    ]);
  });
});

test('an idle session with an error failed, in its news and in its state', () => {
  const sessions = new Sessions();
  const events = eventsOf(status('idle', { error: 'no money' }));
  for (const event of events) sessions.apply(event);
  const session = sessions.get('session_1');
  expect(last(status('idle', { error: 'no money' }))).toBe('✗ session session_1 is idle after 0ms: no money');
  expect(session && words(sessionHead(session, 0))).toMatch(/^✗ idle after 0ms/);
});

describe('results', () => {
  const posted = (end: readonly Moment[], attempt = 1) =>
    last(...BEGUN, posts([LOOKUP, NAMELESS], { attempt }), end);

  test.each<[string, readonly Moment[], string]>([
    ['too late', answers(409), '• 2 results posted, answered 409 in 1ms: the session had finished'],
    [
      'refused, with every field',
      answers(422, { body: { detail: DETAIL } }),
      '✗ 2 results refused with 422 in 1ms: body.results.0.tool_req.id: unknown',
    ],
    ['lost', breaks(), '! 2 results posted, but ECONNRESET in 1ms: unknown whether they arrived'],
  ])('%s', (_, end, line) => {
    expect(posted(end)).toBe(line);
  });

  test('posted again include the attempt number', () => {
    expect(posted(answers(202), 2)).toBe('✓ 2 results posted at attempt 2, answered 202 in 1ms');
  });
});

test('threats, row 24: untrusted text is short and safe to print', () => {
  const evil = '\u001b]0;owned\u0007\n'.repeat(10_000);
  const asked = { key: evil, tool_name: evil, args: { evil }, id: evil };
  const parts = [
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
  const lines = newsLines(...parts);
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(line.length).toBeLessThan(3_000);
  }
});
