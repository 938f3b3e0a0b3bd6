import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { Content } from '../../src/events/content.js';
import type { Event, RequestEvent } from '../../src/events/events.js';
import { createLog } from '../../src/events/log.js';
import { serverPlain } from '../../src/render/outputs/server-plain.js';
import type { ColourLevel } from '../../src/render/terminal/colour-level.js';
import { createRedactor } from '../../src/util/redact.js';
import { MockEvents, TOKEN } from '../support/mock-events.js';

describe('a mock', () => {
  /** The output about what `act` does. */
  function outputOf(act: (mock: MockEvents) => unknown, level: ColourLevel = 0): string {
    const stream = new PassThrough({ encoding: 'utf8' });
    const mock = new MockEvents();
    mock.log.subscribe(serverPlain('tool', stream, { level }));
    act(mock);
    return String(stream.read() ?? '');
  }

  test('threats, row 24: contains no raw control characters', () => {
    const text = outputOf(mock => {
      mock.receives('a', { operation: '\u001b[2J\u009b31m\r', group_id: '\u202e\n' }).matches('a', '\u0007');
    });
    expect(text).toBe('  0:00.0 → ␛[2J<U+009B>31m␍ a (<U+202E>␊) answered by ␇\n');
  });

  test('threats, row 25: does not contain callback tokens', () => {
    const text = outputOf(mock => {
      mock.receives('a').about('a', { kind: 'warned', message: `could not post to /callback/${TOKEN}` });
      mock.about('a', { kind: 'dropped', what: 'callback', why: `/callback/${TOKEN} refused`, count: 1 });
    });
    expect(text.split('\n')).toHaveLength(3);
    expect(text).not.toContain(TOKEN);
  });
});

describe('a platform of sessions', () => {
  async function outputOf(answer: unknown): Promise<string[]> {
    let now = 0;
    const log = createLog(() => now);
    const stream = new PassThrough();
    log.subscribe(serverPlain('platform', stream, { level: 0, redactor: createRedactor(['key-0815']) }));
    const about = { thread: 's', calls: ['call_1'] };
    const pending = [{ key: 'call_1', tool_name: 'lookup', args: { a: 1 }, id: 'call_1' }];
    log.emit({ kind: 'session', status: 'running', thread: 's' });
    log.emit({ kind: 'awaiting', round: 0, pending, ...about });
    now = 1_500;
    log.emit({ kind: 'answered', by: 'platform', body: Content.ofJson(answer), ...about });
    log.emit({ kind: 'session', status: 'completed', answer: 'done', thread: 's' });
    stream.end();
    return (await text(stream)).trimEnd().split('\n');
  }

  const tool_req = { tool_name: 'lookup', args: { a: 1 }, id: 'call_1' };

  test('makes untrusted text safe to print and removes secrets', async () => {
    const lines = (
      await outputOf({ kind: 'tool_result', tool_req, result: 'key-0815 \u001b[2J\nover' })
    ).join('\n');
    for (const bad of ['key-0815', '\u001b']) expect(lines).not.toContain(bad);
    expect(lines).toContain('[redacted]');
    expect(lines.split('\n')).toHaveLength(4);
  });
});

describe('a recorder', () => {
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

  const outputOf = (...events: Event[]) => {
    const stream = new PassThrough({ encoding: 'utf8' });
    const listener = serverPlain('recorder', stream, { level: 0 });
    return events.map(event => {
      listener(event);
      const text: string | null = stream.read();
      return text?.slice('  0:00.0 '.length, -1) ?? null;
    });
  };

  describe('a recorder', () => {
    test.each<[string, RequestEvent, Event, string]>([
      [
        'an invocation',
        INVOCATION,
        answered('l1', 200),
        '→ invocation edit_file call_1 (thread_1)  200 in 3ms',
      ],
      [
        'the ends of random UUIDs, since the beginnings of version 7 are alike,',
        {
          ...INVOCATION,
          calls: ['call_0199a2b4-6c1d-7e0f-8a3b-4c5d6e7f8091'],
          thread: '3f2b8c1e-9d4a-4b6f-a1c2-d3e4f5061728',
        },
        answered('l1', 200),
        '→ invocation edit_file call_…6e7f8091 (…f5061728)  200 in 3ms',
      ],
      [
        'a callback of no call',
        { ...CALLBACK, calls: undefined, thread: undefined, body: undefined, url: '/callback' },
        answered('l2', 404, { refusal: 'wrong-address' }),
        '← callback  404: posted to /callback, not to its callback URL in 3ms',
      ],
      [
        'row 24: one with a hostile name',
        { ...INVOCATION, calls: ['\u001b[2J\u202e'], body: undefined },
        answered('l1', 200),
        '→ invocation ␛[2J<U+202E> (thread_1)  200 in 3ms',
      ],
    ])('prints %s on one line when it ends', (_, request, end, line) => {
      expect(outputOf(request, end)).toEqual([null, line]);
    });

    test('reports a message on its incoming side, and on the other side only failures', () => {
      const onwards: RequestEvent = { ...INVOCATION, leg: 'l3', hop: 'tool-side' };
      expect(outputOf(onwards, answered('l3', 200))).toEqual([null, null]);
      expect(outputOf(onwards, broken('l3'))).toEqual([null, '! no answer from the tool: ECONNRESET']);
    });
  });
});
