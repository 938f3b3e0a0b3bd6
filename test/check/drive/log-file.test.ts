import { appendFile, mkdir, truncate } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { findingsSince } from '../../../src/check/drive/log-findings.js';
import { LIMITS } from '../../../src/util/limits.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { arrives, call, eventsOf } from '../../events/build.js';

const IDS = { id: 'a', group_id: 'b', callback_url: 'http://a/', arguments: {} };

/** Calls of operations that a log may name. */
const EVENTS = ['one', 'two', 'three'].flatMap(operation =>
  eventsOf(call({ invocation: { ...IDS, operation } })),
);

/** What a scenario finds in a log, whose content is `before` and then changes. */
async function foundAfter(before: string | null, change: (path: string) => Promise<unknown>) {
  await using folder = await temporaryFolder();
  const path = folder.file('log');
  if (before !== null) await folder.write('log', before);
  const find = await findingsSince(path);
  await change(path);
  const { findings, warning } = await find(EVENTS);
  const [log] = findings.flatMap(each => (each.saw === 'log' ? [each] : []));
  return { operations: log?.operations, isWhole: log?.isWhole, warning: warning?.replace(path, 'log') };
}

const add = (text: string) => (path: string) => appendFile(path, text);

const begin = (text: string) => async (path: string) => {
  await truncate(path);
  await appendFile(path, text);
};

const PART = 'only a part of log was read: it is too long, or the runtime began it anew';
const UNREADABLE = 'cannot read log: it was not written, or is not a file that may be read';

const RESULT = { type: 'tool_result', group_id: 'b', id: 'a', text: 'done' };

/** What the log of one call of `edit` lacks; the tool then sends these results. */
async function lacking(log: string, ...results: readonly object[]) {
  await using folder = await temporaryFolder();
  await folder.write('log', '');
  const find = await findingsSince(folder.file('log'));
  await folder.write('log', log);
  const sent = results.map((fields, index) => arrives({ ...RESULT, ...fields }, { leg: `back-${index}` }));
  const { findings } = await find(eventsOf(call({ invocation: { ...IDS, operation: 'edit' } }), ...sent));
  const { untimed, unended, undiscarded } = Object(findings.find(({ saw }) => saw === 'log'));
  return { time: untimed?.[0], outcome: unended?.[0], discard: undiscarded?.[0] };
}

test.each([
  ['2026-11-28 10:02:03 edit done'],
  ['{"time":1795860123456,"op":"edit","ok":true,"status":200}'],
  ['Nov 28 10:02:03 host agent[7]: edit\nNov 28 10:02:04 host agent[7]: edit'],
  ['{\n  "at": "2026-11-28T10:02:03Z",\n  "operation": "edit",\n  "outcome": "result"\n}'],
])('finds time and outcome in %j', async log => {
  expect(await lacking(log, {})).toEqual({});
});

test.each([
  ['edit done', { time: 'edit' }],
  ['edit at http://127.0.0.1:44989/invoke: done', { time: 'edit' }],
  ['2026-11-28 10:02:03 call edit', { outcome: 'edit' }],
])('finds what %j lacks', async (log, lacks) => {
  expect(await lacking(log, {})).toEqual(lacks);
});

test('finds no lack of an outcome without a result', async () => {
  expect(await lacking('2026-11-28 10:02:03 call edit')).toEqual({});
});

test.each([
  ['2026-11-28 10:02:03 edit done', { id: 'x1' }, 'b/x1'],
  ['2026-11-28 10:02:03 edit done', { group_id: 'y1' }, 'y1/a'],
  ['2026-11-28 10:02:03 edit done; x1', { id: 'x1' }, undefined],
  ['2026-11-28 10:02:03 edit done; 404: no call matches', { id: 'x1' }, undefined],
])('in %j, a discarded result %j is not logged: %s', async (log, fields, discard) => {
  expect(await lacking(log, fields, {})).toEqual({ discard });
});

test.each<[string, string | null, (path: string) => Promise<unknown>, object]>([
  ['nothing new', 'one\n', async () => {}, { operations: [], isWhole: true }],
  ['whole words', '', add('onerous three-all call_two'), { operations: [], isWhole: true }],
  [
    'a log begun anew, longer',
    'one\n',
    begin('two and 3'),
    { operations: ['two'], isWhole: false, warning: PART },
  ],
  [
    'the limit of a longer log',
    '',
    async path => {
      await appendFile(path, 'one ');
      await truncate(path, LIMITS.runtimeLogBytes.value);
      await appendFile(path, 'two');
    },
    { operations: ['one'], isWhole: false, warning: PART },
  ],
  ['a folder', null, path => mkdir(path), { operations: [], isWhole: true, warning: UNREADABLE }],
])('reads %s', async (_, before, change, expected) => {
  expect(await foundAfter(before, change)).toEqual({ warning: undefined, ...expected });
});
