import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { Files, Placing } from '../../src/system/atomic-file.js';
import {
  createPrivateFile,
  isEmptyFile,
  isHiddenStream,
  writePublicFile,
} from '../../src/system/atomic-file.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'private-'));
  path = join(folder, 'run.ndjson');
});
afterEach(() => fs.rm(folder, { recursive: true }));

const content = () => fs.readFile(path, 'utf8');
const names = () => fs.readdir(folder);
const unwritable = {
  code: 'unwritable-file',
  message: expect.stringContaining('run.ndjson'),
  hint: expect.any(String),
};

describe('a private file', () => {
  it('row 27: appears at its path only when it is complete', async () => {
    const file = await createPrivateFile(path);
    await file.write('one');
    await expect(content()).rejects.toMatchObject({ code: 'ENOENT' });
    await file.write('two');
    await file.commit();
    expect(await content()).toBe('one\ntwo\n');
    expect(await names()).toEqual(['run.ndjson']);
  });

  it('row 26: only its owner can read it, from the start', async () => {
    const file = await createPrivateFile(path);
    const modes = async () =>
      Promise.all((await names()).map(async name => (await fs.stat(join(folder, name))).mode & 0o777));
    expect(await modes()).toEqual([0o600]);
    await file.commit();
    expect(await modes()).toEqual([0o600]);
  });

  it.each(['private', 'public'])(
    'row 26: a %s one replaces a planted link and does not change its target',
    async kind => {
      const victim = join(folder, 'victim');
      await fs.writeFile(victim, 'mine');
      await fs.symlink(victim, path);
      if (kind === 'public') await writePublicFile(path, 'ours\n');
      else await (await createPrivateFile(path)).commit();
      expect(await fs.readFile(victim, 'utf8')).toBe('mine');
      expect((await fs.lstat(path)).isSymbolicLink()).toBe(false);
    },
  );

  it.each(['a planted link', 'a file'])(
    'row 26: %s is refused from the start if nothing may be replaced',
    async there => {
      if (there === 'a file') await fs.writeFile(path, 'theirs');
      else await fs.symlink(join(folder, 'victim'), path);
      await expect(createPrivateFile(path, { replaces: isEmptyFile })).rejects.toMatchObject({
        ...unwritable,
        message: `cannot write ${path}: file already exists`,
      });
      expect(await names()).toEqual(['run.ndjson']);
    },
  );

  it('leaves a file that was created meanwhile, and nothing of its own', async () => {
    const file = await createPrivateFile(path, { replaces: isEmptyFile });
    await file.write('ours');
    await fs.writeFile(path, 'theirs');
    await expect(file.commit()).rejects.toMatchObject(unwritable);
    expect(await content()).toBe('theirs');
    expect(await names()).toEqual(['run.ndjson']);
  });

  it.each(['nothing', 'an empty file'])(
    'appears at a path with %s, even if nothing may be replaced',
    async there => {
      if (there === 'an empty file') await fs.writeFile(path, '');
      const file = await createPrivateFile(path, { replaces: isEmptyFile });
      await file.write('ours');
      await file.commit();
      expect(await content()).toBe('ours\n');
      expect(await names()).toEqual(['run.ndjson']);
      expect((await fs.stat(path)).mode & 0o777).toBe(0o600);
    },
  );

  it('leaves the existing file if it is discarded', async () => {
    await fs.writeFile(path, 'before');
    const file = await createPrivateFile(path);
    await file.write('x'.repeat(100_000));
    await file.discard();
    expect(await content()).toBe('before');
    expect(await names()).toEqual(['run.ndjson']);
  });

  it('keeps the order of lines without awaiting them', async () => {
    const file = await createPrivateFile(path);
    const lines = Array.from({ length: 200 }, (_, index) => `${index} ${'x'.repeat(2_000)}`);
    await Promise.all(lines.map(line => file.write(line)));
    await file.commit();
    expect(await content()).toBe(`${lines.join('\n')}\n`);
  });

  it.each(['a folder', 'a device'])('refuses to replace %s', async what => {
    const target = what === 'a device' ? '/dev/null' : folder;
    await expect(createPrivateFile(target)).rejects.toMatchObject({ code: 'unwritable-file' });
  });

  describe('that another program holds open', () => {
    /** Renames to the path fail so often; a virus scanner also prevents links. */
    const heldFor = (times: number, code: string): Files => {
      let left = times;
      return {
        ...fs,
        link: () => Promise.reject(Object.assign(new Error(code), { code })),
        rename: async (from, to) => {
          if (to === path && left-- > 0) throw Object.assign(new Error(`${code}: held, rename`), { code });
          await fs.rename(from, to);
        },
      };
    };

    it.each(['EPERM', 'EACCES', 'EBUSY'])('is moved to its path after %s', async code => {
      await fs.writeFile(path, 'before');
      const file = await createPrivateFile(path, { files: heldFor(3, code) });
      await file.write('ours');
      await file.commit();
      expect([await content(), await names()]).toEqual(['ours\n', ['run.ndjson']]);
    });

    it('is kept beside it, and named, if that does not end', async () => {
      await fs.writeFile(path, 'before');
      const writing = writePublicFile(path, 'ours\n', { files: heldFor(Number.POSITIVE_INFINITY, 'EBUSY') });
      const error = await writing.catch(failed => failed);
      expect(error).toMatchObject({ ...unwritable, message: `cannot write ${path}: held` });
      const [before, kept = ''] = (await names()).sort();
      expect([before, await content()]).toEqual(['run.ndjson', 'before']);
      expect(error.hint).toBe(`What was written is in ${join(folder, kept)}.`);
      expect(await fs.readFile(join(folder, kept), 'utf8')).toBe('ours\n');
    });
  });

  it('describes the fix if its folder is missing', async () => {
    const missing = createPrivateFile(join(folder, 'no', 'run.ndjson'));
    await expect(missing).rejects.toMatchObject({ ...unwritable, hint: 'Create its folder first.' });
  });
});

test.each<[string, NodeJS.Platform, boolean]>([
  ['run:1', 'win32', true],
  ['C:\\logs\\run:1.ndjson', 'win32', true],
  ['C:\\logs\\run.ndjson', 'win32', false],
  ['run:1', 'linux', false],
])('%s on %s is a hidden stream: %s', (name, platform, isHidden) => {
  expect(isHiddenStream(name, platform)).toBe(isHidden);
});

describe('a public file', () => {
  it('is complete and readable by others', async () => {
    await fs.writeFile(path, 'before');
    await writePublicFile(path, `${'x'.repeat(200_000)}\nend\n`);
    expect(await content()).toBe(`${'x'.repeat(200_000)}\nend\n`);
    expect((await fs.stat(path)).mode & 0o444 & ~process.umask()).toBe(0o444 & ~process.umask());
    expect(await names()).toEqual(['run.ndjson']);
  });

  it('leaves nothing behind if it cannot be written', async () => {
    const missing = writePublicFile(join(folder, 'no', 'run.ndjson'), 'x\n');
    await expect(missing).rejects.toMatchObject(unwritable);
    await expect(writePublicFile(folder, 'x\n')).rejects.toMatchObject({ code: 'unwritable-file' });
    expect(await names()).toEqual([]);
  });
});

/** A file that is not there fails `lstat`, and some disks have no links. */
const UNNEEDED: ReadonlySet<string | undefined> = new Set(['lstat', 'link']);

describe('a failing system call', () => {
  const BEGINNING = ['lstat', 'open', 'appendFile', 'appendFile', 'sync', 'close'];

  const runTo = (how: Placing) => async (files: Files) => {
    const file = await createPrivateFile(path, { ...how, files });
    try {
      await file.write('x'.repeat(70_000));
      await file.write('the end');
      await file.commit();
    } catch (error) {
      await file.discard();
      throw error;
    }
  };

  it('row 27: leaves the old file or the new one, for any call', async () => {
    const run = runTo({});
    await fs.writeFile(path, 'before');
    const calls = await countCalls(run);
    expect(calls).toEqual([...BEGINNING, 'link', 'lstat', 'rename']);
    for (const index of calls.keys()) {
      if (UNNEEDED.has(calls[index])) continue;
      await fs.writeFile(path, 'before');
      await expect(run(failingAt(index)), calls[index]).rejects.toMatchObject({
        ...unwritable,
        hint: expect.stringContaining('disk'),
      });
      expect(await content()).toBe('before');
      expect(await names()).toEqual(['run.ndjson']);
    }
  });

  it('row 27: leaves no file if there was none, for any call', async () => {
    const run = runTo({ replaces: isEmptyFile });
    const calls = await countCalls(run);
    expect(calls).toEqual([...BEGINNING, 'link']);
    await fs.rm(path);
    for (const index of calls.keys()) {
      if (UNNEEDED.has(calls[index])) continue;
      await expect(run(failingAt(index)), calls[index]).rejects.toMatchObject(unwritable);
      expect(await names()).toEqual([]);
    }
  });
});

test('a disk without links: a file is placed, and never over another one', async () => {
  const link = () => Promise.reject(Object.assign(new Error('not permitted'), { code: 'EPERM' }));
  const create = () => createPrivateFile(path, { replaces: isEmptyFile, files: { ...fs, link } });
  const [file, late] = [await create(), await create()];
  await file.write('one');
  await file.commit();
  await late.write('two');
  await expect(late.commit()).rejects.toMatchObject(unwritable);
  expect([await content(), await names()]).toEqual(['one\n', ['run.ndjson']]);
});

async function countCalls(run: (files: Files) => Promise<void>): Promise<string[]> {
  const calls: string[] = [];
  await run(watched(name => void calls.push(name)));
  return calls;
}

function failingAt(index: number): Files {
  let calls = 0;
  return watched(() => {
    if (calls++ === index) throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
  });
}

/** The real calls, each announced first. */
function watched(before: (name: string) => void): Files {
  const announce = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, key) {
        const value = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        return async (...parameters: unknown[]) => {
          before(String(key));
          const result = await Reflect.apply(value, target, parameters);
          return key === 'open' ? announce(result) : result;
        };
      },
    });
  const { link, lstat, open, rename } = fs;
  return announce({ link, lstat, open, rename });
}
