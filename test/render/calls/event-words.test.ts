import { expect, test } from 'vitest';
import { Content } from '../../../src/events/content.js';
import type { Fact } from '../../../src/events/events.js';
import { toldEventLines } from '../../../src/render/wire.js';
import { createRedactor } from '../../../src/util/redact.js';
import { words } from '../../support/words.js';

const REQUEST = {
  kind: 'request',
  leg: 'l1',
  from: 'runtime',
  to: 'tool',
  purpose: 'invocation',
  method: 'POST',
  url: 'http://127.0.0.1:3001/invoke',
  headers: {},
  attempt: 1,
} as const;
const RESPONSE = { kind: 'response', leg: 'l1', status: 200, headers: {} } as const;

const told = (fact: Fact) => {
  const event = { ...fact, seq: 0, at: 0 };
  const [line = []] = toldEventLines({ event, steps: [] }, 0, createRedactor(['canary']));
  return words(line).replace(/^ *0ms /, '');
};

test.each<[string, Fact]>([
  [
    '← POST http://127.0.0.1:3001/invoke callback, attempt 2, tool-side, 1 byte',
    {
      ...REQUEST,
      from: 'tool',
      purpose: 'callback',
      attempt: 2,
      hop: 'tool-side',
      body: new Content(Buffer.from('x')),
    },
  ],
  ['answered 403 refused: a [redacted] header', { ...RESPONSE, status: 403, refusal: 'a canary header' }],
  ['not answered: ECONNRESET (answer)', { kind: 'broken', leg: 'l1', phase: 'answer', code: 'ECONNRESET' }],
  ['answered by the client; no␊ id', { kind: 'answered', by: 'client', unexpected: ['no\n id'] }],
  ['warned ␛[2J [redacted]', { kind: 'warned', message: '\u001b[2J canary' }],
  ['dropped 2 × callback: gone', { kind: 'dropped', what: 'callback', why: 'gone', count: 2 }],
])('%s', (line, fact) => {
  expect(told(fact)).toBe(line);
});
