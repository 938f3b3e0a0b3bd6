import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { Content } from '../../../src/events/content.js';
import type { Event, RequestEvent } from '../../../src/events/events.js';
import { recordedPlain } from '../../../src/render/outputs/server-plain.js';

const INVOCATION: RequestEvent = {
  kind: 'request',
  seq: 0,
  at: 10,
  leg: 'l1',
  hop: 'runtime-side',
  from: 'runtime',
  to: 'tool',
  purpose: 'invocation',
  method: 'POST',
  url: '/invoke',
  headers: {},
  attempt: 1,
  calls: ['call_1'],
  thread: 'thread_1',
  body: Content.ofJson({ operation: 'edit_file' }),
};
const CALLBACK: RequestEvent = {
  ...INVOCATION,
  leg: 'l2',
  hop: 'tool-side',
  from: 'tool',
  to: 'runtime',
  purpose: 'callback',
  body: Content.ofJson({ type: 'tool_result' }),
};
const answered = (leg: string, status: number, more = {}): Event => ({
  kind: 'response',
  seq: 1,
  at: 13,
  leg,
  status,
  headers: {},
  ...more,
});
const broken = (leg: string): Event => ({
  kind: 'broken',
  seq: 1,
  at: 13,
  leg,
  phase: 'send',
  code: 'ECONNRESET',
});

const told = (...events: Event[]) => {
  const stream = new PassThrough({ encoding: 'utf8' });
  const listener = recordedPlain(stream, { level: 0 });
  return events.map(event => {
    listener(event);
    const text: string | null = stream.read();
    return text?.slice('  0:00.0 '.length, -1) ?? null;
  });
};

describe('a recording while it is made', () => {
  test.each<[string, RequestEvent, Event, string]>([
    [
      'an invocation',
      INVOCATION,
      answered('l1', 200),
      '→ invocation edit_file call_1 (thread_1)  200 in 3ms',
    ],
    [
      'one that is nobody’s',
      { ...CALLBACK, calls: undefined, thread: undefined, body: undefined },
      answered('l2', 404, { refusal: 'wrong-address' }),
      '← callback  404 refused: wrong-address in 3ms',
    ],
    [
      'row 24: one with a hostile name',
      { ...INVOCATION, calls: ['\u001b[2J\u202e'], body: undefined },
      answered('l1', 200),
      '→ invocation ␛[2J<U+202E> (thread_1)  200 in 3ms',
    ],
  ])('%s is a line once it is over', (_, request, end, line) => {
    expect(told(request, end)).toEqual([null, line]);
  });

  test('is reported where a message came in, and on the other side only what fails', () => {
    const onwards: RequestEvent = { ...INVOCATION, leg: 'l3', hop: 'tool-side' };
    expect(told(onwards, answered('l3', 200))).toEqual([null, null]);
    expect(told(onwards, broken('l3'))).toEqual([null, '! no answer from the tool: ECONNRESET']);
  });
});
