import { expect, test } from 'vitest';
import { asCurl } from '../../../src/commands/workbench/copies.js';
import type { Event, RequestEvent } from '../../../src/events/events.js';
import { CallLog } from '../../../src/events/history.js';
import { createRedactor } from '../../../src/util/redact.js';
import { call, eventsOf, KEY } from '../../events/build.js';

/** The copy of a call that these requests are about; null where none exists. */
function copyOf(...requests: readonly Partial<RequestEvent>[]) {
  const book = new CallLog('tool', true);
  for (const [index, fields] of requests.entries())
    for (const event of eventsOf(call({ attempt: index + 1 }))) book.apply({ ...event, ...fields } as Event);
  return asCurl({ book, redactor: createRedactor() }, KEY, null);
}

test.each<[string, readonly Partial<RequestEvent>[], string | null]>([
  ['a Host header', [{ url: '/invoke', headers: { Host: 'TOOL:1' } }], "'http://TOOL:1/invoke'"],
  ['no Host header', [{ url: '/invoke', headers: {} }], null],
  ['an invalid Host header', [{ url: '/invoke', headers: { host: 'me@tool/x' } }], null],
  [
    'both sides of a recorder',
    [{ url: '/invoke', headers: { host: 'recorder:1' } }, { url: 'http://tool:2/invoke' }],
    "'http://tool:2/invoke'",
  ],
])('the address comes from %s', (_, requests, address) => {
  expect(
    copyOf(...requests)
      ?.text.split(' \\\n')[1]
      ?.trim() ?? null,
  ).toBe(address);
});

test('headers of the connection are left to curl, and secret ones have to be filled in', () => {
  const headers = { Host: 'a', 'content-length': '7', 'content-type': 'application/json', 'x-key': 'k' };
  const { text = '', gaps } = copyOf({ headers }) ?? {};
  expect(text.match(/-H '[^']*'/g)).toEqual([
    "-H 'content-type: application/json'",
    "-H 'x-key: [redacted]'",
  ]);
  expect(gaps).toEqual(['callback_url', 'x-key']);
});
