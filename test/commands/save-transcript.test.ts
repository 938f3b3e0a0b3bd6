import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { saveTranscript } from '../../src/commands/event-output.js';
import { createLog, type Log } from '../../src/events/log.js';
import { createRedactor } from '../../src/util/redact.js';
import { temporaryFolder } from '../e2e/support/folder.js';

const ABOUT = { startedAt: '2026-01-01T00:00:00.000Z', observer: 'runtime', program: 'p' } as const;

const log = createLog(() => 0);

/** Saves a transcript without events. @param meanwhile what another process does during the run */
async function saved(
  to: Log,
  earlier: string | null,
  meanwhile?: (path: string) => Promise<void>,
  reason = 'done',
) {
  await using folder = await temporaryFolder();
  const path = folder.file('t.ndjson');
  if (earlier !== null) await writeFile(path, earlier);
  const finish = await saveTranscript(to, path, createRedactor(), ABOUT);
  await meanwhile?.(path);
  const ended = await finish(reason).catch(({ message }: Error) => message);
  return { ended, files: await readdir(dirname(path)), text: await readFile(path, 'utf8').catch(() => null) };
}

test.each([
  ['no', null],
  ['an empty', ''],
])(
  'with %s file in its place, it is moved there at the end, and contains why it ended',
  async (_, earlier) => {
    const { text, files } = await saved(log, earlier);
    const lines = (text ?? '').trim().split('\n');
    expect(lines.map(line => JSON.parse(line))).toMatchObject([
      { kind: 'header', ...ABOUT },
      { kind: 'end', reason: 'done' },
    ]);
    expect(files).toEqual(['t.ndjson']);
  },
);

test('nothing is left of a transcript that could not be written completely', async () => {
  const full: Log = { ...log, stored: () => Promise.reject(new Error('the disk is full')) };
  expect(await saved(full, null)).toEqual({ ended: 'the disk is full', files: [], text: null });
});

test('a run that failed before its first event leaves no file', async () => {
  expect(await saved(log, null, undefined, 'port-in-use')).toMatchObject({ files: [] });
});

test('row 27: a file that was created in the meantime is kept, and the transcript beside it', async () => {
  const { ended, files, text } = await saved(log, null, path => writeFile(path, 'theirs\n'));
  expect([ended, files.sort(), text]).toEqual([
    expect.stringMatching(/^cannot write \S+t\.ndjson: another program .* \S+t-\w{8}\.ndjson$/),
    [expect.stringMatching(/^t-\w{8}\.ndjson$/), 't.ndjson'],
    'theirs\n',
  ]);
});

test('with --watch, each run replaces its own transcript, but not the file of another program', async () => {
  await using folder = await temporaryFolder();
  const path = folder.file('t.ndjson');
  const save = async () => (await saveTranscript(log, path, createRedactor(), ABOUT))('done');
  await save();
  await save();
  await (await saveTranscript(log, path, createRedactor(), ABOUT))('command-failed');
  expect(await readFile(path, 'utf8')).toContain('"reason":"command-failed"');
  await writeFile(path, 'theirs\n');
  await expect(save()).rejects.toThrow('another program wrote to it; the new content is in');
  expect(await readFile(path, 'utf8')).toBe('theirs\n');
});

test('a path that another run is writing is refused', async () => {
  await using folder = await temporaryFolder();
  const path = folder.file(`${'t'.repeat(240)}.ndjson`);
  const finish = await saveTranscript(log, path, createRedactor(), ABOUT);
  await expect(saveTranscript(log, path, createRedactor(), ABOUT)).rejects.toThrow('another run is writing');
  await writeFile(path, 'theirs\n');
  await expect(finish('done')).rejects.toThrow('the new content is in');
});
