import { describe, expect, test } from 'vitest';
import { Content } from '../../../../src/events/content.js';
import { countUnseen } from '../../../../src/util/visible.js';
import {
  acknowledged,
  answered,
  arrives,
  at,
  bytesArrive,
  CHOICE,
  call,
  EVENT,
  eventsOf,
  INVOCATION,
  KEY,
  lost,
  type Moment,
  OAUTH,
  resultArrives,
} from '../../../events/build.js';
import { read } from '../../read-sheet.js';
import { bookOf, LOOK, sheetsFor } from './look-at.js';

function wireOf(...parts: readonly (readonly Moment[])[]): string[] {
  const [lines = []] = read(sheetsFor().sheetOf('wire', bookOf(...parts), KEY, LOOK));
  return lines;
}

describe('what became of a request', () => {
  test.each<[string, readonly (readonly Moment[])[]]>([
    ['… not answered yet', [call()]],
    ['* not answered: ECONNREFUSED (connect)  after 1ms', [call(), lost()]],
    ['< 503  after 1ms', [call(), answered(503, { body: 'busy' })]],
    ['busy', [call(), answered(503, { body: 'busy' })]],
  ])('%s', (line, parts) => {
    expect(wireOf(...parts)).toContain(line);
  });

  test('an answer stands below its own request, whatever came between', () => {
    const heads = wireOf(call(), resultArrives(), at(9, acknowledged())).filter(line =>
      /^[><] \S+( \/| {2}after)/.test(line),
    );
    expect(heads).toEqual(['< 200  after 9ms', '> POST /callback/token  callback', '< 200  after 1ms']);
  });
});

test('anyone who looks after every event reads the same in the end: each answer below its request', () => {
  const book = bookOf();
  const sheets = sheetsFor();
  const events = eventsOf(
    call(),
    arrives(EVENT),
    at(9, acknowledged()),
    arrives({ ...EVENT, text: 'another' }, { leg: 'back-2' }),
    resultArrives({}, { leg: 'back-3' }),
  );
  const seen = () => read(sheets.sheetOf('wire', book, KEY, LOOK))[0] ?? [];
  for (const event of events) {
    book.apply(event);
    seen();
  }
  expect(seen()).toEqual(read(sheetsFor().sheetOf('wire', book, KEY, LOOK))[0]);
  expect(seen().filter(line => /^< /.test(line))).toHaveLength(4);
});

test('bytes that are no text are counted', () => {
  expect(wireOf(call(), bytesArrive(new Uint8Array([0xff, 0xfe, 0x1b])))).toContain(
    '(3 bytes that are not UTF-8)',
  );
});

test('threats, row 25: no credential, no power of a URL', () => {
  const headers = {
    authorization: 'Bearer canary-secret',
    'x-key': 'other-canary',
    host: 'canary-secret.example',
  };
  const sent = call({ invocation: { ...INVOCATION, arguments: { note: 'canary-secret' } } });
  const lines = wireOf(
    sent.map(moment => ({ ...moment, headers }) as Moment),
    arrives({ ...OAUTH, auth_url: 'https://auth.example/consent?state=canary' }),
    arrives({ ...CHOICE, response_url: 'http://127.0.0.1:3001/choices/canary_canary_canary' }, { leg: 'b2' }),
  );
  expect(lines.join('\n')).not.toContain('canary');
  expect(lines).toContain('> authorization: [redacted]');
});

test('threats, row 24: foreign words are safe to print', () => {
  const odd = { 'content-type': 'a\u001b[2J' };
  const lines = wireOf(
    call().map(moment => ({ ...moment, headers: odd, url: 'http://x/\u202e' }) as Moment),
    answered(400, { body: '\u001b]52;c;b3du\u0007' }),
  );
  expect(countUnseen(lines.join('\n'))).toBe(0);
  expect(lines).toContain('␛]52;c;b3du␇');
});

describe('a body', () => {
  let readings = 0;
  class Watched extends Content {
    override get bytes(): Uint8Array {
      readings++;
      return super.bytes;
    }
  }
  const begunWith = (fields: object): Moment[] => {
    const body = new Watched(Buffer.from(JSON.stringify({ ...INVOCATION, ...fields })));
    return call().map(moment => ({ ...moment, body }) as Moment);
  };
  const end = [...acknowledged(), ...resultArrives()];

  test('that is large is cleaned once, however many events follow', () => {
    const sheets = sheetsFor();
    const book = bookOf(begunWith({ arguments: { text: 'x'.repeat(100_000) } }));
    const document = () => sheets.sheetOf('wire', book, KEY, LOOK).parts[0]?.document;
    const before = document()?.length ?? 0;
    const after = readings;
    for (const event of eventsOf(call(), end).slice(1)) book.apply(event);
    expect(document()?.length).toBeGreaterThan(before);
    document()?.line(5);
    expect(readings).toBe(after);
  });

  test('that is small, of a request that is over, stays laid out only while it is read', () => {
    const sheets = sheetsFor();
    const document = sheets.sheetOf('wire', bookOf(begunWith({}), end), KEY, LOOK).parts[0]?.document;
    const before = readings;
    for (let line = 0; line < 10; line++) document?.line(line);
    expect(readings).toBe(before + 1);
  });
});

test('a leg is drawn when it begins and when it ends, however many events follow', () => {
  const sheets = sheetsFor();
  let drawn = 0;
  const events = eventsOf(
    call(),
    acknowledged(),
    ...[1, 2, 3, 4].map(at => arrives(EVENT, { leg: `back-${at}` })),
  );
  const headers = () => {
    drawn++;
    return {};
  };
  for (const event of events)
    if (event.kind === 'request') Object.defineProperty(event, 'headers', { get: headers });
  const book = bookOf();
  const costs = events.map(event => {
    book.apply(event);
    const before = drawn;
    sheets.sheetOf('wire', book, KEY, LOOK);
    return drawn - before;
  });
  const [one = 0] = costs;
  expect(one).toBeGreaterThan(0);
  expect(costs).toEqual(events.map(() => one));
});
