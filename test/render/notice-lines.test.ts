import { expect, test } from 'vitest';
import { noticeLine, type ToldNotice } from '../../src/render/toolset.js';
import { words } from '../support/words.js';

const NOTICE: ToldNotice = {
  url: 'http://127.0.0.1:3001/close_thread',
  message: { thread_id: 't' },
  status: 200,
  said: '',
  ms: 3,
};
const SENT = 'http://127.0.0.1:3001/close_thread {"thread_id":"t"}';

test.each<[string, Partial<ToldNotice>]>([
  [`✓ ${SENT} answered 200 after 3ms`, {}],
  [`✗ ${SENT} answered 204 instead of 200 after 3ms`, { status: 204 }],
  [`✗ ${SENT} answered 409 instead of 200 after 3ms: busy`, { status: 409, said: 'busy' }],
  [`✗ ${SENT} not answered after 1.2s: ECONNREFUSED`, { status: null, said: 'ECONNREFUSED', ms: 1_200 }],
])('%s', (line, change) => {
  expect(words(noticeLine({ ...NOTICE, ...change }))).toBe(line);
});

test('threats, row 24: what the tool says stays on the line, and acts on nothing', () => {
  const line = words(noticeLine({ ...NOTICE, status: 500, said: '\u001b]0;owned\u0007\nx\u202e' }));
  expect(line).toContain(': ␛]0;owned␇␊x<U+202E>');
});
