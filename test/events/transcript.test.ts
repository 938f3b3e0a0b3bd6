import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/events/events.js';
import { readTranscript, readTranscripts } from '../../src/events/transcript-reader.js';
import { transcriptWriter } from '../../src/events/transcript-writer.js';
import { createRedactor } from '../../src/util/redact.js';
import {
  acknowledged,
  arrives,
  bytesArrive,
  CHOICE,
  call,
  eventsOf,
  fold,
  INVOCATION,
  loaded,
  type Moment,
  OAUTH,
  refused,
  resultArrives,
  timedOut,
  untrackedRequest,
} from './build.js';

const ABOUT = {
  startedAt: '2025-01-01T00:00:00.000Z',
  observer: 'runtime',
  program: 'protocol-cli/test',
} as const;

function written(events: readonly Event[], ...secrets: string[]): string[] {
  const writer = transcriptWriter(createRedactor(secrets));
  return [writer.header(ABOUT), ...events.flatMap(event => writer.event(event)), writer.end('done')];
}

const EVENTS = eventsOf(
  untrackedRequest('discovery'),
  loaded(),
  call(),
  acknowledged(),
  arrives(OAUTH, { leg: 'b1' }),
  resultArrives({ text: 'done \u202e\u0000' }, { leg: 'b2' }),
  resultArrives({ text: 'done \u202e\u0000' }, { leg: 'b3' }),
  bytesArrive(Buffer.from([0xff, 0x00]), { leg: 'b4', status: 400 }),
  refused('wrong-address', 404),
  untrackedRequest('close', null),
);
const LINES = written(EVENTS);
const BODY_LINES = LINES.filter(line => line.startsWith('{"kind":"body"'));

describe('writing', () => {
  test('writes a header, the events and an end line, one object per line', () => {
    expect(LINES.every(line => !line.includes('\n'))).toBe(true);
    expect(JSON.parse(LINES[0] ?? '')).toMatchObject({
      kind: 'header',
      format: 'protocol-cli-transcript/1',
      ...ABOUT,
    });
    expect(JSON.parse(LINES.at(-1) ?? '')).toEqual({ kind: 'end', seq: EVENTS.length, reason: 'done' });
  });

  const bodies = LINES.map(line => JSON.parse(line)).filter(({ kind }) => kind === 'body');

  test('writes a body once, before the first event that refers to it', () => {
    expect(new Set(bodies.map(({ sha256 }) => sha256)).size).toBe(bodies.length);
    expect(readTranscript(LINES).faults).toEqual([]);
  });

  test('row 24: no line contains terminal control characters', () => {
    for (const line of LINES) expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

test('row 25: removes the token of a response_url, also in a field', () => {
  const url = 'http://tool:3001/user_choice/0123456789abcdef?code=canary';
  const selection = untrackedRequest('choice').map(each => ('url' in each ? { ...each, url } : each));
  const events = eventsOf(call(), arrives({ ...CHOICE, response_url: url }), selection);
  const lines = written(events).map(line => JSON.parse(line));
  expect(JSON.stringify(lines)).not.toMatch(/0123456789abcdef|canary/);
  const shared = 'http://tool:3001/user_choice/[redacted]';
  expect(lines).toContainEqual(expect.objectContaining({ purpose: 'choice', url: shared }));
  const bodies = lines.filter(({ kind }) => kind === 'body').map(({ data }) => JSON.parse(data));
  expect(bodies).toContainEqual({ ...CHOICE, response_url: shared });
});

describe('reading', () => {
  test('returns the written events', () => {
    const transcript = readTranscript(LINES);
    expect(transcript).toMatchObject({ end: 'done', faults: [], header: ABOUT });
    expect(transcript.events).toHaveLength(EVENTS.length);
    expect(fold(transcript.events)).toEqual(fold(EVENTS));
  });

  test('row 27: reports a truncated last line with its number, and keeps the rest', () => {
    const whole = LINES.join('\n');
    const torn = whole.slice(0, whole.length - 60).split('\n');
    const { events, end, faults } = readTranscript(torn);
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^line ${torn.length}: not valid JSON`))]);
    expect(end).toBeNull();
    expect(events.length).toBeGreaterThanOrEqual(EVENTS.length - 2);
  });

  test.each([
    ['garbage', 'line 3: not valid JSON'],
    ['\u0000\u0001', 'line 3: not valid JSON'],
    ['{"kind":"unheard-of"}', 'line 3: $.kind: '],
    ['{"kind":"response","leg":7}', 'line 3: $.seq: is required'],
    ['{"kind":"header","format":"another/9"}', 'line 3: $.format: '],
    ['['.repeat(10_000), 'line 3: the JSON is nested deeper than 128 levels'],
    ['null', 'line 3: $: '],
  ])('reports a line of %j, and keeps the valid lines', (line, fault) => {
    const lines = [...LINES.slice(0, 2), line, ...LINES.slice(2)];
    const { events, faults } = readTranscript(lines);
    expect(faults).toHaveLength(1);
    expect(faults[0]?.startsWith(fault)).toBe(true);
    expect(events).toHaveLength(EVENTS.length);
  });

  test('ignores blank lines; reports a missing body', () => {
    const withoutFirst = LINES.filter(line => line !== BODY_LINES[0]);
    const { events, faults } = readTranscript(['', ...withoutFirst, '  ']);
    expect(events).toHaveLength(EVENTS.length);
    expect(faults).toEqual([
      expect.stringMatching(/^line \d+: refers to a body that is not in the lines before$/),
    ]);
  });

  test('reports many lines with the same error once', () => {
    const { faults } = readTranscript(LINES.filter(line => !BODY_LINES.includes(line)));
    expect(faults).toEqual([
      expect.stringMatching(
        /^line \d+: refers to a body that is not in the lines before, as [4-9] more do until line \d+$/,
      ),
    ]);
  });

  test('reports a body that was edited', () => {
    const [line = ''] = BODY_LINES;
    const changed = line.replace('"data":"', '"data":" ');
    const { faults } = readTranscript(LINES.map(each => (each === line ? changed : each)));
    expect(faults).toEqual([`line ${LINES.indexOf(line) + 1}: the body does not match its sha256`]);
  });

  test('keeps a repeated event once', () => {
    const [twice = ''] = LINES.filter(line => line.includes('"seq":3,'));
    const place = LINES.indexOf(twice);
    const { events, faults } = readTranscript([...LINES.slice(0, place), twice, ...LINES.slice(place)]);
    expect(events).toHaveLength(EVENTS.length);
    expect(faults).toEqual([`line ${place + 2}: duplicate event 3`]);
  });

  test('reports lines after the end line', () => {
    const late = LINES.filter(line => line.includes(`"seq":${EVENTS.length - 1},`));
    const end = LINES.at(-1) ?? '';
    const { events, faults } = readTranscript([...LINES.slice(0, -2), end, ...late, end]);
    expect(events).toHaveLength(EVENTS.length);
    expect(faults).toEqual([
      `line ${LINES.length}: event after the end line`,
      `line ${LINES.length + 1}: duplicate end line`,
    ]);
  });
});

describe('missing events', () => {
  const events = LINES.filter(line => line.includes('"seq"'));
  const placed = (index: number) => LINES.indexOf(events[index] ?? '') + 1;
  const without = (...indexes: number[]) => {
    const gone = indexes.map(index => events[index]);
    return readTranscript(LINES.map(line => (gone.includes(line) ? '' : line)));
  };

  test('are reported at a gap in the numbers, with the next line', () => {
    expect(without(3).lost).toEqual([`line ${placed(4)}: 1 event is missing before it`]);
    expect(without(3, 4).lost).toEqual([`line ${placed(5)}: 2 events are missing before it`]);
  });

  test('are not reported again for an unreadable line', () => {
    const { faults, lost } = readTranscript(LINES.map(line => (line === events[3] ? line.slice(9) : line)));
    expect(faults).toHaveLength(1);
    expect(lost).toEqual([]);
  });

  test('at the end are reported by the end line', () => {
    const last = events.length - 2; // the end line has a number too
    expect(without(last).lost).toEqual([`line ${LINES.length}: 1 event is missing before it`]);
    expect(without(last - 1, last).lost).toEqual([`line ${LINES.length}: 2 events are missing before it`]);
  });

  test('at the end are unknown if the end line has no number, as in older transcripts', () => {
    const older = [...LINES.slice(0, -1), '{"kind":"end","reason":"done"}'];
    expect(readTranscript(older)).toMatchObject({ end: 'done', lost: [], faults: [] });
  });

  test('are reported for a missing line after an unreadable one', () => {
    const [torn, gone] = [events[3], events[6]];
    const lines = LINES.map(line => (line === torn ? line.slice(9) : line === gone ? '' : line));
    expect(readTranscript(lines).lost).toEqual([`line ${placed(7)}: 1 event is missing before it`]);
  });

  test('are those that the writer dropped', () => {
    const writer = transcriptWriter(createRedactor());
    const [last] = EVENTS.slice(-1);
    const dropped = { kind: 'dropped', what: 'event', why: 'too slow', count: 7, seq: 40, at: 99 } as const;
    const next = { kind: 'warned', message: 'on it goes', seq: 41, at: 99 } as const;
    const lines = [...LINES.slice(0, -1), ...writer.event(dropped), ...writer.event(next)];
    expect(last?.seq).toBeLessThan(40);
    expect(readTranscript(lines).lost).toEqual([`line ${LINES.length}: 7 events are not written: too slow`]);
  });
});

describe('several recordings in one file', () => {
  const [ONE, OTHER] = [LINES, written(EVENTS.slice(2))];
  const parts = (lines: readonly string[]) => readTranscripts(lines).map(({ events }) => events.length);

  test('are read separately, with the line numbers of the file', () => {
    const torn = [...OTHER.slice(0, 2), '{"kind":"resp', ...OTHER.slice(2)];
    const [first, second, ...others] = readTranscripts([...ONE, ...torn]);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ end: 'done', faults: [], lost: [] });
    expect(first?.events).toHaveLength(EVENTS.length);
    expect(second?.events).toHaveLength(EVENTS.length - 2);
    expect(second?.faults).toEqual([expect.stringMatching(new RegExp(`^line ${ONE.length + 3}: `))]);
  });

  test('are separated without a header if the sequence numbers restart', () => {
    expect(parts([...ONE, ...ONE.slice(1)])).toEqual([EVENTS.length, EVENTS.length]);
    expect(parts([...ONE.slice(1), ...ONE])).toEqual([EVENTS.length, EVENTS.length]);
  });

  test('readTranscript returns the first one, and reports the others', () => {
    const { events, faults } = readTranscript([...ONE, ...OTHER]);
    expect(events).toHaveLength(EVENTS.length);
    expect(faults).toEqual([`line ${ONE.length + 1}: a second transcript starts here and was ignored`]);
  });
});

describe('row 25: redaction', () => {
  const SECRET = 'tok/en+"1"';
  const CANARY = 'canary42';
  const secretive = { ...INVOCATION, callback_url: `http://127.0.0.1:4000/callback/${SECRET}` };

  test('removes a secret in a URL, a header, a body', () => {
    const headers = { authorization: CANARY, cookie: CANARY };
    const [request, response] = resultArrives({ text: `you gave me ${SECRET}` });
    const events = eventsOf(
      call({ invocation: secretive }).map(each => ({ ...each, headers })),
      [{ ...request, url: `/callback/${SECRET}` } as Moment, response as Moment],
    );
    const text = written(events, SECRET).join('\n');
    expect(text).not.toContain(CANARY);
    expect(text.replaceAll('\\', '')).not.toContain(SECRET.replaceAll('\\', ''));
    expect(text).toContain('you gave me [redacted]');
  });

  test('removes a secret in bytes that are not UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from([0xff]), Buffer.from(CANARY)]);
    const lines = written(eventsOf(call(), bytesArrive(bytes)), CANARY);
    const bodies = lines.map(line => JSON.parse(line)).filter(({ kind }) => kind === 'body');
    for (const { data, encoding } of bodies)
      expect(Buffer.from(data, encoding).toString('latin1')).not.toContain(CANARY);
  });

  test('RT-OAUTH: removes the query of an auth_url', () => {
    const auth_url = `https://user:${CANARY}@auth.example/consent?state=${CANARY}#${CANARY}`;
    const text = written(eventsOf(call(), arrives({ ...OAUTH, auth_url }), timedOut())).join('\n');
    expect(text).not.toContain(CANARY);
    expect(text).toContain('https://auth.example/consent');
  });

  test('the digest of a body does not reveal its secrets', () => {
    const events = eventsOf(call(), resultArrives({ text: CANARY }));
    const digests = events.flatMap(event => ('body' in event && event.body ? [event.body.sha256] : []));
    expect(written(events, CANARY).join('\n')).not.toContain(digests.at(-1));
  });
});
