import { describe, expect, test } from 'vitest';
import { sessionReportKind } from '../../../src/commands/render/reports.js';
import { rowsOf } from '../../../src/commands/render/rows.js';
import { translated } from '../../../src/commands/render/run.js';
import type { Saved } from '../../../src/commands/render/saved.js';
import { savedTranscript } from '../../../src/commands/render/transcript.js';
import type { Event } from '../../../src/events/events.js';
import { readTranscript, withoutReadyLines } from '../../../src/events/transcript-reader.js';
import { transcriptWriter } from '../../../src/events/transcript-writer.js';
import { createTheme } from '../../../src/render/terminal/theme.js';
import { parseJson } from '../../../src/util/json.js';
import { createRedactor } from '../../../src/util/redact.js';
import { someCall } from '../../check/samples/parts.js';
import {
  acknowledged,
  arrives,
  at,
  call,
  closed,
  eventsOf,
  INVOCATION,
  loaded,
  type Moment,
  RESULT,
  resultArrives,
  VIEW,
} from '../../events/build.js';
import { answered, awaiting, CLIENT_STORY, failure, LOOKUP, SESSION } from '../../events/session/build.js';
import { callOf, legTo } from '../../render/session/legs.js';

const SUPPORTS = new Set(['diff', 'text']);
const ABOUT = {
  startedAt: '2026-11-21T10:00:00.000Z',
  observer: 'runtime',
  program: 'protocol-cli/test',
} as const;
const PATCH = '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n';
const STORY = eventsOf(
  loaded(),
  call(),
  at(4, acknowledged()),
  at(6, arrives({ ...VIEW, content: { patch: PATCH } }, { leg: 'view' })),
  at(20, resultArrives({ text: 'done', display_as: [{ type: 'text', content: 'seen' }] })),
  closed(),
);

function linesOf(
  events: readonly Event[] = STORY,
  about: Parameters<typeof transcriptWriter>[0] = createRedactor(),
) {
  const writer = transcriptWriter(about);
  return [writer.header(ABOUT), ...events.flatMap(event => writer.event(event)), writer.end('done')];
}

function saved(lines: readonly string[]) {
  return savedTranscript(readTranscript(withoutReadyLines(lines)));
}

function rows(lines: readonly string[]): string[] {
  const sections = saved(lines).sections({ supports: SUPPORTS, isPrivate: false });
  return [...rowsOf(sections, { width: 80, theme: createTheme(0) })];
}

test('each message of a call is shown whole, with the answer to it', () => {
  const shown = rows(linesOf());
  const messages = shown.slice(shown.indexOf('MESSAGES')).join('\n');
  expect(messages).toMatch(/→ POST http:\/\/127.0.0.1:3001\/invoke invocation, .*answered 200/);
  expect(messages).toContain('    "arguments": {\n      "path": "src/main.rs"\n    },');
  expect(messages).toMatch(
    /← POST \S+ callback, .*answered 200 after 0ms\n {2}\{\n {4}"type": "view_update",/,
  );
  expect(messages).toMatch(/\/close close {2}answered 200/);
});

describe('--call and --failed', () => {
  const other = (moments: readonly Moment[]) =>
    moments.map(
      moment =>
        ({ ...moment, ...('leg' in moment && { leg: `2-${moment.leg}` }), calls: ['second'] }) as Moment,
    );
  const two = eventsOf(
    call(),
    other(call({ invocation: { ...INVOCATION, id: 'second' } })),
    acknowledged(),
    other(acknowledged()),
    resultArrives(),
    other(resultArrives({ id: 'second', text: 'Error: no' })),
  );
  const idsOf = (selection: { call?: string; failed?: boolean }) => {
    const report = saved(linesOf(two)).only?.(selection).report({ supports: SUPPORTS, isPrivate: false });
    return (report as { invocation: { id: string } }).invocation.id;
  };

  test.each([
    [{ call: '1' }, INVOCATION.id],
    [{ call: '2' }, 'second'],
    [{ call: 'second' }, 'second'],
    [{ failed: true }, 'second'],
  ])('%j', (selection, id) => {
    expect(idsOf(selection)).toBe(id);
  });

  test.each([
    [{ call: '3' }, /no call "3" in/],
    [{ call: '1', failed: true }, /no call of the transcript failed/],
  ])('%j: none exists', (selection, message) => {
    expect(() => idsOf(selection)).toThrow(message);
  });
});

describe('a malformed invocation, of which without call to show', () => {
  const sent = (key: string, body: string | object) => someCall(key).sent(body);
  const malformed = eventsOf(
    loaded(),
    call(),
    at(4, acknowledged()),
    sent('a', '{"operation":'),
    sent('b', { operation: 5, arguments: {}, id: 'b', group_id: 't', callback_url: 'http://127.0.0.1:1/' }),
    resultArrives(),
  );

  test('is reported with its line, what is wrong with it, and how it was answered', () => {
    const lines = linesOf(malformed);
    const told = rows(lines);
    const at = told.indexOf('MALFORMED INVOCATIONS');
    const said = told
      .slice(at + 1)
      .join(' ')
      .replace(/ +/g, ' '); // it is wrapped
    expect(said).toMatch(
      /^! line \d+: not valid JSON.*; not answered ! line \d+: \$\.operation: .*; not answered$/,
    );
    const [, line] = /line (\d+)/.exec(told[at + 1] ?? '') ?? [];
    expect(JSON.parse(lines[Number(line) - 1] ?? '')).toMatchObject({ purpose: 'invocation', calls: ['a'] });
    expect(saved(lines).faults).toEqual([]);
  });

  test('is a warning of its report', () => {
    expect(saved(linesOf(malformed)).report({ supports: SUPPORTS, isPrivate: false })).toMatchObject({
      warnings: expect.arrayContaining([
        { message: expect.stringMatching(/^malformed invocation, line \d+: not valid JSON/) },
      ]),
    });
  });

  test('is not reported where all are sound; of very many the first', () => {
    expect(rows(linesOf())).not.toContain('MALFORMED INVOCATIONS');
    const many = eventsOf(Array.from({ length: 30 }, (_, index) => sent(`${index}`, '[')).flat());
    const told = rows(linesOf(many));
    expect(told.filter(row => row.startsWith('! line '))).toHaveLength(20);
    expect(told).toContain('! and 10 more');
  });
});

describe('a broken one', () => {
  const broken = () =>
    linesOf().flatMap((line, index) => (index === 3 ? ['{"kind":', 'garbage', line] : [line]));

  test('is shown as far as it could be read, and says what could not, line by line', () => {
    expect(rows(broken()).slice(-3)).toEqual([
      'COULD NOT BE READ',
      expect.stringMatching(/^! line 4: not valid JSON/),
      expect.stringMatching(/^! line 5: not valid JSON/),
    ]);
    expect(rows(broken())).toContain('LLM text, 4 bytes');
    expect(saved(broken()).faults).toHaveLength(2);
  });

  test('warns of it in its report', () => {
    const report = saved(broken()).report({ supports: SUPPORTS, isPrivate: false });
    expect(report).toMatchObject({
      llm: { text: 'done' },
      warnings: expect.arrayContaining([{ message: expect.stringMatching(/^line 4: /) }]),
    });
  });

  test('without its head or its end says so', () => {
    expect(rows(linesOf().slice(1, -1)).slice(0, 2)).toEqual([
      'TRANSCRIPT of 1 call, 9 events; incomplete (no end record)',
      'recorded by an unknown program (no header)',
    ]);
  });

  test('that did not end as it was meant to says how it ended', () => {
    const lines = [...linesOf().slice(0, -1), '{"kind":"end","reason":"interrupted"}'];
    expect(rows(lines)[0]).toBe('TRANSCRIPT of 1 call, 9 events; ended with: interrupted');
  });

  test.each<[string, (lines: string[]) => string[], RegExp]>([
    [
      'in it',
      lines => lines.filter(line => !/"leg":"try-1".*"status"|"status".*"leg":"try-1"/.test(line)),
      /^! line \d+: 1 event is missing before it$/,
    ],
    [
      'before it',
      lines => lines.slice(0, 1).concat(lines.slice(-3)),
      /^! line 2: \d events are missing before it$/,
    ],
    ['after it', lines => lines.slice(0, -1), /^! no end line: the recording program is still running/],
  ])('says what %s was lost', (_, lose, said) => {
    const lines = lose(linesOf(eventsOf(call(), acknowledged(), resultArrives())));
    expect(rows(lines)).toContain('LOST');
    expect(rows(lines)).toContainEqual(expect.stringMatching(said));
    expect(saved(lines).losses).toHaveLength(1);
  });

  test('TOOL-ACK: what was lost accuses no one', () => {
    const story = eventsOf(call(), acknowledged(), resultArrives());
    const lines = linesOf(story.filter(event => event.kind !== 'response' || event.leg !== 'try-1'));
    const accused = linesOf(eventsOf(call(), resultArrives()));
    expect(rows(accused).join('\n')).toContain('the result arrived without an acknowledgement [TOOL-ACK]');
    expect(rows(lines).join('\n')).toContain(
      'the result arrived without an acknowledgement, which may have been lost',
    );
    expect(rows(lines).join('\n')).not.toContain('TOOL-ACK');
  });
});

test('the line that servers print first is not a fault, and any other is', () => {
  const ready = '{"port":3001,"url":"http://127.0.0.1:3001"}';
  expect(saved([ready, ...linesOf()]).faults).toEqual([]);
  expect(saved([...linesOf(), ready]).faults).toHaveLength(1);
});

test('a transcript of nothing but its frame says that nothing happened', () => {
  expect(rows(linesOf([]))).toEqual([
    'TRANSCRIPT of 0 events',
    expect.stringMatching(/^recorded by a runtime, /),
  ]);
});

describe('a session that a RAP tool answered', () => {
  const [one, two, three] = [callOf('call_1'), callOf('call_2'), callOf('call_3')];
  const [sent = [], taken = []] = legTo('call_1');
  const ours = { calls: ['call_1'], thread: 'thread_rap' };
  const reason = 'not in this environment';
  const story = eventsOf(
    awaiting([one, two, three]),
    sent,
    taken,
    ...legTo('call_2', { ...RESULT, id: 'call_2', text: 'Error: no such order' }),
    answered(two, failure(two, 'no such order')),
    [{ kind: 'denied', by: 'policy', tool: 'lookup_order', reason, calls: ['call_3'], thread: SESSION }],
    answered(three, failure(three, reason)),
    [{ kind: 'expired', what: 'timeout', afterMs: 2_000, ...ours }],
    answered(one, failure(one, 'no result within 2s')),
  );
  const origin = { name: 'demo', text: () => '' };
  const parsed = (value: unknown) => {
    const json = parseJson(JSON.stringify(value));
    if (!json.ok) throw new Error(json.reason);
    return json;
  };
  const asLmkit = (each: Saved) =>
    translated(each, 'lmkit', origin).lines.map(line => JSON.parse(line) as object);

  test('has in another system the same outcomes as its report, in the same order', async () => {
    const transcript = saved(linesOf(story));
    const report = await sessionReportKind.read(
      parsed(transcript.report({ supports: SUPPORTS, isPrivate: false })),
    );
    if (!report.ok) throw new Error(report.faults.join('\n'));
    expect(asLmkit(transcript)).toEqual(asLmkit(report.saved));
    expect(asLmkit(transcript)).toMatchObject([
      { Type: 'Timeout', ToolCallId: 'call_1' },
      { Type: 'Error', ToolCallId: 'call_2' },
      { Type: 'Denied', ToolCallId: 'call_3' },
    ]);
  });
});

describe('a session', () => {
  test('is reported as session answer -o json would have', () => {
    const report = saved(linesOf(eventsOf(...CLIENT_STORY))).report({ supports: SUPPORTS, isPrivate: false });
    expect(report).toMatchObject({
      session: {
        id: 'session_1',
        url: 'http://127.0.0.1:4000/api/v2/sessions/session_1',
        status: 'completed',
      },
      calls: [
        { key: 'call_1', outcome: { type: 'success' } },
        { key: '#1', outcome: { type: 'error' } },
      ],
    });
  });

  test('several of them are reported side by side', () => {
    const other = awaiting([LOOKUP], { id: 'session_2' });
    const report = saved(linesOf(eventsOf(...CLIENT_STORY, other))).report({
      supports: SUPPORTS,
      isPrivate: false,
    });
    expect(report).toMatchObject({
      sessions: [{ session: { id: 'session_1' } }, { session: { id: 'session_2' } }],
    });
  });
});
