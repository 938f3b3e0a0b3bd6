import { appendFile, mkdir, truncate } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { findingsSince } from '../../../src/check/runtime/run.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { call, eventsOf } from '../../events/build.js';

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
    '16 MiB of a longer log',
    '',
    async path => {
      await appendFile(path, 'one ');
      await truncate(path, 16 * 1024 * 1024);
      await appendFile(path, 'two');
    },
    { operations: ['one'], isWhole: false, warning: PART },
  ],
  ['a folder', null, path => mkdir(path), { operations: [], isWhole: true, warning: UNREADABLE }],
])('reads %s', async (_, before, change, expected) => {
  expect(await foundAfter(before, change)).toEqual({ warning: undefined, ...expected });
});
