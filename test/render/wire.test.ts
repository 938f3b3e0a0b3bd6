import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallLog } from '../../src/events/call-log.js';
import { Content } from '../../src/events/content.js';
import type { Fact } from '../../src/events/events.js';
import { timelineLines, verbosePrinter } from '../../src/render/wire.js';
import { createRedactor } from '../../src/util/redact.js';
import { hiddenIn } from '../../src/util/visible.js';
import {
  acknowledged,
  arrives,
  at,
  CHOICE,
  call,
  eventsOf,
  INVOCATION,
  KEY,
  loaded,
  type Moment,
  OAUTH,
  refused,
  resultArrives,
  untrackedRequest,
} from '../events/build.js';
import { words } from '../support/words.js';

describe('event lines', () => {
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

  const lineOf = (fact: Fact) => {
    const event = { ...fact, seq: 0, at: 0 };
    const [line = []] = timelineLines([{ event, steps: [] }], [], 0, createRedactor(['canary']));
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
    expect(lineOf(fact)).toBe(line);
  });
});

describe('bodies', () => {
  const linesOf = (bytes: Uint8Array | string, secrets: string[] = []) =>
    timelineLines(
      [
        {
          event: {
            kind: 'response',
            leg: 'x',
            status: 200,
            headers: {},
            seq: 0,
            at: 0,
            body: new Content(Buffer.from(bytes)),
          },
          steps: [],
        },
      ],
      [],
      0,
      createRedactor(secrets),
      true,
    )
      .slice(1)
      .map(line => words(line).slice(' '.repeat(11).length + 2));

  test('shows a text unchanged', () => {
    expect(linesOf('{"b":1,\r\n "b" : 1.0}')).toEqual(['{"b":1,␍', ' "b" : 1.0}']);
    expect(linesOf('')).toEqual([]);
  });

  test('shows bytes other than UTF-8 in hex', () => {
    expect(linesOf(new Uint8Array([0x66, 0x6f, 0x1b, 0xff]))).toEqual([
      `0000  66 6f 1b ff${' '.repeat(37)} fo..`,
    ]);
    expect(linesOf(new Uint8Array(40).fill(0xfe)).map(line => line.slice(0, 4))).toEqual([
      '0000',
      '0010',
      '0020',
    ]);
  });

  describe('shows only the beginning of a large body', () => {
    test.each([
      ['many lines', 'x\n'.repeat(100), 41, '… of 200 bytes in all'],
      ['one long line', 'x'.repeat(100_000), 2, '… of 100000 bytes in all'],
      ['bytes', new Uint8Array(100_000).fill(0xff), 17, '… of 100000 bytes in all'],
    ])('%s', (_, bytes, count, last) => {
      const lines = linesOf(bytes);
      expect(lines).toHaveLength(count);
      expect(lines.at(-1)).toBe(last);
    });
  });

  describe('threats, row 25: contains no secrets', () => {
    test.each<[string, Uint8Array | string]>([
      ['in a text', '{"a":"canary-secret"}'],
      ['in a large text', `{"a":"canary-secret${'x'.repeat(100_000)}"}`],
      ['in bytes', Buffer.concat([Buffer.from([0xff]), Buffer.from('canary-secret')])],
      ['in the query of a consent URL', '{"type":"oauth","auth_url":"https://auth.example/?state=canary"}'],
    ])('%s', (_, bytes) => {
      expect(linesOf(bytes, ['canary-secret']).join('\n')).not.toContain('canary');
    });
  });

  test('threats, row 24: every line is safe to print, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), bytes => {
        for (const line of linesOf(bytes)) {
          expect(hiddenIn(line).count).toBe(0);
          expect(line).not.toContain('\n');
        }
      }),
    );
  });
});

describe('CallLog.concerning', () => {
  /** The legs of what concerns the call, and the kind of what has none. */
  function concerningLegs(...parts: readonly (readonly Moment[])[]): string[] {
    const callLog = new CallLog();
    for (const event of eventsOf(...parts)) callLog.apply(event);
    const exchange = callLog.history.exchanges.get(KEY);
    if (!exchange) throw new Error('there is no call');
    return callLog.concerning(exchange).map(event => ('leg' in event ? (event.leg ?? '') : event.kind));
  }

  /** How an origin is asked for its toolset. */
  function asked(leg: string, origin: string): Moment[] {
    const url = `${origin}/.well-known/rap-toolset`;
    return untrackedRequest('discovery').map(
      moment => ({ ...moment, leg, ...(moment.kind === 'request' && { url }) }) as Moment,
    );
  }

  const own = () => asked('own', 'http://127.0.0.1:3001');

  /** A discovery somewhere else. */
  const foreign = (): Moment[] => [
    ...asked('foreign', 'http://127.0.0.1:9'),
    ...loaded({ base: 'http://127.0.0.1:9' }).map(
      moment => ({ ...moment, endpoint: 'http://127.0.0.1:9/invoke' }) as Moment,
    ),
  ];

  test("returns the call's own events and the discovery of its tool, in order", () => {
    expect(concerningLegs(foreign(), own(), loaded(), call(), acknowledged())).toEqual([
      'own',
      'own',
      'loaded',
      'try-1',
      'try-1',
    ]);
  });

  test('returns every discovery if its tool is unknown', () => {
    expect(concerningLegs(own(), call())).toEqual(['own', 'own', 'try-1']);
  });

  test('returns callbacks of no call that arrived while the call was pending', () => {
    const stray = (leg: string) => refused('wrong-address', 404, { leg });
    const legs = concerningLegs(
      at(1, stray('before')),
      at(2, call()),
      at(3, [...asked('foreign', 'http://127.0.0.1:9'), ...stray('meanwhile')]),
      at(4, resultArrives()),
      at(5, stray('after')),
    );
    expect(legs).toEqual(['try-1', 'meanwhile', 'meanwhile', 'back-1', 'back-1']);
  });
});

describe('-v', () => {
  function verboseOutput(secrets: string[], ...parts: Moment[][]): string {
    let text = '';
    const tell = verbosePrinter(createRedactor(secrets), piece => (text += piece));
    for (const event of eventsOf(...parts)) tell(event);
    return text;
  }

  describe('row 25: contains no secrets', () => {
    test('hides the address for the answer to a question', () => {
      const url = 'http://tool:3001/choices/0123456789abcdef?code=canary';
      const selection = untrackedRequest('choice').map(each => ('url' in each ? { ...each, url } : each));
      const text = verboseOutput([], arrives({ ...CHOICE, response_url: url }), selection);
      expect(text).toContain('> POST http://tool:3001/choices/[redacted]\n');
      expect(text).toContain('"response_url":"http://tool:3001/choices/[redacted]"');
      expect(text).not.toContain('canary');
    });

    test('hides secrets in URLs, headers and bodies', () => {
      const secretive = { ...INVOCATION, callback_url: 'http://127.0.0.1/callback/s3cret' };
      const parts = [
        call({ invocation: secretive }).map(each => ({
          ...each,
          headers: { authorization: 'Bearer canary', 'x-key': 'canary' },
        })),
        resultArrives({ text: 's3cret' })
          .slice(0, 1)
          .map(each => ({ ...each, url: '/callback/s3cret' })),
      ];
      const text = verboseOutput(['s3cret'], ...parts);
      expect(text).not.toMatch(/s3cret|canary/);
      expect(text).toContain('> authorization: [redacted]');
      expect(text).toContain('< POST /callback/[redacted]');
    });

    test('RT-OAUTH: removes the query of an auth_url', () => {
      const text = verboseOutput([], arrives({ ...OAUTH, auth_url: 'https://auth.example/a?state=canary' }));
      expect(text).toContain('https://auth.example/a');
      expect(text).not.toContain('canary');
    });
  });

  test('row 24: contains no raw control characters', () => {
    const evil = '\u001b]0;x\u0007\u202e';
    const moments = resultArrives({ text: evil }).map(each => ({
      ...each,
      url: `/${evil}`,
      headers: { 'content-type': evil },
    }));
    expect(verboseOutput([], moments).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  test('cuts a very large body and shows how much is missing', () => {
    const text = verboseOutput([], resultArrives({ text: 'x'.repeat(200_000) }).slice(0, 1));
    expect(text.length).toBeLessThan(70_000);
    expect(text).toMatch(/… \d+ more characters/);
  });
});
