import { expect, test } from 'vitest';
import { asCurl, sentCall } from '../../../src/commands/workbench/copies.js';
import { CallLog } from '../../../src/events/call-log.js';
import type { Event } from '../../../src/events/events.js';
import { createRedactor } from '../../../src/util/redact.js';
import { call, eventsOf, KEY } from '../../events/build.js';

/** The first line of what is copied of a call that these requests are about; null where nothing can be. */
function curlOf(...requests: readonly Partial<Extract<Event, { kind: 'request' }>>[]): string | null {
  const book = new CallLog('tool', true);
  for (const [index, fields] of requests.entries())
    for (const event of eventsOf(call({ attempt: index + 1 }))) book.apply({ ...event, ...fields } as Event);
  const sent = sentCall({ book, redactor: createRedactor() }, KEY);
  return sent && (asCurl(sent, false).text.split(' \\\n')[1]?.trim() ?? '');
}

test.each([
  ['a tool is told its name', { host: 'tool.test:3001' }, "'http://tool.test:3001/invoke'"],
  ['whatever the letters', { Host: 'TOOL:1' }, "'http://TOOL:1/invoke'"],
  ['nobody has told it', {}, null],
  ['it is no name', { host: 'me@tool/x' }, null],
])('where %s, a path alone becomes an address, or nothing is copied', (_, headers, curl) => {
  expect(curlOf({ url: '/invoke', headers })).toBe(curl);
});

test('of what a recorder saw on both sides it is the way to the tool', () => {
  const own = { url: '/invoke', headers: { host: 'recorder:1' } };
  expect(curlOf(own, { url: 'http://tool:2/invoke' })).toBe("'http://tool:2/invoke'");
});
