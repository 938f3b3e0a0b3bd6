import { describe, expect, test } from 'vitest';
import type { RequestEvent } from '../../../src/events/events.js';
import { newsOf } from '../../../src/render/tool-calls.js';
import { CALLBACK_URL, MockStory, TOKEN } from '../../support/mock-story.js';
import { words } from '../../support/words.js';

/** Every line that a story is reported in. */
function newsIn(tell: (story: MockStory) => unknown): string[] {
  const story = new MockStory().at(1_000);
  const lines: string[] = [];
  story.log.subscribe(event => {
    const line = newsOf(event, story.calls.get(event.calls?.[0] ?? ''));
    if (line) lines.push(words(line));
  });
  tell(story);
  return lines;
}

const RESULT = { type: 'tool_result', text: 'done' };
const NAME = 'edit_file a (thread_a)';
const notice = (purpose: RequestEvent['purpose'], calls?: string[]) => (story: MockStory) =>
  story.tell({
    kind: 'request',
    leg: 'n',
    from: 'runtime',
    to: 'tool',
    purpose,
    method: 'POST',
    url: '/notice',
    headers: {},
    attempt: 1,
    thread: 'thread_b',
    ...(calls && { calls }),
  });

describe('a call', () => {
  test.each<[string, (story: MockStory) => unknown, string[]]>([
    [
      'that came again',
      story => story.receives('a').receives('a', {}, { attempt: 2 }),
      [`• ${NAME} received again (2 times)`],
    ],
    [
      'to be fired',
      story => story.receives('a').about('a', { kind: 'planned', by: 'fixture', plan: 'demand' }),
      [`• ${NAME} waiting: send it with POST /__mock__/fire`],
    ],
    [
      'that is not kept any more',
      story => story.about('gone', { kind: 'warned', message: 'odd' }),
      ['! odd'],
    ],
  ])('%s', (_, tell, lines) => {
    expect(newsIn(tell)).toEqual(lines);
  });
});

describe('a callback', () => {
  test.each<[string, (story: MockStory) => unknown, string[]]>([
    [
      'delivered at the third attempt, after a 503 and a reset',
      story => {
        story.sends('a', RESULT).answered(1_002, 503);
        story.sends('a', RESULT, 2).broken(1_003, 'ECONNRESET');
        story.sends('a', RESULT, 3).answered(1_005);
      },
      [
        `• ${NAME} tool_result attempt 1 failed: answered 503 in 2ms`,
        `• ${NAME} tool_result attempt 2 failed: ECONNRESET in 1ms`,
        `✓ ${NAME} tool_result delivered at attempt 3 in 2ms`,
      ],
    ],
    [
      'refused for good is reported once: as given up',
      story => {
        const { leg, answered } = story.sends('a', RESULT);
        answered(1_002, 404);
        story.about('a', { kind: 'dropped', what: 'callback', why: 'it was answered 404', count: 1, leg });
      },
      [`✗ ${NAME} tool_result not delivered: it was answered 404`],
    ],
    [
      'never attempted',
      story =>
        story.about('a', { kind: 'dropped', what: 'callback', why: 'not allowed', count: 1, type: 'oauth' }),
      [`✗ ${NAME} oauth not delivered: not allowed`],
    ],
    [
      'that breaks as no message',
      story => story.sends('a', '{').answered(1_001),
      [`✓ ${NAME} callback delivered in 1ms`],
    ],
  ])('%s', (_, tell, lines) => {
    expect(newsIn(story => tell(story.receives('a')))).toEqual(lines);
  });
});

describe('people', () => {
  const asked = (story: MockStory) =>
    story.receives('a').sends('a', { type: 'user_choice', choices: ['Yes', 'No'] });

  test.each<[string, (story: MockStory) => unknown, string]>([
    [
      'a choice that was fired',
      story => {
        asked(story);
        story.about('a', { kind: 'decided', what: 'choice', by: 'policy', value: 1 });
      },
      `✓ ${NAME} choice No sent manually`,
    ],
    [
      'no answer',
      story => story.receives('a').about('a', { kind: 'expired', what: 'answer', afterMs: 300_000 }),
      `• ${NAME} no answer within 5m`,
    ],
  ])('%s', (_, tell, line) => {
    expect(newsIn(tell)).toEqual([line]);
  });
});

describe('what is not a call', () => {
  test.each<[string, (story: MockStory) => unknown, string[]]>([
    ['a cancel of no one knows what', notice('cancel', ['x']), ['• thread thread_b cancels an unknown call']],
    [
      'a refused request',
      story => story.tell({ kind: 'warned', message: 'a request was refused with 403' }),
      ['! a request was refused with 403'],
    ],
    [
      'an invocation that no one can be told about',
      story => story.tell({ kind: 'dropped', what: 'invocation', why: 'malformed', count: 1 }),
      ['✗ invocation not delivered: malformed'],
    ],
  ])('%s', (_, tell, lines) => {
    expect(newsIn(tell)).toEqual(lines);
  });
});

test('threats, rows 24 and 25: foreign words act on nothing, and what they say of a callback URL is left out', () => {
  const lines = newsIn(story => {
    story.receives('a', { operation: '\u001b]0;x\u0007' });
    story.about('a', { kind: 'warned', message: `\u202e${CALLBACK_URL}` });
  });
  expect(lines).toEqual(['! ␛]0;x␇ a (thread_a) <U+202E>http://127.0.0.1:4000/callback/[redacted]']);
  expect(lines.join()).not.toContain(TOKEN);
});
