import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { saveTranscript } from '../../src/commands/save-transcript.js';
import { createLog, type Log } from '../../src/exchange/log.js';
import { createRedactor } from '../../src/text/redact.js';
import { temporaryFolder } from '../e2e/support/folder.js';

const ABOUT = { startedAt: '2026-01-01T00:00:00.000Z', observer: 'runtime', program: 'p' } as const;

test('a transcript is put in its place at the end, and says why it ended', async () => {
  await using folder = await temporaryFolder();
  const path = folder.file('t.ndjson');
  const finish = await saveTranscript(
    createLog(() => 0),
    path,
    createRedactor(),
    ABOUT,
  );
  await finish('done');
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  expect(lines.map(line => JSON.parse(line))).toMatchObject([
    { kind: 'header', ...ABOUT },
    { kind: 'end', reason: 'done' },
  ]);
});

test('where something could not be kept, nothing of it is left behind', async () => {
  await using folder = await temporaryFolder();
  const path = folder.file('t.ndjson');
  const full: Log = { ...createLog(() => 0), kept: () => Promise.reject(new Error('the disk is full')) };
  const finish = await saveTranscript(full, path, createRedactor(), ABOUT);
  await expect(finish('done')).rejects.toThrow('the disk is full');
  expect(await readdir(dirname(path))).toEqual([]);
});
