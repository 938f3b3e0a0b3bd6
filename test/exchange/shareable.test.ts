import { describe, expect, test } from 'vitest';
import { Content } from '../../src/exchange/content.js';
import { shareableMessage, shareableText } from '../../src/exchange/shareable.js';
import { createRedactor } from '../../src/text/redact.js';
import { CHOICE, OAUTH, RESULT } from './build.js';

const token = '0123456789abcdefghij';
const response_url = `http://127.0.0.1:3001/user_choice/${token}?code=1`;
const shared = 'http://127.0.0.1:3001/user_choice/[redacted]';

describe('row 25: what leaves the machine', () => {
  const textOf = (message: unknown) => shareableText(Content.ofJson(message), createRedactor());

  test('has no token of a question, and everything else', () => {
    expect(JSON.parse(textOf({ ...CHOICE, response_url }) ?? '')).toEqual({
      ...CHOICE,
      response_url: shared,
    });
  });

  test('has no query of a consent', () => {
    const message = { ...OAUTH, auth_url: 'https://auth.example/consent?state=1' };
    expect(JSON.parse(textOf(message) ?? '')).toEqual(OAUTH);
  });

  test.each([
    ['a choice without a token', CHOICE],
    ['a choice without an address', { type: 'user_choice' }],
    ['a result that names one', { ...RESULT, response_url }],
    ['no object', [response_url]],
  ])('is %s as it was written', (_, message) => {
    const bytes = Buffer.from(JSON.stringify(message, null, 3));
    expect(shareableText(new Content(bytes), createRedactor())).toBe(bytes.toString());
  });

  test('an address that is none goes out whole', () => {
    expect(JSON.parse(textOf({ ...CHOICE, response_url: 7 }) ?? '').response_url).toBe('[redacted]');
  });
});

test('a message is shared as its text is', () => {
  const choice = { ...CHOICE, type: 'user_choice', response_url } as const;
  expect(shareableMessage(choice)).toEqual({ ...choice, response_url: shared });
});
