import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { saveTranscript } from '../../src/commands/event-output.js';
import type { Fact, RequestEvent } from '../../src/events/events.js';
import { createLog, type Log } from '../../src/events/log.js';
import { createRedactor } from '../../src/util/redact.js';
import { temporaryFolder } from '../e2e/support/folder.js';

const ABOUT = { startedAt: '2026-01-01T00:00:00.000Z', observer: 'runtime', program: 'p' } as const;

const quiet = { stderr: new PassThrough() };

test('a transcript is moved into place at the end, and contains why it ended', async () => {
  await using folder = await temporaryFolder();
  const path = folder.file('t.ndjson');
  const finish = await saveTranscript(
    createLog(() => 0),
    path,
    createRedactor(),
    ABOUT,
    quiet,
  );
  await finish('done');
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  expect(lines.map(line => JSON.parse(line))).toMatchObject([
    { kind: 'header', ...ABOUT },
    { kind: 'end', reason: 'done' },
  ]);
});

test('nothing is left of a transcript that could not be written completely', async () => {
  await using folder = await temporaryFolder();
  const path = folder.file('t.ndjson');
  const full: Log = { ...createLog(() => 0), kept: () => Promise.reject(new Error('the disk is full')) };
  const finish = await saveTranscript(full, path, createRedactor(), ABOUT, quiet);
  await expect(finish('done')).rejects.toThrow('the disk is full');
  expect(await readdir(dirname(path))).toEqual([]);
});

describe('an earlier transcript', () => {
  const request = (purpose: RequestEvent['purpose']): Fact => ({
    ...{ kind: 'request', leg: '1', from: 'runtime', to: 'tool', purpose, method: 'GET' },
    ...{ url: 'http://127.0.0.1:9', headers: {}, attempt: 1 },
  });
  const answered = (status: number): Fact => ({ kind: 'response', leg: '1', status, headers: {} });
  const refused: Fact = { kind: 'broken', leg: '1', phase: 'connect', code: 'ECONNREFUSED' };

  /** @param meanwhile what another process writes there during the run */
  async function savedOver(earlier: string | null, facts: readonly Fact[], meanwhile?: string) {
    await using folder = await temporaryFolder();
    const path = folder.file('t.ndjson');
    if (earlier !== null) await writeFile(path, earlier);
    const log = createLog(() => 0);
    const stderr = new PassThrough();
    const finish = await saveTranscript(log, path, createRedactor(), ABOUT, { stderr });
    for (const fact of facts) log.emit(fact);
    if (meanwhile !== undefined) await writeFile(path, meanwhile);
    await finish('unreachable');
    const files = await readdir(dirname(path));
    return { text: await readFile(path, 'utf8'), files, said: String(stderr.read() ?? '') };
  }

  test.each<[string, readonly Fact[]]>([
    ['happened at all', []],
    ['could be reached', [request('discovery'), refused]],
    ['returned a toolset', [request('discovery'), answered(404)]],
    ['accepted the call', [request('invocation'), refused]],
  ])('is kept if nothing %s, with a message', async (_, facts) => {
    const { text, files, said } = await savedOver('good\n', facts);
    expect({ text, files }).toEqual({ text: 'good\n', files: ['t.ndjson'] });
    expect(said).toMatch(/^warning: no server was reached; \S+t\.ndjson is unchanged\n$/);
  });

  test('row 27: is kept if it was created in the meantime', async () => {
    const { text, files, said } = await savedOver(null, [request('discovery'), refused], 'theirs\n');
    expect({ text, files }).toEqual({ text: 'theirs\n', files: ['t.ndjson'] });
    expect(said).toMatch(/is unchanged\n$/);
  });

  test.each<[string, readonly Fact[]]>([
    ['a toolset was loaded, valid or not', [request('discovery'), answered(200)]],
    ['a call was refused', [request('invocation'), answered(500)]],
  ])('is replaced if %s', async (_, facts) => {
    const { text, said } = await savedOver('good\n', facts);
    expect(text).toContain('"reason":"unreachable"');
    expect(said).toBe('');
  });

  test.each([
    ['missing', null],
    ['empty', ''],
  ])('is not a loss if it is %s', async (_, earlier) => {
    const { text, said } = await savedOver(earlier, [request('discovery'), refused]);
    expect(text).toContain('ECONNREFUSED');
    expect(said).toBe('');
  });
});
