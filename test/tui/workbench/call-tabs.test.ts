import { describe, expect, test } from 'vitest';
import { Content } from '../../../src/events/content.js';
import { CallLog } from '../../../src/events/history.js';
import type { Sheet, SheetLook } from '../../../src/tui/calls/tabs.js';
import { CallSheets, type CallTab } from '../../../src/tui/workbench/calls.js';
import { createRedactor } from '../../../src/util/redact.js';
import { countHidden } from '../../../src/util/visible.js';
import { discovery } from '../../check/samples/parts.js';
import {
  acknowledged,
  answered,
  arrives,
  at,
  bytesArrive,
  CHOICE,
  call,
  chose,
  EVENT,
  eventsOf,
  INVOCATION,
  KEY,
  lost,
  type Moment,
  OAUTH,
  RESULT,
  refused,
  resultArrives,
  timedOut,
  VIEW,
} from '../../events/build.js';
import { view } from '../../render/stories.js';
import { words } from '../../support/words.js';

const LOOK: SheetLook = { isSplit: false, isUnfolded: false, showsBytes: false };

function callLogOf(...parts: readonly (readonly Moment[])[]): CallLog {
  const callLog = new CallLog();
  for (const event of eventsOf(...parts)) callLog.apply(event);
  return callLog;
}

/** Sheets of a person who can see text and diffs; `canary-secret` is a credential of theirs. */
function sheetsFor(onChange: () => void = () => {}, isUnvalidated = false) {
  const redactor = createRedactor(['canary-secret']);
  const sheets = new CallSheets({
    supports: new Set(['text', 'diff']),
    highlighter: () => null,
    isUnvalidated: () => isUnvalidated,
    marked: () => null,
    onChange,
  });
  return {
    sheetOf: (tab: CallTab, callLog: CallLog, key = KEY, look = LOOK) =>
      sheets.sheetOf(tab, { callLog, key, redactor }, look),
  };
}

/** What is read in a sheet, part by part, each below its title. */
function read({ parts }: Sheet): string[][] {
  return parts.map(({ title, document }) => [
    words(title),
    ...Array.from({ length: document.length }, (_, index) => words(document.line(index))),
  ]);
}

const PATCH = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n';
const DIFF = { display_as: [{ type: 'diff', content: { path: 'x', patch: PATCH } }] };

test('a pending call has its steps so far', () => {
  const callLog = callLogOf(call(), at(4, acknowledged()));
  expect(read(sheetsFor().sheetOf('result', callLog))).toEqual([
    [
      'PENDING the steps so far',
      '✓ sent edit_file to http://127.0.0.1:3001/invoke',
      '✓ acknowledged with 200 after 4ms',
      '… waiting for the result',
    ],
  ]);
});

test('RT-CHOICE: a question is shown line by line, with the default marked', () => {
  const question = {
    ...CHOICE,
    prompt: 'Where to?\nIt cannot be undone.\u001b[2J',
    choices: ['a\nb', 'production'],
    default: 1,
  };
  const callLog = callLogOf(call(), acknowledged(), arrives(question));
  const asked = [
    'the tool asks: Where to?',
    '  It cannot be undone.␛[2J',
    '  0 a␊b',
    '  1 production (default)',
  ];
  expect(read(sheetsFor().sheetOf('result', callLog))[0]?.slice(3)).toEqual([
    `• ${asked[0]}`,
    ...asked.slice(1),
    '… waiting for you',
  ]);
  expect(read(sheetsFor().sheetOf('timeline', callLog))[0]?.join('\n')).toContain(
    asked.join(`\n${' '.repeat(11)}`),
  );
});

test("RT-DISPLAY, RT-TEXT: the human's view beside the text for the LLM", () => {
  const callLog = callLogOf(call(), resultArrives(DIFF));
  const [human = [], llm] = read(sheetsFor().sheetOf('result', callLog));
  expect(human[0]).toBe('HUMAN display_as[0] diff (the first segment)');
  expect(human.join('\n')).toMatch(/old[\s\S]*new/);
  expect(llm).toEqual(['LLM text, 4 bytes', 'done']);
});

describe('RT-SUB: a call with a subscription', () => {
  const subscribed = [...call(), ...at(5, resultArrives({ subscription: true }))];
  const event = (leg: string, fields: object = {}) => arrives({ ...EVENT, ...fields }, { leg });
  const events = [
    ...at(1_205, event('e1')),
    ...at(2_205, event('e2', { text: 'two\nlines', associative: true })),
    ...at(3_205, event('e3', { text: 'bye', final: true })),
  ];
  const sheetOf = (callLog: CallLog) => sheetsFor().sheetOf('result', callLog);

  test('has its events below the result: drawn for the human, whole for the LLM', () => {
    expect(read(sheetOf(callLogOf(subscribed, events)))).toEqual([
      [
        'HUMAN text (no display_as), 3 events',
        'done',
        '',
        '• event 1 → child thread: opened after 1.2s',
        '• event 2 → this thread (associative): two␊lines after 2.2s',
        '• last event 3 → child thread: bye after 3.2s',
      ],
      [
        'LLM text, 4 bytes, 3 events',
        'done',
        '',
        '• event 1 → child thread after 1.2s',
        'opened',
        '• event 2 → this thread (associative) after 2.2s',
        'two',
        'lines',
        '• last event 3 → child thread after 3.2s',
        'bye',
      ],
    ]);
  });

  test('says that there are no events yet, and counts only valid ones', () => {
    const ignored = event('e1', { tool_call_id: 'another' });
    const [human = []] = read(sheetOf(callLogOf(subscribed, ignored)));
    expect(human).toEqual(['HUMAN text (no display_as), 0 events so far', 'done']);
  });

  test('has all of ten thousand, though the call record keeps fewer', () => {
    const count = 10_000;
    const many = Array.from({ length: count }, (_, index) => event(`e${index}`, { text: `<${index}>` }));
    const { parts } = sheetOf(callLogOf(subscribed, many.flat()));
    const [human, llm] = parts;
    expect(words(human?.document.line(human.document.length - 1) ?? [])).toContain(
      'event 10000 → child thread: <9999>',
    );
    expect(words(llm?.document.line(2 * 5_000 + 1) ?? [])).toBe('<4999>');
    expect(llm?.document.find(/<7777>/u, 0, 1)).toBe(2 * 7_778 + 1);
    expect(llm?.document.find(/<7777>/u, llm.document.length - 1, -1)).toBe(2 * 7_778 + 1);
  });
});

test('what a pending call waits for is its last line, and only there', () => {
  const callLog = callLogOf(call(), lost(), at(9, call({ attempt: 2 })));
  const sheets = sheetsFor();
  const lines = () => read(sheets.sheetOf('timeline', callLog)).flat();
  expect(lines().at(-1)).toMatch(/… waiting for the acknowledgement$/);
  const later = eventsOf(call(), acknowledged(), arrives(CHOICE), chose(1), resultArrives({}, { leg: 'b2' }));
  for (const event of later.slice(1)) callLog.apply(event);
  expect(lines().filter(line => line.includes('waiting'))).toEqual([]);
  expect(lines()).toContainEqual(expect.stringMatching(/decided choice 1 by a flag$/));
});

test('with bytes, each message is below its event, and the other lines are the same', () => {
  const sheets = sheetsFor();
  const callLog = callLogOf(call(), acknowledged(), bytesArrive(new Uint8Array([0xff])));
  const lines = (showsBytes: boolean) =>
    read(sheets.sheetOf('timeline', callLog, KEY, { ...LOOK, showsBytes })).flat();
  const bytes = lines(true).filter(line => line.includes('│'));
  expect(bytes).toEqual([
    expect.stringMatching(/^ {11}│ \{"operation":"edit_file",/),
    expect.stringMatching(/^ {11}│ 0000 {2}ff /),
  ]);
  expect(lines(true).filter(line => !line.includes('│'))).toEqual(lines(false));
});

test('dropped events of a call are reported', () => {
  const note = 'x'.repeat(2 * 1024 * 1024);
  const large = { ...VIEW, view_type: 'note', content: { note } };
  const views = Array.from({ length: 10 }, (_, index) => arrives(large, { leg: `view-${index}` }));
  const callLog = callLogOf(call(), ...views);
  expect(callLog.history.first?.forgotten).toBeGreaterThan(0);
  const [lines = []] = read(sheetsFor().sheetOf('timeline', callLog));
  expect(lines[0]).toBe('TIMELINE 21 events');
  expect(lines.filter(line => line.includes('• view note updated'))).toHaveLength(10);
});

function wireOf(...parts: readonly (readonly Moment[])[]): string[] {
  const [lines = []] = read(sheetsFor().sheetOf('wire', callLogOf(...parts)));
  return lines;
}

describe('the end of a request', () => {
  test.each<[string, readonly (readonly Moment[])[]]>([
    ['… not answered yet', [call()]],
    ['* not answered: ECONNREFUSED (connect)  after 1ms', [call(), lost()]],
    ['< 503  after 1ms', [call(), answered(503, { body: 'busy' })]],
    ['busy', [call(), answered(503, { body: 'busy' })]],
  ])('%s', (line, parts) => {
    expect(wireOf(...parts)).toContain(line);
  });

  test('an answer is below its own request, whatever came between', () => {
    const heads = wireOf(call(), resultArrives(), at(9, acknowledged())).filter(line =>
      /^[><] \S+( \/| {2}after)/.test(line),
    );
    expect(heads).toEqual(['< 200  after 9ms', '< POST /callback/token  callback', '> 200  after 1ms']);
  });
});

test('reading after every event gives the same as reading at the end', () => {
  const callLog = callLogOf();
  const sheets = sheetsFor();
  const events = eventsOf(
    call(),
    arrives(EVENT),
    at(9, acknowledged()),
    arrives({ ...EVENT, text: 'another' }, { leg: 'back-2' }),
    resultArrives({}, { leg: 'back-3' }),
  );
  const seen = () => read(sheets.sheetOf('wire', callLog))[0] ?? [];
  for (const event of events) {
    callLog.apply(event);
    seen();
  }
  expect(seen()).toEqual(read(sheetsFor().sheetOf('wire', callLog))[0]);
  expect(seen().filter(line => /^[<>] \d{3} /.test(line))).toHaveLength(4);
});

test('bytes that are not text are counted', () => {
  expect(wireOf(call(), bytesArrive(new Uint8Array([0xff, 0xfe, 0x1b])))).toContain(
    '(3 bytes that are not UTF-8)',
  );
});

test('threats, row 25: no credential and no secret of a URL', () => {
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
  expect(countHidden(lines.join('\n'))).toBe(0);
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

  test('that is large is made safe once, however many events follow', () => {
    const sheets = sheetsFor();
    const callLog = callLogOf(begunWith({ arguments: { text: 'x'.repeat(100_000) } }));
    const document = () => sheets.sheetOf('wire', callLog).parts[0]?.document;
    const before = document()?.length ?? 0;
    const after = readings;
    for (const event of eventsOf(call(), end).slice(1)) callLog.apply(event);
    expect(document()?.length).toBeGreaterThan(before);
    document()?.line(5);
    expect(readings).toBe(after);
  });
});

test('RT-VIEW: each view of the thread as it is now', () => {
  const callLog = callLogOf(call(), view('v1', PATCH), view('v2', PATCH.replace('new', 'newer')));
  const [[title, ...lines] = []] = read(sheetsFor().sheetOf('views', callLog));
  expect(title).toBe('VIEW diff, updated 2 times');
  expect(lines.join('\n')).toMatch(/old[\s\S]*newer/);
});

/** Someone who looks at the problems of a call. */
class Onlooker {
  #heard = () => {};
  readonly #sheets: ReturnType<typeof sheetsFor>;

  constructor(
    private readonly callLog: CallLog,
    isUnvalidated = false,
  ) {
    this.#sheets = sheetsFor(() => this.#heard(), isUnvalidated);
  }

  get sheet(): Sheet {
    return this.#sheets.sheetOf('problems', this.callLog);
  }

  /** What is read once all is judged. */
  async judged(): Promise<string[]> {
    const heard = new Promise<void>(resolve => {
      this.#heard = resolve;
    });
    void this.sheet;
    await heard;
    return read(this.sheet).flat();
  }
}

const problemsOf = (callLog: CallLog, isUnvalidated = false) => new Onlooker(callLog, isUnvalidated).judged();

const sound = () => [call(), at(4, acknowledged()), at(40, resultArrives())];

test('failed rules come first, with id, requirement and evidence', async () => {
  const twice = resultArrives({ text: 'canary-secret' }, { leg: 'b2' });
  const lines = await problemsOf(callLogOf(...sound(), twice));
  expect(lines[1]).toBe('Failed');
  const [row = ''] = lines.slice(2);
  expect(row).toMatch(/^✗ TOOL-ONCE {2}MUST {2}\S/);
  expect(lines.join('\n')).toContain('│ POST /callback/token');
  expect(lines.join('\n')).not.toContain('canary');
  expect(lines.some(line => line.includes('no problems'))).toBe(false);
});

test('RT-ARGS: a call sent unvalidated on purpose is a note; for a file this is unknown', async () => {
  const odd = [
    discovery(),
    call({ invocation: { ...INVOCATION, arguments: {} } }),
    acknowledged(),
    resultArrives(),
  ];
  const wished = await problemsOf(callLogOf(...odd), true);
  expect(wished[wished.indexOf('Notes') + 1]).toMatch(
    /^ {2}the arguments do not match the inputSchema of edit_file: .*; sent without validation, as requested \(RT-ARGS\)$/,
  );
  expect(wished.filter(line => line.includes('RT-ARGS'))).toHaveLength(1);
  const saved = new CallLog('runtime', true);
  for (const event of eventsOf(...odd)) saved.apply(event);
  for (const lines of [await problemsOf(callLogOf(...odd)), await problemsOf(saved, true)])
    expect(lines).toContainEqual(expect.stringMatching(/^• RT-ARGS {2}SHOULD/));
});

test('the reason for a missing result comes first', async () => {
  const lines = await problemsOf(
    callLogOf(call(), acknowledged(), refused('wrong-address', 404), timedOut(2_000)),
  );
  expect(lines.slice(1, 4)).toEqual([
    'No result',
    '✗ timed out after 2s: edit_file was sent to http://127.0.0.1:3001/invoke, it was acknowledged with 200, and nothing was posted to its callback URL',
    expect.stringContaining('A request was posted to http://127.0.0.1:4000 but not to the callback URL'),
  ]);
});

test('later events are judged too, without losing the earlier ones', async () => {
  const callLog = callLogOf(...sound());
  const onlooker = new Onlooker(callLog);
  const before = await onlooker.judged();
  for (const event of eventsOf(arrives({ ...RESULT, text: 'other' }, { leg: 'b2' }))) callLog.apply(event);
  expect(read(onlooker.sheet).flat()).toEqual(before);
  expect((await onlooker.judged())[1]).toBe('Failed');
});
