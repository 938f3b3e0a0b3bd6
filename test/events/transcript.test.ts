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

const STORY = eventsOf(
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
const LINES = written(STORY);
const BODY_LINES = LINES.filter(line => line.startsWith('{"kind":"body"'));

describe('what is written', () => {
  test('a header, the events, an end, one object a line', () => {
    expect(LINES.every(line => !line.includes('\n'))).toBe(true);
    expect(JSON.parse(LINES[0] ?? '')).toMatchObject({
      kind: 'header',
      format: 'protocol-cli-transcript/1',
      ...ABOUT,
    });
    expect(JSON.parse(LINES.at(-1) ?? '')).toEqual({ kind: 'end', seq: STORY.length, reason: 'done' });
  });

  const bodies = LINES.map(line => JSON.parse(line)).filter(({ kind }) => kind === 'body');

  test('bytes once, before the first event that refers to them', () => {
    expect(new Set(bodies.map(({ sha256 }) => sha256)).size).toBe(bodies.length);
    expect(readTranscript(LINES).faults).toEqual([]);
  });

  test('row 24: no line acts on a terminal', () => {
    for (const line of LINES) expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

test('row 25: the address of a question is reported without its token, as a field', () => {
  const url = 'http://tool:3001/user_choice/0123456789abcdef?code=canary';
  const selection = untrackedRequest('choice').map(each => ('url' in each ? { ...each, url } : each));
  const story = eventsOf(call(), arrives({ ...CHOICE, response_url: url }), selection);
  const lines = written(story).map(line => JSON.parse(line));
  expect(JSON.stringify(lines)).not.toMatch(/0123456789abcdef|canary/);
  const shared = 'http://tool:3001/user_choice/[redacted]';
  expect(lines).toContainEqual(expect.objectContaining({ purpose: 'choice', url: shared }));
  const bodies = lines.filter(({ kind }) => kind === 'body').map(({ data }) => JSON.parse(data));
  expect(bodies).toContainEqual({ ...CHOICE, response_url: shared });
});

describe('what is read', () => {
  test('is what was written', () => {
    const transcript = readTranscript(LINES);
    expect(transcript).toMatchObject({ end: 'done', faults: [], header: ABOUT });
    expect(transcript.events).toHaveLength(STORY.length);
    expect(fold(transcript.events)).toEqual(fold(STORY));
  });

  test('row 27: a torn tail is reported with its line, the rest is kept', () => {
    const whole = LINES.join('\n');
    const torn = whole.slice(0, whole.length - 60).split('\n');
    const { events, end, faults } = readTranscript(torn);
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^line ${torn.length}: not valid JSON`))]);
    expect(end).toBeNull();
    expect(events.length).toBeGreaterThanOrEqual(STORY.length - 2);
  });

  test.each([
    ['garbage', 'line 3: not valid JSON'],
    ['\u0000\u0001', 'line 3: not valid JSON'],
    ['{"kind":"unheard-of"}', 'line 3: $.kind: '],
    ['{"kind":"response","leg":7}', 'line 3: $.seq: is required'],
    ['{"kind":"header","format":"another/9"}', 'line 3: $.format: '],
    ['['.repeat(10_000), 'line 3: the JSON is nested deeper than 128 levels'],
    ['null', 'line 3: $: '],
  ])('a line of %j is reported, the good lines are kept', (line, fault) => {
    const lines = [...LINES.slice(0, 2), line, ...LINES.slice(2)];
    const { events, faults } = readTranscript(lines);
    expect(faults).toHaveLength(1);
    expect(faults[0]?.startsWith(fault)).toBe(true);
    expect(events).toHaveLength(STORY.length);
  });

  test('blank lines are nothing, a missing body is a fault', () => {
    const withoutFirst = LINES.filter(line => line !== BODY_LINES[0]);
    const { events, faults } = readTranscript(['', ...withoutFirst, '  ']);
    expect(events).toHaveLength(STORY.length);
    expect(faults).toEqual([
      expect.stringMatching(/^line \d+: refers to a body that is not in the lines before$/),
    ]);
  });

  test('what is wrong with many lines alike is reported once', () => {
    const { faults } = readTranscript(LINES.filter(line => !BODY_LINES.includes(line)));
    expect(faults).toEqual([
      expect.stringMatching(
        /^line \d+: refers to a body that is not in the lines before, as [4-9] more do until line \d+$/,
      ),
    ]);
  });

  test('a body that someone has changed is a fault of its line', () => {
    const [line = ''] = BODY_LINES;
    const changed = line.replace('"data":"', '"data":" ');
    const { faults } = readTranscript(LINES.map(each => (each === line ? changed : each)));
    expect(faults).toEqual([`line ${LINES.indexOf(line) + 1}: the body does not match its sha256`]);
  });

  test('an event that is there twice is kept once', () => {
    const [twice = ''] = LINES.filter(line => line.includes('"seq":3,'));
    const place = LINES.indexOf(twice);
    const { events, faults } = readTranscript([...LINES.slice(0, place), twice, ...LINES.slice(place)]);
    expect(events).toHaveLength(STORY.length);
    expect(faults).toEqual([`line ${place + 2}: duplicate event 3`]);
  });

  test('what stands after the end is a fault', () => {
    const late = LINES.filter(line => line.includes(`"seq":${STORY.length - 1},`));
    const end = LINES.at(-1) ?? '';
    const { events, faults } = readTranscript([...LINES.slice(0, -2), end, ...late, end]);
    expect(events).toHaveLength(STORY.length);
    expect(faults).toEqual([
      `line ${LINES.length}: event after the end line`,
      `line ${LINES.length + 1}: duplicate end line`,
    ]);
  });
});

describe('what was lost', () => {
  const events = LINES.filter(line => line.includes('"seq"'));
  const placed = (index: number) => LINES.indexOf(events[index] ?? '') + 1;
  const without = (...indexes: number[]) => {
    const gone = indexes.map(index => events[index]);
    return readTranscript(LINES.map(line => (gone.includes(line) ? '' : line)));
  };

  test('is reported where the numbers have a gap, with the line after it', () => {
    expect(without(3).lost).toEqual([`line ${placed(4)}: 1 event is missing before it`]);
    expect(without(3, 4).lost).toEqual([`line ${placed(5)}: 2 events are missing before it`]);
  });

  test('is not told twice of a line that could not be read', () => {
    const { faults, lost } = readTranscript(LINES.map(line => (line === events[3] ? line.slice(9) : line)));
    expect(faults).toHaveLength(1);
    expect(lost).toEqual([]);
  });

  test('is reported of the last ones, with the end line', () => {
    const last = events.length - 2; // the end has a number, too
    expect(without(last).lost).toEqual([`line ${LINES.length}: 1 event is missing before it`]);
    expect(without(last - 1, last).lost).toEqual([`line ${LINES.length}: 2 events are missing before it`]);
  });

  test('is not known of the last ones where the end has no number, as older ones have none', () => {
    const older = [...LINES.slice(0, -1), '{"kind":"end","reason":"done"}'];
    expect(readTranscript(older)).toMatchObject({ end: 'done', lost: [], faults: [] });
  });

  test('is reported of a line that is not there, after another one that could not be read', () => {
    const [torn, gone] = [events[3], events[6]];
    const lines = LINES.map(line => (line === torn ? line.slice(9) : line === gone ? '' : line));
    expect(readTranscript(lines).lost).toEqual([`line ${placed(7)}: 1 event is missing before it`]);
  });

  test('is what anyone who wrote it could not keep up with', () => {
    const writer = transcriptWriter(createRedactor());
    const [last] = STORY.slice(-1);
    const dropped = { kind: 'dropped', what: 'event', why: 'too slow', count: 7, seq: 40, at: 99 } as const;
    const next = { kind: 'warned', message: 'on it goes', seq: 41, at: 99 } as const;
    const lines = [...LINES.slice(0, -1), ...writer.event(dropped), ...writer.event(next)];
    expect(last?.seq).toBeLessThan(40);
    expect(readTranscript(lines).lost).toEqual([`line ${LINES.length}: 7 events are not written: too slow`]);
  });
});

describe('several in one file', () => {
  const [ONE, OTHER] = [LINES, written(STORY.slice(2))];
  const parts = (lines: readonly string[]) => readTranscripts(lines).map(({ events }) => events.length);

  test('are recordings of their own, whose lines are those of the file', () => {
    const torn = [...OTHER.slice(0, 2), '{"kind":"resp', ...OTHER.slice(2)];
    const [first, second, ...others] = readTranscripts([...ONE, ...torn]);
    expect(others).toEqual([]);
    expect(first).toMatchObject({ end: 'done', faults: [], lost: [] });
    expect(first?.events).toHaveLength(STORY.length);
    expect(second?.events).toHaveLength(STORY.length - 2);
    expect(second?.faults).toEqual([expect.stringMatching(new RegExp(`^line ${ONE.length + 3}: `))]);
  });

  test('are known without a header by the numbers that begin anew', () => {
    expect(parts([...ONE, ...ONE.slice(1)])).toEqual([STORY.length, STORY.length]);
    expect(parts([...ONE.slice(1), ...ONE])).toEqual([STORY.length, STORY.length]);
  });

  test('are one where only one is wanted, and that there are others is reported', () => {
    const { events, faults } = readTranscript([...ONE, ...OTHER]);
    expect(events).toHaveLength(STORY.length);
    expect(faults).toEqual([`line ${ONE.length + 1}: a second transcript starts here and was ignored`]);
  });
});

describe('row 25: what is not written', () => {
  const SECRET = 'tok/en+"1"';
  const CANARY = 'canary42';
  const secretive = { ...INVOCATION, callback_url: `http://127.0.0.1:4000/callback/${SECRET}` };

  test('a secret, in a url, a header, a body', () => {
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

  test('a secret among bytes that are no UTF-8', () => {
    const bytes = Buffer.concat([Buffer.from([0xff]), Buffer.from(CANARY)]);
    const lines = written(eventsOf(call(), bytesArrive(bytes)), CANARY);
    const bodies = lines.map(line => JSON.parse(line)).filter(({ kind }) => kind === 'body');
    for (const { data, encoding } of bodies)
      expect(Buffer.from(data, encoding).toString('latin1')).not.toContain(CANARY);
  });

  test('RT-OAUTH: the query of an auth_url', () => {
    const auth_url = `https://user:${CANARY}@auth.example/consent?state=${CANARY}#${CANARY}`;
    const text = written(eventsOf(call(), arrives({ ...OAUTH, auth_url }), timedOut())).join('\n');
    expect(text).not.toContain(CANARY);
    expect(text).toContain('https://auth.example/consent');
  });

  test('the digest of a body gives no one a way to guess at its secrets', () => {
    const events = eventsOf(call(), resultArrives({ text: CANARY }));
    const digests = events.flatMap(event => ('body' in event && event.body ? [event.body.sha256] : []));
    expect(written(events, CANARY).join('\n')).not.toContain(digests.at(-1));
  });
});
