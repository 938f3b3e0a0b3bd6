import { describe, expect, test } from 'vitest';
import { FORMATS, heardIn } from '../../../src/commands/listen/formats.js';
import { History } from '../../../src/events/history.js';
import { createRedactor } from '../../../src/util/redact.js';
import {
  arrives,
  at,
  CHOICE,
  eventsOf,
  expected,
  KEY,
  type Moment,
  OAUTH,
  RESULT,
  refused,
  VIEW,
} from '../../events/build.js';

const { plain, json } = FORMATS;
const OPTIONS: Parameters<typeof plain>[0] = {
  supports: new Set(['diff', 'text']),
  redactor: createRedactor(['s3cr3t-token']),
  callbackUrl: 'http://127.0.0.1:4000/callback/s3cr3t-token',
  about: { startedAt: '2025-01-01T00:00:00.000Z', observer: 'runtime', program: 'test' },
  level: 0,
  isTTY: false,
};

/** All lines that a format makes of a story, as it happens. */
function told(format: ReturnType<typeof plain>, ...story: readonly (readonly Moment[])[]): string[] {
  const history = new History();
  return eventsOf(expected(), ...story).flatMap(event => {
    history.apply(event);
    const heard = heardIn(history, new Set([KEY]), event);
    return heard ? format.lines(heard).flatMap(line => [...line].join('').split('\n')) : [];
  });
}

const QUESTION = { ...CHOICE, response_url: 'http://tool:3001/choices/0123456789abcdef?code=canary' };

describe('row 25: the address at which a question is answered', () => {
  test.each(Object.entries(FORMATS))('has no token in %s', (_, format) => {
    const text = told(format(OPTIONS), arrives(QUESTION)).join('\n');
    expect(text).toContain('http://tool:3001/choices/[redacted]');
    expect(text).not.toMatch(/0123456789abcdef|canary/);
  });

  test('is whole on a terminal, for anyone who answers', () => {
    const lines = told(plain({ ...OPTIONS, isTTY: true }), arrives(QUESTION));
    expect(lines.join('\n')).toContain(QUESTION.response_url);
  });
});

describe('plain', () => {
  test('each callback with its time, then what is drawn of it', () => {
    expect(told(plain(OPTIONS), at(61_200, arrives(RESULT)))).toEqual([
      '  1:01.2 ✓ result',
      '           matches the expected call: group_id thread_xyz and id call_abc123',
      '',
      'HUMAN text (no display_as)',
      'done',
      '',
      'LLM text, 4 bytes',
      'done',
      '',
    ]);
  });

  test('a view that was cleared is reported, and nothing is drawn', () => {
    const lines = told(plain(OPTIONS), arrives({ ...VIEW, content: {} }));
    expect(lines).toEqual([
      expect.stringContaining('view diff cleared'),
      expect.stringContaining('thread_xyz'),
    ]);
  });

  test('RT-OAUTH: the query of a consent URL is for a terminal alone', () => {
    const consent = arrives({ ...OAUTH, auth_url: 'https://auth.example/consent?state=1' });
    expect(told(plain(OPTIONS), consent)[0]).toContain('visit https://auth.example/consent to continue');
    expect(told(plain({ ...OPTIONS, isTTY: true }), consent)[0]).toContain('?state=1');
  });

  test('a request that went astray: where callbacks go; whole for a terminal alone', () => {
    const story = refused('wrong-address', 404);
    const [piped] = told(plain(OPTIONS), story);
    expect(piped).toContain(
      '✗ a POST to /callback/wrong was refused with 404: callbacks go to the callback_url of',
    );
    const [shown] = told(plain({ ...OPTIONS, isTTY: true }), story);
    expect(shown).toContain(`callbacks go to ${OPTIONS.callbackUrl}`);
  });

  test('a guesser does not drown the rest: posts to wrong addresses are reported the first, tenth, hundredth time', () => {
    const guesses = Array.from({ length: 150 }, (_, n) =>
      refused('wrong-address', 404, { leg: `stray-${n}` }),
    );
    expect(told(plain(OPTIONS), ...guesses)).toHaveLength(3);
    const others = Array.from({ length: 5 }, (_, n) =>
      refused('it is too large', 413, { leg: `stray-${n}` }),
    );
    expect(told(plain(OPTIONS), ...others)).toHaveLength(5);
  });
});

describe('json', () => {
  test('one line for each, with the time of day, and secrets out', () => {
    const [line = '', ...rest] = told(json(OPTIONS), at(1_500, arrives({ ...RESULT, text: 's3cr3t-token' })));
    expect(rest).toEqual([]);
    expect(JSON.parse(line)).toMatchObject({
      time: '2025-01-01T00:00:01.500Z',
      type: 'tool_result',
      id: KEY,
      verdict: 'settles',
      expected: true,
      llm: { text: '[redacted]' },
      warnings: [],
    });
  });

  test('what is compared with an expected call and is another is not expected', () => {
    const [line = ''] = told(json(OPTIONS), arrives({ ...RESULT, id: 'other' }, { status: 404 }));
    expect(JSON.parse(line)).toMatchObject({
      verdict: 'discarded',
      status: 404,
      expected: false,
      id: 'other',
    });
  });

  test('TOOL-ONCE: a second result has its warning', () => {
    const again = arrives({ ...RESULT, text: 'other' }, { leg: 'back-2' });
    const lines = told(json(OPTIONS), arrives(RESULT), again);
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({
      verdict: 'duplicate',
      warnings: [{ id: 'TOOL-ONCE' }],
    });
  });
});
