import { describe, expect, test } from 'vitest';
import { Content } from '../../src/events/content.js';
import type { Event } from '../../src/events/events.js';
import {
  callbackRedactor,
  shareableMessage,
  shareableText,
  shareableUrl,
} from '../../src/events/shareable.js';
import { transcriptWriter } from '../../src/events/transcript-writer.js';
import { callbackSchema, traitsOf } from '../../src/protocol/callbacks.js';
import { createRedactor } from '../../src/util/redact.js';
import { arrives, CHOICE, call, eventsOf, INVOCATION, OAUTH, RESULT } from './build.js';

const token = '0123456789abcdefghij';
const response_url = `http://127.0.0.1:3001/user_choice/${token}?code=1`;
const shared = 'http://127.0.0.1:3001/user_choice/[redacted]';

test('row 25: a callback has the same redacted URL in its request line and in the invocation', () => {
  const callback_url = 'http://127.0.0.1:4000/callback/0123456789abcdefghij/?thread=a&attempt=1';
  const [event] = eventsOf(call({ invocation: { ...INVOCATION, callback_url } }));
  const redactor = callbackRedactor(event ? [event] : []);
  const given = JSON.parse(shareableText(Content.ofJson({ callback_url }), redactor) ?? '').callback_url;
  const [came] = eventsOf(arrives(RESULT));
  if (came?.kind !== 'request') throw new Error('a request');
  const url = shareableUrl({ ...came, url: '/callback/0123456789abcdefghij/?thread=a&attempt=1' }, redactor);
  expect(`http://127.0.0.1:4000${url}`).toBe(given);
  expect(url).toContain('attempt=[redacted]');
});

describe('row 25: a shared message', () => {
  const textOf = (message: unknown) => shareableText(Content.ofJson(message), createRedactor());

  test('has no token of a question, and keeps everything else', () => {
    expect(JSON.parse(textOf({ ...CHOICE, response_url }) ?? '')).toEqual({
      ...CHOICE,
      response_url: shared,
    });
  });

  test('has no query of a consent URL', () => {
    const message = { ...OAUTH, auth_url: 'https://auth.example/consent?state=1' };
    expect(JSON.parse(textOf(message) ?? '')).toEqual(OAUTH);
  });

  test('keeps a value that is not a URL', () => {
    expect(textOf({ ...OAUTH, auth_url: { toString: 1 } })).toContain('"type":"oauth"');
    expect(textOf({ ...CHOICE, response_url: { toString: 1 } })).toContain('"type":"user_choice"');
  });

  const secret = 'https://auth.example/consent?state=s3cr3t#x';
  test.each([
    ['in a list', JSON.stringify([{ auth_url: secret }])],
    ['in another message', JSON.stringify({ message: { auth_url: secret } })],
    ['in invalid JSON', `{"type":"oauth","auth_url": "${secret}",}`],
    ['in a form', `type=oauth&auth_url=${secret}`],
  ])('has no query of a consent URL %s, even in an invalid message', (_, text) => {
    const shareableBody = shareableText(new Content(Buffer.from(text)), createRedactor());
    expect(shareableBody).toContain('https://auth.example/consent');
    expect(shareableBody).not.toContain('s3cr3t');
  });

  test.each([
    ['a choice without a token', CHOICE],
    ['a choice without a URL', { type: 'user_choice' }],
    ['a result with a URL', { ...RESULT, response_url }],
    ['a value that is not an object', [response_url]],
  ])('keeps %s unchanged', (_, message) => {
    const bytes = Buffer.from(JSON.stringify(message, null, 3));
    expect(shareableText(new Content(bytes), createRedactor())).toBe(bytes.toString());
  });

  test('keeps an invalid URL whole', () => {
    expect(JSON.parse(textOf({ ...CHOICE, response_url: 7 }) ?? '').response_url).toBe('[redacted]');
  });
});

test('a message and its text are redacted alike', () => {
  const choice = { ...CHOICE, type: 'user_choice', response_url } as const;
  expect(shareableMessage(choice)).toEqual({ ...choice, response_url: shared });
});

test.each(callbackSchema._zod.def.options)(
  'row 25: no callback type has a URL that is not a secret one',
  ({ shape }) => {
    const urls = Object.keys(shape).filter(name => name.endsWith('url'));
    expect(urls).toEqual([traitsOf(shape.type._zod.def.values[0])?.secretUrl ?? []].flat());
  },
);

/** The line of an event in a transcript. */
const written = (event: object) =>
  transcriptWriter(createRedactor(['canary-key']))
    .event({ seq: 0, at: 1, ...event } as Event)
    .join('');

test('row 25: redacts a secret in a session event, and keeps the rest', () => {
  const place = { seq: 0, at: 1, thread: 'session_1' };
  const ended = {
    kind: 'session',
    status: 'failed',
    error: 'canary-key',
    answer: { said: ['canary-key', 1] },
    ...place,
  } as const;
  expect(JSON.parse(written(ended))).toEqual({
    ...ended,
    error: '[redacted]',
    answer: { said: ['[redacted]', 1] },
  });
  const call = { key: 'call_1', tool_name: 'a', id: null };
  const waits = {
    kind: 'awaiting',
    pending: [{ ...call, args: { seen: 'canary-key' } }, call],
    ...place,
  } as const;
  expect(JSON.parse(written(waits))).toEqual({
    ...waits,
    pending: [{ ...call, args: { seen: '[redacted]' } }, call],
  });
});

test.each<[string, object]>([
  ['the nearest fixture', { kind: 'matched', nearest: { fixture: 'a', path: '$', reason: 'is canary-key' } }],
  ['a decision', { kind: 'decided', what: 'give-up', by: 'policy', value: 'exited: canary-key' }],
  [
    'the last output of a server',
    { kind: 'exited', how: 'exited', message: 'it exited', output: ['is canary-key'] },
  ],
  ['the reason of a denial', { kind: 'denied', by: 'policy', tool: 'a', reason: 'canary-key' }],
])('row 25: redacts the secret in %s', (_, fact) => {
  const text = written({ ...fact, calls: ['call_1'] });
  expect(text).toContain('[redacted]');
  expect(text).not.toContain('canary');
});
