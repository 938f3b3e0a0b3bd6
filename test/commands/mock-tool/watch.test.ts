import { mkdir, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { FixtureReloader } from '../../../src/commands/mock-tool/fixture-reloader.js';
import { loadFixtures } from '../../../src/commands/mock-tool/fixtures.js';
import type { FixtureSet } from '../../../src/fixtures/fixture-set.js';
import { watchFiles } from '../../../src/system/watch-files.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { recorded, recordedCall, result, transcriptOf } from '../../support/recording.js';

/** A mock whose replacement of fixtures the test controls. */
function slowMock() {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  return {
    /** Starts and ends of replacements, in order. */
    taken,
    waiting,
    verify: () => ({
      ok: true,
      calls: 0,
      fixtures: [],
      unmatched: { count: 0, examples: [] },
      undelivered: { count: 0, examples: [] },
      problems: [],
      ms: { invocations: 0, callbacks: 0 },
    }),
    replaceFixtures: async ({ fixtures }: FixtureSet) => {
      const names = fixtures.map(({ id }) => id).join();
      taken.push(`begins ${names}`);
      await new Promise<void>(resolve => waiting.push(resolve));
      taken.push(`has ${names}`);
    },
  };
}

const fixture = (id: string) =>
  `version: 1\nfixtures:\n  - { id: ${id}, match: { operation: a }, reply: { payload: x } }\n`;

test('--watch: applies an edit from before the start; reloads run one at a time, and the last wins', async () => {
  await using folder = await temporaryFolder();
  const path = await folder.write('a.yaml', fixture('zero'));
  await mkdir(folder.file('other'));
  const other = folder.file('other/b.yaml');
  const mock = slowMock();
  const notices: string[] = [];
  const output = { notice: (text: string) => void notices.push(text), warn: () => {} };
  const reloader = new FixtureReloader([path], undefined);
  await reloader.watch();
  await changeOf(path, () => writeFile(path, fixture('first')));
  reloader.attach(mock, output);
  await expect.poll(() => mock.waiting.length).toBe(1);
  await changeOf(path, () => writeFile(path, fixture('second')));
  // Enough time to detect a change and read the file, if the first reload were not waited for.
  await changeOf(other, () => writeFile(other, ''));
  await loadFixtures([path]);
  expect(mock.taken).toEqual(['begins first']);
  mock.waiting[0]?.();
  await expect.poll(() => mock.waiting.length).toBe(2);
  mock.waiting[1]?.();
  await reloader.close();
  expect(mock.taken).toEqual(['begins first', 'has first', 'begins second', 'has second']);
  expect(notices).toEqual(Array.from({ length: 2 }, () => 'reloaded 1 fixture (was 0)'));
});

/** Resolves when another watcher, started later, has also detected the change. */
async function changeOf(path: string, change: () => Promise<void>): Promise<void> {
  let isSeen = () => {};
  const seen = new Promise<void>(resolve => {
    isSeen = resolve;
  });
  const watcher = await watchFiles(async () => [path], isSeen);
  await change();
  await seen;
  watcher.close();
}

test('--watch: reloads a changed transcript with --speed and warnings', async () => {
  await using folder = await temporaryFolder();
  const call = (text: string) =>
    recordedCall({}, { at: 80, message: '[]' }, { at: 90, message: result(text) });
  const path = await folder.write('run.ndjson', transcriptOf(recorded(call('first'))));
  const [taken, warned]: [FixtureSet[], (readonly string[])[]] = [[], []];
  const reloader = new FixtureReloader([path], 2);
  await reloader.watch();
  const mock = { ...slowMock(), replaceFixtures: async (set: FixtureSet) => void taken.push(set) };
  const output = { notice: () => {}, warn: (texts: readonly string[]) => void warned.push(texts) };
  reloader.attach(mock, output);
  await writeFile(path, transcriptOf(recorded(call('second'))));
  await expect.poll(() => taken.length).toBe(1);
  await reloader.close();
  expect(taken[0]?.fixtures[0]?.replies).toMatchObject([[{ delay: 45, result: { text: 'second' } }]]);
  expect(warned).toEqual([[expect.stringContaining('skipped a callback')]]);
});
