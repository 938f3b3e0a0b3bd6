import { describe, expect, test } from 'vitest';
import { toolCallDetails, toolCallRow } from '../../src/render/tool-calls.js';
import { newsOf } from '../../src/render/tool-news.js';
import { CALLBACK_URL, delivered, MockEvents, TOKEN } from '../support/mock-events.js';
import { words } from '../support/words.js';

describe('the row of a call', () => {
  const NOW = 5_000;
  const RESULT = { type: 'tool_result', text: 'done' };

  /** The mark and the state of the call `a`, in words. */
  function stateOf(act: (mock: MockEvents) => unknown): string {
    const mock = new MockEvents().at(1_000);
    act(mock);
    const { mark, cells } = toolCallRow(mock.call('a'), NOW);
    return `${mark.text} ${words(cells.state).trimEnd()}`;
  }

  describe('the state of a call', () => {
    test('is a warning if no fixture matches, even after delivery', () => {
      const mock = new MockEvents().at(1_000).receives('a');
      mock.about('a', { kind: 'matched', fixture: null });
      mock.about('a', { kind: 'warned', message: 'no fixture answers it' });
      mock.sends('a', RESULT).answered(1_200);
      const { mark, cells } = toolCallRow(mock.call('a'), NOW);
      expect([mark, cells.state[0]]).toMatchObject([
        { text: '!', tone: 'warn' },
        { text: 'no fixture, ', tone: 'warn' },
      ]);
    });

    test.each<[string, (mock: MockEvents) => unknown, string]>([
      [
        'to be sent again',
        mock => mock.receives('a').sends('a', RESULT).answered(1_100, 503),
        '… retrying, answered 503 4s',
      ],
      [
        'failed, with the reason',
        mock => {
          mock.receives('a').sends('a', RESULT).answered(1_100, 404);
          mock.about('a', { kind: 'dropped', what: 'callback', why: 'it was answered 404', count: 1 });
        },
        '✗ it was answered 404',
      ],
      [
        'asking for a choice, with the time since then',
        mock => mock.receives('a').at(2_000).sends('a', { type: 'user_choice' }).answered(2_001),
        '? asks for a choice 3s',
      ],
      [
        'delivered, then failed to deliver again',
        mock => {
          delivered(mock, 'a');
          const { leg } = mock.sends('a', RESULT);
          mock.about('a', { kind: 'dropped', what: 'callback', why: 'no one is there', count: 1, leg });
        },
        '! delivered after 200ms, a later one failed',
      ],
      [
        'delivered with a warning: perhaps not what the fixture says',
        mock => {
          delivered(mock, 'a');
          mock.about('a', { kind: 'warned', message: 'template values not found: arguments.path' });
        },
        '! delivered after 200ms, 1 warning',
      ],
      [
        'waiting for a key, with the key',
        mock => {
          delivered(mock, 'a');
          mock.sends('a', { type: 'subscription_event', text: '1' }).answered(2_000);
          mock.about('a', { kind: 'planned', by: 'fixture', plan: 'demand' });
        },
        '? waiting: press f to send, 1 event',
      ],
      [
        'cancelled',
        mock =>
          mock.receives('a').emit({
            kind: 'request',
            leg: 'x',
            from: 'runtime',
            to: 'tool',
            purpose: 'cancel',
            method: 'POST',
            url: '/cancel_tool_call',
            headers: {},
            attempt: 1,
            calls: ['a'],
          }),
        '… canceled 4s',
      ],
    ])('%s', (_, act, text) => {
      expect(stateOf(act)).toBe(text);
    });
  });

  test('threats, row 24: makes untrusted names visible and shortens them', () => {
    const mock = new MockEvents().receives('a', { operation: `\u001b]0;x\u0007${'y'.repeat(9_000)}` });
    const { operation } = toolCallRow(mock.call('a'), NOW).cells;
    expect(words(operation)).toMatch(/^␛\]0;x␇y+… 8706 more characters$/);
    expect(operation[0]).toEqual({ text: '␛', tone: 'hidden' });
  });
});

describe('details', () => {
  const textOf = (mock: MockEvents) => toolCallDetails(mock.call('a')).map(words).join('\n');

  describe('waiting calls', () => {
    test('show the URL of a consent page on its own row', () => {
      const url = 'http://127.0.0.1:3001/authorize?state=abc';
      const mock = new MockEvents().receives('a');
      mock.sends('a', { type: 'oauth', auth_url: url }).answered(1);
      expect(textOf(mock)).toContain(`waits     for consent: press f to grant it, or decide at\n${url}\n`);
    });

    test('show the default of a choice', () => {
      const mock = new MockEvents().receives('a');
      mock.sends('a', { type: 'user_choice', choices: ['Yes', 'No'], default: 1 }).answered(1);
      expect(textOf(mock)).toContain('waits     for a choice: press f for No\n');
    });
  });

  describe('threats, row 25: a callback URL grants access to a conversation', () => {
    test('hides the tokens of callback URLs and response URLs, but not the consent page', () => {
      const [answer, consent] = [
        'answer-0123456789abcdef',
        'http://127.0.0.1:1/authorize?state=page-0123456789',
      ];
      const mock = new MockEvents().receives('a', { arguments: { echo: CALLBACK_URL } });
      mock.about('a', { kind: 'warned', message: `not posted to ${CALLBACK_URL}` });
      mock.sends('a', { type: 'user_choice', response_url: `http://127.0.0.1:1/choices/${answer}` });
      mock.sends('a', { type: 'tool_result', text: `${answer} ${TOKEN}` });
      mock.sends('a', { type: 'oauth', auth_url: consent });
      mock.about('a', { kind: 'dropped', what: 'callback', why: `${CALLBACK_URL} is gone`, count: 1 });
      const text = textOf(mock);
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain(answer);
      expect(text).toContain(consent);
    });

    test('does not treat an id in the URL as a secret', () => {
      const id = 'call_0123456789abcdef';
      const mock = new MockEvents().receives(id, { callback_url: `http://127.0.0.1:1/${id}` });
      mock.sends(id, { type: 'tool_result', text: 'x' });
      expect(toolCallDetails(mock.call(id)).map(words)).toContain(`  "id": "${id}",`);
    });
  });

  test('threats, row 24: contains no raw control characters', () => {
    const hostile = '\u001b]52;c;x\u0007\u202e';
    const mock = new MockEvents().receives('a', {
      operation: hostile,
      arguments: { [hostile]: hostile },
      call_id: hostile,
    });
    mock.sends('a', hostile);
    for (const character of hostile.match(/\P{ASCII}|\p{Cc}/gu) ?? [])
      expect(textOf(mock)).not.toContain(character);
    expect(textOf(mock)).toContain('␛]52;c;x␇<U+202E>');
  });

  test('cuts a message of ten thousand lines and shows how much is missing', () => {
    const mock = new MockEvents().receives('a', {
      arguments: { list: Array.from({ length: 10_000 }, () => 1) },
    });
    const lines = toolCallDetails(mock.call('a')).map(words);
    expect(lines.length).toBeLessThan(600);
    expect(lines.at(-1)).toBe('… 9504 more lines');
  });
});

describe('news', () => {
  /** The lines that report what `act` does. */
  function newsIn(act: (mock: MockEvents) => unknown): string[] {
    const mock = new MockEvents().at(1_000);
    const lines: string[] = [];
    mock.log.subscribe(event => {
      const line = newsOf(event, { call: mock.calls.get(event.calls?.[0] ?? '')?.call });
      if (line) lines.push(words(line));
    });
    act(mock);
    return lines;
  }

  const RESULT = { type: 'tool_result', text: 'done' };
  const NAME = 'edit_file a (thread_a)';

  test.each<[string, (mock: MockEvents) => unknown, string[]]>([
    [
      'a call to be fired',
      mock => mock.about('a', { kind: 'planned', by: 'fixture', plan: 'demand' }),
      [`• ${NAME} waiting: send it with POST /__mock__/fire`],
    ],
    ['a call that is not kept', mock => mock.about('gone', { kind: 'warned', message: 'odd' }), ['! odd']],
    [
      'a callback at its third attempt, after a 503 and a reset',
      mock => {
        mock.sends('a', RESULT).answered(1_002, 503);
        mock.sends('a', RESULT, 2).broken(1_003, 'ECONNRESET');
        mock.sends('a', RESULT, 3).answered(1_005);
      },
      [
        `• ${NAME} tool_result attempt 1 failed: answered 503 in 2ms`,
        `• ${NAME} tool_result attempt 2 failed: ECONNRESET in 1ms`,
        `✓ ${NAME} tool_result delivered at attempt 3 in 2ms`,
      ],
    ],
    [
      'a refused callback, once',
      mock => {
        const { leg, answered } = mock.sends('a', RESULT);
        answered(1_002, 404);
        mock.about('a', { kind: 'dropped', what: 'callback', why: 'it was answered 404', count: 1, leg });
      },
      [`✗ ${NAME} tool_result not delivered: it was answered 404`],
    ],
    [
      'a choice, by its label',
      mock => {
        mock.sends('a', { type: 'user_choice', choices: ['Yes', 'No'] });
        mock.about('a', { kind: 'decided', what: 'choice', by: 'person', value: 1 });
      },
      [`✓ ${NAME} choice No by the client`],
    ],
    [
      'no answer',
      mock => mock.about('a', { kind: 'expired', what: 'answer', afterMs: 300_000 }),
      [`• ${NAME} no answer within 5m`],
    ],
    [
      'an invocation that was dropped',
      mock => mock.emit({ kind: 'dropped', what: 'invocation', why: 'malformed', count: 1 }),
      ['✗ invocation not delivered: malformed'],
    ],
  ])('%s', (_, act, lines) => {
    expect(newsIn(mock => act(mock.receives('a')))).toEqual(lines);
  });

  test('threats, rows 24 and 25: contains no raw control characters and no callback URLs', () => {
    const lines = newsIn(mock => {
      mock.receives('a', { operation: '\u001b]0;x\u0007' });
      mock.about('a', { kind: 'warned', message: `\u202e${CALLBACK_URL}` });
    });
    expect(lines).toEqual(['! ␛]0;x␇ a (thread_a) <U+202E>http://127.0.0.1:4000/callback/[redacted]']);
    expect(lines.join()).not.toContain(TOKEN);
  });
});
