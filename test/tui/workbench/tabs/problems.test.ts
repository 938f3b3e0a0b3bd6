import { expect, test } from 'vitest';
import { CallLog } from '../../../../src/events/history.js';
import type { Sheet } from '../../../../src/tui/calls/tabs.js';
import { discovery } from '../../../check/samples/parts.js';
import {
  acknowledged,
  arrives,
  at,
  call,
  eventsOf,
  INVOCATION,
  KEY,
  RESULT,
  refused,
  resultArrives,
  timedOut,
} from '../../../events/build.js';
import { read } from '../../read-sheet.js';
import { bookOf, LOOK, sheetsFor } from './look-at.js';

/** Someone who looks at the problems of a call. */
class Onlooker {
  #heard = () => {};
  readonly #sheets: ReturnType<typeof sheetsFor>;

  constructor(
    private readonly book: CallLog,
    isUnvalidated = false,
  ) {
    this.#sheets = sheetsFor(() => this.#heard(), isUnvalidated);
  }

  get sheet(): Sheet {
    return this.#sheets.sheetOf('problems', this.book, KEY, LOOK);
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

const problemsOf = (book: CallLog, isUnvalidated = false) => new Onlooker(book, isUnvalidated).judged();

const sound = () => [call(), at(4, acknowledged()), at(40, resultArrives())];

test('until it is judged, it says so; then it stays the same one', async () => {
  const onlooker = new Onlooker(bookOf(...sound()));
  expect(read(onlooker.sheet)).toEqual([['PROBLEMS by the requirements of the protocol', 'judging …']]);
  expect(await onlooker.judged()).not.toContain('judging …');
  expect(onlooker.sheet).toBe(onlooker.sheet);
});

test('what was broken comes first, with its id, what it asks and the proof', async () => {
  const twice = resultArrives({ text: 'canary-secret' }, { leg: 'b2' });
  const lines = await problemsOf(bookOf(...sound(), twice));
  expect(lines[1]).toBe('Failed');
  const [row = ''] = lines.slice(2);
  expect(row).toMatch(/^✗ TOOL-ONCE {2}MUST {2}\S/);
  expect(lines.join('\n')).toContain('│ POST /callback/token');
  expect(lines.join('\n')).not.toContain('canary');
  expect(lines.some(line => line.includes('no problems'))).toBe(false);
});

test('RT-ARGS: what a person had sent unvalidated is a remark, and no breach; of a file no one knows', async () => {
  const odd = [
    discovery(),
    call({ invocation: { ...INVOCATION, arguments: {} } }),
    acknowledged(),
    resultArrives(),
  ];
  const wished = await problemsOf(bookOf(...odd), true);
  expect(wished[wished.indexOf('Notes') + 1]).toMatch(
    /^ {2}the arguments do not match the inputSchema of edit_file: .*; sent without validation, as requested \(RT-ARGS\)$/,
  );
  expect(wished.filter(line => line.includes('RT-ARGS'))).toHaveLength(1);
  const saved = new CallLog('runtime', true);
  for (const event of eventsOf(...odd)) saved.apply(event);
  for (const lines of [await problemsOf(bookOf(...odd)), await problemsOf(saved, true)])
    expect(lines).toContainEqual(expect.stringMatching(/^• RT-ARGS {2}SHOULD/));
});

test('why without result stands above all', async () => {
  const lines = await problemsOf(
    bookOf(call(), acknowledged(), refused('wrong-address', 404), timedOut(2_000)),
  );
  expect(lines.slice(1, 4)).toEqual([
    'No result',
    '✗ timed out after 2s: edit_file was sent to http://127.0.0.1:3001/invoke, it was acknowledged with 200, and nothing was posted to its callback URL',
    expect.stringContaining('A request was posted to http://127.0.0.1:4000 but not to the callback URL'),
  ]);
});

test('what comes later is judged too, and meanwhile it is as it was', async () => {
  const book = bookOf(...sound());
  const onlooker = new Onlooker(book);
  const before = await onlooker.judged();
  for (const event of eventsOf(arrives({ ...RESULT, text: 'other' }, { leg: 'b2' }))) book.apply(event);
  expect(read(onlooker.sheet).flat()).toEqual(before);
  expect((await onlooker.judged())[1]).toBe('Failed');
});
