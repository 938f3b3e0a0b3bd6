import { appendFile, mkdir, rm, truncate } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { findingsIn, LogFile } from '../../../src/check/runtime/findings.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { call, eventsOf } from '../../events/build.js';

test('reads what was added to a log since the last time', async () => {
  await using folder = await temporaryFolder();
  const log = new LogFile(folder.file('log'));
  await log.skip();
  expect(await log.read()).toBeNull();
  await folder.write('log', 'one\n');
  expect(await log.read()).toEqual({ text: 'one\n', isWhole: true });
  await log.skip();
  expect(await log.read()).toEqual({ text: '', isWhole: true });
  await appendFile(log.path, 'two\n');
  expect(await log.read()).toEqual({ text: 'two\n', isWhole: true });
});

test('reads all of a log that was begun anew, shorter or longer', async () => {
  await using folder = await temporaryFolder();
  const log = new LogFile(await folder.write('log', 'one\n'));
  await log.skip();
  for (const text of ['1\n', 'two and more\n']) {
    await folder.write('log', text);
    expect(await log.read()).toEqual({ text, isWhole: false });
  }
});

test('reads 16 MiB of a longer log', async () => {
  await using folder = await temporaryFolder();
  const log = new LogFile(await folder.write('log', 'one\n'));
  await truncate(log.path, 17 * 1024 * 1024);
  const { text, isWhole } = (await log.read()) ?? {};
  expect([text?.length, text?.slice(0, 4), isWhole]).toEqual([16 * 1024 * 1024, 'one\n', false]);
});

test('reads no folder', async () => {
  await using folder = await temporaryFolder();
  const log = new LogFile(folder.file('log'));
  await mkdir(log.path);
  await log.skip();
  expect(await log.read()).toBeNull();
  await rm(log.path, { recursive: true });
});

test.each([
  ['calling recall-all, call_1', []],
  ['{"operation":"call"}', ['call']],
  ['recall, then call', ['call']],
])('finds an operation as a whole word: %s', (text, operations) => {
  const invocation = { operation: 'call', id: 'a', group_id: 'b', callback_url: 'http://a/', arguments: {} };
  const found = findingsIn(eventsOf(call({ invocation })), [], { text, isWhole: true });
  expect(found).toEqual([{ saw: 'log', operations, isWhole: true }]);
});
