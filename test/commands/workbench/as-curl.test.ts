import { expect, test } from 'vitest';
import { asCurl } from '../../../src/commands/workbench/copies.js';
import { createRedactor } from '../../../src/util/redact.js';
import { call, eventsOf, INVOCATION } from '../../events/build.js';

/** The call as it was sent, with these headers. */
function sentWith(headers: Readonly<Record<string, string>>) {
  const request = eventsOf(call()).find(event => event.kind === 'request');
  if (request?.kind !== 'request') throw new Error('a call is a request');
  return {
    request: { ...request, headers },
    url: request.url,
    invocation: INVOCATION,
    redactor: createRedactor(),
  };
}

test('what belongs to the connection that it was sent on is left to curl', () => {
  const sent = sentWith({
    Host: 'a',
    'content-length': '7',
    connection: 'close',
    'content-type': 'application/json',
  });
  const { text } = asCurl(sent, false);
  expect(text.match(/-H '[^']*'/g)).toEqual(["-H 'content-type: application/json'"]);
});

test('what a secret was taken out of has to be put in, wherever it stood', () => {
  const sent = sentWith({ 'x-key': 'k' });
  const invocation = { ...INVOCATION, arguments: { token: '[redacted]' }, group_id: 'for [redacted]' };
  const { gaps } = asCurl({ ...sent, invocation }, true);
  expect(gaps).toEqual(['arguments', 'callback_url', 'group_id', 'x-key']);
  expect(asCurl(sent, false).gaps).toEqual(['callback_url', 'x-key']);
});
