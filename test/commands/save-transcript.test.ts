import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { saveTranscript } from '../../src/commands/save-transcript.js';
import { Content } from '../../src/events/content.js';
import { createLog, type Log, RecordedRequest } from '../../src/events/log.js';
import { callbackRedactor } from '../../src/events/shareable.js';
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
  const finish = await saveTranscript(to, path, callbackRedactor(), ABOUT);
  await meanwhile?.(path);
  const ended = await finish(reason).catch(({ message }: Error) => message);
  return { ended, files: await readdir(dirname(path)), text: await readFile(path, 'utf8').catch(() => null) };
}

test.each([
  ['no', null],
  ['an empty', ''],
])('with %s file in its place, it contains why it ended', async (_, earlier) => {
  const { text, files } = await saved(log, earlier);
  const lines = (text ?? '').trim().split('\n');
  expect(lines.map(line => JSON.parse(line))).toMatchObject([
    { kind: 'header', ...ABOUT },
    { kind: 'end', reason: 'done' },
  ]);
  expect(files).toEqual(['t.ndjson']);
});

test('a run that failed before its first event leaves no file', async () => {
  expect(await saved(log, null, undefined, 'port-in-use')).toMatchObject({ files: [] });
});

test('a secret is redacted in the event that brings it', async () => {
  await using folder = await temporaryFolder();
  const path = folder.file('t.ndjson');
  const own = createLog(() => 0);
  const finish = await saveTranscript(own, path, callbackRedactor(), ABOUT);
  const body = Content.ofJson({ callback_url: 'http://127.0.0.1:1/callback/canary-token' });
  const about = { from: 'runtime', to: 'tool', purpose: 'invocation' } as const;
  new RecordedRequest(own, { ...about, method: 'POST', url: '/invoke', headers: {}, body });
  await finish('done');
  expect(await readFile(path, 'utf8')).not.toContain('canary-token');
});

test('with --watch, each run replaces its own transcript, but not the file of another program', async () => {
  await using folder = await temporaryFolder();
  const path = folder.file('t.ndjson');
  const save = async (reason: string) => (await saveTranscript(log, path, callbackRedactor(), ABOUT))(reason);
  await save('done');
  await save('done');
  await save('command-failed');
  expect(await readFile(path, 'utf8')).toContain('"reason":"command-failed"');
  await writeFile(path, 'theirs\n');
  await expect(save('done')).rejects.toThrow('file already exists');
  expect(await readFile(path, 'utf8')).toBe('theirs\n');
});

test('of runs that choose the same name at the same time, one writes it and the others leave no file', async () => {
  await using folder = await temporaryFolder();
  const path = folder.file(`${'t'.repeat(240)}.ndjson`);
  const all = Array.from({ length: 10 }, () => saveTranscript(log, path, callbackRedactor(), ABOUT));
  const started = (await Promise.allSettled(all)).filter(each => each.status === 'fulfilled');
  expect(started).toHaveLength(1);
  await started[0]?.value('done');
  expect(await readdir(folder.path)).toHaveLength(1);
  expect(await readFile(path, 'utf8')).toMatch(/^\{"kind":"header".*\n\{"kind":"end".*\n$/);
});
