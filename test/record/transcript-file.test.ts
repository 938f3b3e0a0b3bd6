import * as fs from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTranscriptFile } from '../../src/commands/transcript-file.js';
import { createLog, type EventStore, type Log } from '../../src/events/log.js';
import { readTranscript } from '../../src/events/transcript-reader.js';
import type { Files } from '../../src/system/atomic-file.js';
import { createRedactor } from '../../src/util/redact.js';
import { type Folder, temporaryFolder } from '../e2e/support/folder.js';
import { troubleOf } from '../support/failing.js';

const ABOUT = { startedAt: '2026-01-01T00:00:00.000Z', observer: 'recorder', program: 'test' } as const;

let folder: Folder;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  path = folder.file('session.ndjson');
});
afterEach(() => folder[Symbol.asyncDispose]());

const create = (files?: Files) =>
  createTranscriptFile(path, createRedactor(['canary']), ABOUT, { ...(files && { files }) });
const read = async () => readTranscript((await fs.readFile(path, 'utf8')).split('\n'));

/** A log that such a file keeps. */
async function kept(file: EventStore): Promise<Log> {
  const log = createLog(() => 0);
  log.storeEventsIn(file);
  return log;
}

describe('a transcript that is written line by line', () => {
  test('contains each event once it was kept, long before the end', async () => {
    const file = await create();
    const log = await kept(file);
    log.emit({ kind: 'warned', message: 'the canary sings' });
    await log.stored();
    expect(await read()).toMatchObject({
      header: ABOUT,
      events: [{ kind: 'warned', message: 'the [redacted] sings' }],
      end: null,
      faults: [],
    });
    await file.close('done');
    expect(await read()).toMatchObject({ end: 'done', faults: [] });
  });

  test('row 26: only its owner can read it', async () => {
    const file = await create();
    expect((await fs.stat(path)).mode & 0o777).toBe(0o600);
    await file.close('done');
  });

  test('rows 26 and 27: replaces neither a planted link nor a file that was created meanwhile', async () => {
    const victim = await folder.write('victim', 'mine');
    await fs.symlink(victim, path);
    expect(await troubleOf(create)).toBe(`unwritable-file: cannot write ${path}: file already exists`);
    await fs.rm(path);
    await fs.writeFile(path, 'theirs');
    expect(await troubleOf(create)).toMatch(/already exists/);
    expect([await fs.readFile(victim, 'utf8'), await fs.readFile(path, 'utf8')]).toEqual(['mine', 'theirs']);
  });

  test('uses an existing empty file', async () => {
    await fs.writeFile(path, '');
    await (await create()).close('done');
    expect(await read()).toMatchObject({ end: 'done', faults: [] });
  });

  test('a full disk: keeping fails, works again once there is space, and the failure is reported at the end', async () => {
    let isFull = false;
    const open: typeof fs.open = async (...about) => {
      const file = await fs.open(...about);
      const write = file.write.bind(file);
      const failing = () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
      Object.assign(file, {
        write: (...what: Parameters<typeof write>) => (isFull ? failing() : write(...what)),
      });
      return file;
    };
    const file = await create({ ...fs, open });
    const log = await kept(file);
    isFull = true;
    log.emit({ kind: 'warned', message: 'one' });
    await expect(log.stored()).rejects.toThrow('no space left');
    isFull = false;
    log.emit({ kind: 'warned', message: 'two' });
    await log.stored();
    expect(await troubleOf(() => file.close('done'))).toBe(
      `unwritable-file: cannot write ${path}: no space left`,
    );
    const { events, end, faults } = await read();
    expect(events).toMatchObject([{ message: 'one' }, { message: 'two' }]);
    expect({ end, faults }).toEqual({ end: 'done', faults: [] });
  });

  test('cannot be created in a missing folder', async () => {
    path = folder.file('none/session.ndjson');
    expect(await troubleOf(create)).toMatch(/^unwritable-file: cannot write .*session\.ndjson: no such file/);
  });
});
