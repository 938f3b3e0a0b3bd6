import { expect, test } from 'vitest';
import { recordedSecrets } from '../../../src/commands/record/recording.js';
import { Content } from '../../../src/events/content.js';
import type { RequestEvent } from '../../../src/events/events.js';

const request = (more: Partial<RequestEvent>): RequestEvent => ({
  kind: 'request',
  seq: 0,
  at: 0,
  leg: 'l1',
  from: 'runtime',
  to: 'tool',
  purpose: 'invocation',
  method: 'POST',
  url: '/invoke',
  headers: {},
  attempt: 1,
  ...more,
});

test.each<[string, Partial<RequestEvent>]>([
  ['a bearer token', { headers: { authorization: 'Bearer c4n4ry-sings-loud' } }],
  ['a cookie', { headers: { cookie: 'c4n4ry-sings-loud' } }],
  ['one cookie of several', { headers: { cookie: 'a=b; sid="c4n4ry-sings-loud"; c=d' } }],
  ['the id of a session', { headers: { 'x-session': 'c4n4ry-sings-loud' } }],
  ['a key', { headers: { 'x-api-key': 'c4n4ry-sings-loud' } }],
  ['basic credentials', { headers: { authorization: `Basic ${btoa('me:c4n4ry-sings-loud')}` } }],
  [
    'the token of a callback URL',
    { body: Content.ofJson({ callback_url: 'http://127.0.0.1:9/callback/c4n4ry-sings-loud' }) },
  ],
  [
    'the token of a duplicate callback URL',
    {
      body: new Content(
        Buffer.from(
          '{"callback_url":"http:\\/\\/127.0.0.1:9\\/c4n4ry-sings-loud","callback_url":"http://127.0.0.1:9/b"}',
        ),
      ),
    },
  ],
  [
    'the token of a callback URL in invalid JSON',
    { body: new Content(Buffer.from('{"callback_url" : "http://127.0.0.1:9/?token=c4n4ry-sings-loud')) },
  ],
  [
    'the token of a response URL',
    {
      purpose: 'callback',
      body: Content.ofJson({ type: 'user_choice', response_url: 'http://127.0.0.1:9/c4n4ry-sings-loud' }),
    },
  ],
])('row 25: %s is redacted once it was seen', (_, more) => {
  const secrets = recordedSecrets();
  expect(secrets.text('the c4n4ry-sings-loud')).toBe('the c4n4ry-sings-loud');
  secrets.learn(request(more));
  expect(secrets.text('the c4n4ry-sings-loud')).toBe('the [redacted]');
});

test.each<[string, Partial<RequestEvent>, string]>([
  ['the id', { body: Content.ofJson({ id: 'call_12345678' }) }, 'call_12345678'],
  ['the thread', { body: Content.ofJson({ group_id: 'thread_1234' }) }, 'thread_1234'],
  ['the call_id', { body: Content.ofJson({ call_id: 'toolu_12345' }) }, 'toolu_12345'],
  ['the call of a selection', { purpose: 'choice', calls: ['call_12345678'] }, 'call_12345678'],
  ['a word of the protocol', {}, 'arguments'],
  ['a type of the protocol', {}, 'subscription_event'],
  ['a short word', {}, 'texts'],
])('%s is not a credential, even if a header repeats it', (_, more, value) => {
  const secrets = recordedSecrets();
  for (const name of ['x-api-key', 'x-call-token', 'authorization'])
    secrets.learn(request({ ...more, headers: { [name]: value } }));
  expect(secrets.text(`{"${value}":"${value}"}`)).toBe(`{"${value}":"${value}"}`);
});

test('an idempotency key is not a credential', () => {
  const secrets = recordedSecrets();
  for (const name of ['idempotency-key', 'x-idempotency-key'])
    secrets.learn(request({ headers: { [name]: 'call_12345678' } }));
  expect(secrets.text('call_12345678')).toBe('call_12345678');
});

test('a callback URL whose path contains a message type does not change the messages', () => {
  const secrets = recordedSecrets();
  secrets.learn(
    request({ body: Content.ofJson({ callback_url: 'http://127.0.0.1:9/tool_result/callback_url' }) }),
  );
  expect(secrets.text('{"type":"tool_result","callback_url":""}')).toBe(
    '{"type":"tool_result","callback_url":""}',
  );
});

test('other values are kept', () => {
  const secrets = recordedSecrets();
  secrets.learn(request({ headers: { 'x-request-id': 'call_12345678', 'user-agent': 'runtime/1.0' } }));
  expect(secrets.text('call_12345678 runtime/1.0')).toBe('call_12345678 runtime/1.0');
});
