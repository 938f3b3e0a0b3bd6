import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadFixtures } from '../../../src/commands/mock-tool/load-fixtures.js';
import { watchFixtures } from '../../../src/commands/mock-tool/watch.js';
import type { FixtureSet } from '../../../src/fixtures/fixture-set.js';
import { watchFiles } from '../../../src/system/watch-files.js';

/** A mock that takes its time to take over fixtures: until it is told to. */
function slowMock() {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  return {
    /** What was begun and what is over, in that order. */
    taken,
    waiting,
    verify: () => ({
      ok: true,
      calls: 0,
      fixtures: [],
      unmatched: { count: 0, examples: [] },
      undelivered: { count: 0, examples: [] },
    }),
    replaceFixtures: async ({ fixtures }: FixtureSet) => {
      const names = fixtures.map(({ id }) => id).join();
      taken.push(`begins ${names}`);
      await new Promise<void>(resolve => waiting.push(resolve));
      taken.push(`has ${names}`);
    },
  };
}

const PATIENT = { timeout: 10_000 };
const fixture = (id: string) =>
  `version: 1\nfixtures:\n  - { id: ${id}, match: { operation: a }, reply: { payload: x } }\n`;

test('--watch: an edit before the mock is there counts, one while the fixtures are read comes after that, and the last wins', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'watch-'));
  const path = join(folder, 'a.yaml');
  const other = join(await mkdtemp(join(folder, 'other-')), 'b.yaml');
  await writeFile(path, fixture('zero'));
  const mock = slowMock();
  const told: string[] = [];
  const telling = { notice: (text: string) => void told.push(text), warn: () => {} };
  const watch = await watchFixtures([path], [path]);
  await changeOf(path, () => writeFile(path, fixture('first')));
  watch.serve(mock, telling);
  await expect.poll(() => mock.waiting.length, PATIENT).toBe(1);
  await changeOf(path, () => writeFile(path, fixture('second')));
  // As long as it would take, were the first not waited for: to see a change, and to read it.
  await changeOf(other, () => writeFile(other, ''));
  await loadFixtures([path]);
  expect(mock.taken).toEqual(['begins first']);
  mock.waiting[0]?.();
  await expect.poll(() => mock.waiting.length, PATIENT).toBe(2);
  mock.waiting[1]?.();
  await watch.close();
  expect(mock.taken).toEqual(['begins first', 'has first', 'begins second', 'has second']);
  expect(told).toEqual(Array.from({ length: 2 }, () => '1 fixture read again (was 0)'));
  await rm(folder, { recursive: true });
});

/** Resolves once another watcher, begun later, has seen the change too. */
async function changeOf(path: string, change: () => Promise<void>): Promise<void> {
  let isSeen = () => {};
  const seen = new Promise<void>(resolve => {
    isSeen = resolve;
  });
  const watcher = await watchFiles([path], isSeen);
  await change();
  await seen;
  watcher.close();
}
