import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs/promises';
import { basename } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/events/log.js';
import { draftBeside, GroupWriter } from '../../../src/system/files.js';
import { errorOf, troubleOf } from '../../support/failing.js';
import { disk } from './disk.js';
import {
  accepted,
  answered,
  type Folder,
  journalAt,
  messageOf,
  posted,
  run,
  temporaryFolder,
} from './runs.js';

let place: Folder;

beforeEach(async () => {
  place = await temporaryFolder();
});

afterEach(() => place[Symbol.asyncDispose]());

const content = () => fs.readFile(place.path, 'utf8');

const names = () => fs.readdir(place.folder);

const found = async () => (await run(place.path)).calls.map(({ key }) => key);

describe('the file of a journal', () => {
  it('row 26: only its owner can read it, even if it existed before', async () => {
    const modes = () =>
      names().then(all =>
        Promise.all(all.map(async name => (await fs.stat(`${place.folder}/${name}`)).mode & 0o777)),
      );
    const { journal } = await journalAt(place.path);
    expect(await modes()).toEqual([0o600, 0o600]);
    await journal.close();
    expect(await names()).toEqual(['mock.ndjson']);
    await fs.chmod(place.path, 0o644);
    await run(place.path);
    expect(await modes()).toEqual([0o600]);
  });

  it('row 26: is not read or written through a planted link', async () => {
    const victim = `${place.folder}/victim`;
    await fs.writeFile(victim, 'mine');
    await fs.symlink(victim, place.path);
    expect(await troubleOf(() => journalAt(place.path))).toBe(
      `unreadable-file: ${place.path}: cannot read this journal: it is a symbolic link`,
    );
    expect(await fs.readFile(victim, 'utf8')).toBe('mine');
    expect(await names()).toEqual(['mock.ndjson', 'victim']);
  });

  it('row 26: is not locked through a planted link', async () => {
    const victim = `${place.folder}/victim`;
    await fs.writeFile(victim, 'mine');
    await fs.symlink(victim, `${place.path}.lock`);
    expect(await troubleOf(() => journalAt(place.path))).toMatch(/^unwritable-file: .*mock\.ndjson\.lock/);
    expect(await fs.readFile(victim, 'utf8')).toBe('mine');
  });

  it('does not grow forever: finished calls are removed when it is opened', async () => {
    await run(place.path, log => {
      accepted(log, 'open');
      for (let i = 0; i < 200; i++) {
        accepted(log, `over${i}`);
        const leg = posted(log, `over${i}`, messageOf('tool_result', `over${i}`));
        answered(log, leg, 200, `over${i}`);
        log.emit({ kind: 'warned', message: 'x'.repeat(100) });
      }
    });
    const { size: before } = await fs.stat(place.path);
    expect(await found()).toEqual(['open']);
    const { size: once } = await fs.stat(place.path);
    expect(once).toBeLessThan(before / 4);
    for (let i = 0; i < 3; i++) await run(place.path);
    expect((await fs.stat(place.path)).size).toBe(once);
  });

  it('row 27: is the old or the new file if rewriting fails', async () => {
    await run(place.path, log => accepted(log, 'a'));
    const before = await content();
    for (const name of ['open', 'rename'] as const) {
      const files = disk();
      const failing = { ...files, [name]: () => Promise.reject(new Error('EIO')) };
      await expect(journalAt(place.path, { files: failing })).rejects.toThrow(place.path);
      expect([await content(), await names()]).toEqual([before, ['mock.ndjson']]);
    }
  });
});

describe('torn journal tail', () => {
  it('loses nothing before the tear, at any position', async () => {
    await run(place.path, log => {
      for (const id of ['a', 'b', 'c']) accepted(log, id);
    });
    const whole = await content();
    const begun = whole.indexOf('"begun"');
    for (let length = whole.length; length > begun + 10; length -= 37) {
      await fs.writeFile(place.path, whole.slice(0, length));
      const told = whole.slice(0, length).match(/"purpose":"invocation"[^\n]*\n/g)?.length ?? 0;
      expect(await found()).toEqual(['a', 'b', 'c'].slice(0, told));
    }
  });
});

describe('a damaged line', () => {
  const sixty = Array.from({ length: 60 }, (_, index) => `c${index}`);
  const written = async () => {
    await run(place.path, log => {
      for (const id of sixty) accepted(log, id);
    });
    return content();
  };

  it('with one changed letter in a body is reported with its content; all other calls continue', async () => {
    const whole = await written();
    const at = whole.indexOf('edit', whole.indexOf('\\"c17\\"') - 40);
    await fs.writeFile(place.path, `${whole.slice(0, at)}E${whole.slice(at + 1)}`);
    const { calls, damaged } = await run(place.path);
    expect(calls.map(({ key }) => key)).toEqual(sixty.filter(id => id !== 'c17'));
    const number = whole.slice(0, at).split('\n').length;
    expect(damaged).toEqual([
      {
        number,
        held: expect.stringMatching(/^\d+ bytes, kind "body", operation "Edit", group_id "g", id "c17"$/),
      },
    ]);
    expect((await run(place.path)).damaged).toEqual([]);
  });

  it('is reported for any changed byte, and at most one call is lost', async () => {
    const whole = Buffer.from(await written());
    const begun = whole.indexOf('"begun"') + 30;
    for (let at = whole.indexOf(0x0a, begun) + 5; at < whole.length; at += 997) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await fs.writeFile(place.path, bytes);
      const { calls, damaged, incompleteBytes } = await run(place.path);
      expect(damaged.length + (incompleteBytes > 0 ? 1 : 0)).toBeGreaterThan(0);
      expect(calls.length).toBeGreaterThanOrEqual(59);
    }
  });

  const older = '{"kind":"header","format":"protocol-cli-journal/1","startedAt":"x","program":"p"}\n';

  it.each([
    `${older}{"kind":"request"}\n`,
    `${older}\n`,
    `${older}[${'['.repeat(100_000)}\n`,
    `${older}{"kind":"settled","__proto__":{"x":1}}\n`,
  ])('of the format without checksums is skipped if it cannot be read: %j', async bytes => {
    await fs.writeFile(place.path, bytes);
    expect((await run(place.path)).damaged).toMatchObject([{ number: 2 }]);
  });
});

describe('a temporary file of a killed process', () => {
  it('is removed by the next run; those of running processes and all other files stay', async () => {
    const child = spawn('true');
    await once(child, 'exit');
    const files = [place.path, `${place.path}.lock`, `${place.folder}/other`];
    const [journal = '', lock = '', other = ''] = await Promise.all(files.map(draftBeside));
    const left = (draft: string) => draft.replace(`-${process.pid}-`, `-${child.pid}-`);
    for (const draft of [left(journal), left(lock), left(other), lock]) await fs.writeFile(draft, '');
    await run(place.path);
    expect((await names()).sort()).toEqual(['mock.ndjson', basename(left(other)), basename(lock)].sort());
  });
});

describe('a file that is not a journal', () => {
  const header = '{"kind":"header","format":"protocol-cli-journal/1","startedAt":"x","program":"p"}\n';

  it.each([
    ['fixtures:\n  - a\n', ':1: cannot read this journal: not valid JSON'],
    ['no line feed', ': cannot read this journal: the first line is not the header of a journal'],
    ['{"kind":"begun"}\n', ':1: cannot read this journal: the first line is not the header of a journal'],
    ['{"kind":"header","format":"protocol-cli-journal/9"}\n', ':1: cannot read this journal: $.format'],
    ['{"kind":"header","format":"protocol-cli-transcript/1"}\n', ':1: cannot read this journal: $.format'],
    [`${header}${header}`, ':2: cannot read this journal: unexpected second header'],
    [Buffer.from([0xff, 0xfe, 0x0a]), ':1: cannot read this journal: the body is not valid UTF-8'],
  ])('is refused with its place, and left unchanged: %j', async (bytes, problem) => {
    await fs.writeFile(place.path, bytes);
    const { code, message, hint } = await errorOf(() => journalAt(place.path));
    expect(code).toBe('unreadable-file');
    expect(message).toContain(`${place.path}${problem}`);
    expect(hint).toBe('Move the file away to begin a new journal, or give another path.');
    expect(await fs.readFile(place.path)).toEqual(Buffer.from(bytes));
    expect(await names()).toEqual(['mock.ndjson']);
  });
});

describe('two processes on one journal', () => {
  it('the second is refused until the first releases it', async () => {
    const { journal } = await journalAt(place.path);
    const { code, message, hint } = await errorOf(() => journalAt(place.path));
    expect([code, message]).toEqual([
      'unreadable-file',
      `${place.path}: process ${process.pid} is writing this journal`,
    ]);
    expect(hint).toContain(`${place.path}.lock`);
    await journal.close();
    expect(await found()).toEqual([]);
  });

  it('the lock of a dead process is replaced', async () => {
    const child = spawn('true');
    await once(child, 'exit');
    await fs.writeFile(`${place.path}.lock`, `${child.pid} 1`);
    expect([await found(), await names()]).toEqual([[], ['mock.ndjson']]);
  });

  it('a file that only has the name of a lock is not changed', async () => {
    await fs.writeFile(`${place.path}.lock`, '# yarn lockfile v1\n');
    expect(await troubleOf(() => journalAt(place.path))).toBe(
      `unreadable-file: ${place.path}: ${place.path}.lock exists but is not a lock of this program`,
    );
    expect(await fs.readFile(`${place.path}.lock`, 'utf8')).toBe('# yarn lockfile v1\n');
  });
});

describe('writing', () => {
  it('writes in groups: everything added during a write goes out with the next one', async () => {
    const files = disk();
    const { journal } = await journalAt(place.path, { files });
    const log = createLog(() => 0);
    log.storeEventsIn(journal);
    const kept = Array.from({ length: 1_000 }, (_, index) => {
      accepted(log, `c${index}`);
      return log.stored();
    });
    await Promise.all(kept);
    expect([files.writes, files.syncs]).toEqual([1, 0]);
    await journal.close();
    expect(await found()).toHaveLength(1_000);
  });

  it('continues after a partial write', async () => {
    const files = disk();
    const { journal } = await journalAt(place.path, { files });
    const log = createLog(() => 0);
    log.storeEventsIn(journal);
    files.isShort = true;
    for (const id of ['a', 'b', 'c']) accepted(log, id);
    await journal.close();
    expect(files.writes).toBeGreaterThan(3);
    expect(await found()).toEqual(['a', 'b', 'c']);
  });

  it('waits for the disk with sync', async () => {
    const files = disk();
    const { journal } = await journalAt(place.path, { files, sync: true });
    journal.take({ kind: 'warned', message: '', seq: 0, at: 0 });
    await journal.stored();
    expect([files.writes, files.syncs]).toEqual([1, 1]);
    await journal.close();
  });
});

describe('disk full', () => {
  const fail = { code: 'unwritable-file', hint: 'The disk is full: free some space, or write elsewhere.' };

  it('is reported to all waiting callers and kept as the failure', async () => {
    const files = disk();
    const { journal } = await journalAt(place.path, { files });
    const log = createLog(() => 0);
    log.storeEventsIn(journal);
    expect(journal.failure).toBeNull();
    files.isFull = true;
    accepted(log, 'a');
    const waiting = [log.stored(), log.stored()];
    for (const kept of waiting) await expect(kept).rejects.toMatchObject(fail);
    await expect(log.stored()).rejects.toMatchObject(fail);
    expect(journal.failure).toMatchObject(fail);
    await journal.close(); // a second time it says nothing: the verdict is still to come
    expect(await names()).toEqual(['mock.ndjson']);
  });

  it('after space is freed, continues where it stopped, with nothing missing or torn', async () => {
    const files = disk();
    const { journal } = await journalAt(place.path, { files });
    const log = createLog(() => 0);
    log.storeEventsIn(journal);
    for (const id of ['a', 'b', 'c', 'd']) {
      files.isFull = id === 'b' || id === 'c';
      accepted(log, id);
      await log.stored().catch(() => {});
    }
    await log.stored();
    expect(journal.failure).toMatchObject(fail);
    await journal.close();
    expect(await found()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('row 15: buffers up to a limit, then keeps nothing more', async () => {
    const written: number[] = [];
    const file = { write: () => Promise.reject(new Error('ENOSPC')) };
    const writer = new GroupWriter({ path: 'j', file: file as never, position: 0, sync: false });
    const large = 'x'.repeat(33 * 1024 * 1024);
    writer.add(large);
    await writer.written().catch(() => {}); // from here on it knows that the disk fails
    writer.add(large);
    writer.add('one more');
    await writer.written().catch(() => {});
    file.write = (async (bytes: Uint8Array) => {
      written.push(bytes.length);
      return { bytesWritten: bytes.length };
    }) as never;
    await expect(writer.written()).rejects.toThrow('too much could not be written');
    expect(written).toEqual([]);
  });
});

describe('a reset', () => {
  const twoKeys = async (key?: string) => {
    const { journal } = await journalAt(place.path);
    const log = createLog(() => 0);
    log.storeEventsIn(journal);
    accepted(log, 'over');
    answered(log, posted(log, 'over', messageOf('tool_result', 'over')), 200, 'over');
    for (const of of ['k', 'l']) log.emit({ kind: 'matched', fixture: 'f', key: of, count: 1 });
    journal.reset(key);
    await journal.close();
    const { matched, settled } = await run(place.path);
    return [matched.map(({ key: of }) => of), settled.length];
  };

  it('of one key resets its counts', async () => {
    expect(await twoKeys('k')).toEqual([['l'], 1]);
  });

  it('of everything also forgets the finished calls', async () => {
    expect(await twoKeys()).toEqual([[], 0]);
  });
});
