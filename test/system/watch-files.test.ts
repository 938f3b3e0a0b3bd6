import { appendFile, mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/system/clock.js';
import { watchFiles } from '../../src/system/watch-files.js';
import { errorOf } from '../support/failing.js';

let folder: string;

let one: string;

let two: string;

let watching: { close(): void } | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watch-'));
  one = join(folder, 'one.yaml');
  two = join(folder, 'two.yaml');
  await writeFile(one, 'before');
  await writeFile(two, 'before');
});

afterEach(async () => {
  watching?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Watches; `change()` resolves at the next change, `count()` is how many there were. No one looks while work is going on. */
async function watched(...paths: string[]) {
  let count = 0;
  let tell: () => void = () => {};
  let idle = Promise.resolve();
  const after: Clock['after'] = (ms, callback) => systemClock.after(ms, () => void idle.then(callback));
  const onChange = () => {
    count++;
    tell();
  };
  watching = await watchFiles(async () => paths, onChange, { ...systemClock, after });
  const change = async (work: () => Promise<unknown>) => {
    const changed = new Promise<void>(resolve => {
      tell = resolve;
    });
    idle = work().then(() => {});
    await idle;
    await changed;
  };
  return { change, count: () => count };
}

describe('watched files', () => {
  it.each([
    ['written in place', () => writeFile(one, 'after')],
    ['appended to', () => appendFile(one, 'after')],
    [
      'written in pieces',
      async () => {
        await writeFile(one, '');
        for (let piece = 0; piece < 20; piece++) await appendFile(one, 'piece');
      },
    ],
    [
      'replaced by another',
      async () => {
        await writeFile(`${one}.tmp`, 'after');
        await rename(`${one}.tmp`, one);
      },
    ],
    [
      'moved aside and rewritten',
      async () => {
        await rename(one, `${one}~`);
        await writeFile(one, 'after');
        await unlink(`${one}~`);
      },
    ],
    ['removed', () => unlink(one)],
    ['the second one', () => writeFile(two, 'after')],
    ['all at once', () => Promise.all([writeFile(one, 'after'), writeFile(two, 'after')])],
  ])('%s: one change', async (_, work) => {
    const { change, count } = await watched(one, two);
    await change(work);
    expect(count()).toBe(1);
    // Whatever was left of it would come before the next one.
    await change(() => writeFile(two, 'the next one'));
    expect(count()).toBe(2);
  });

  it('are still watched after they were replaced, removed and restored', async () => {
    const { change, count } = await watched(one);
    for (const text of ['a', 'bb', 'ccc'])
      await change(async () => {
        await writeFile(`${one}.tmp`, text);
        await rename(`${one}.tmp`, one);
      });
    await change(() => unlink(one));
    await change(() => writeFile(one, 'back'));
    expect(count()).toBe(5);
  });

  it('may be in several folders, and may not exist yet', async () => {
    const other = join(folder, 'other');
    await mkdir(other);
    const { change, count } = await watched(one, join(other, 'three.yaml'));
    await change(() => writeFile(join(other, 'three.yaml'), 'new'));
    await change(() => writeFile(one, 'after'));
    expect(count()).toBe(2);
  });

  it('may be links: to another file, or to one that changes', async () => {
    const link = join(folder, 'link.yaml');
    const far = join(folder, 'far');
    await mkdir(far);
    await writeFile(join(far, 'real.yaml'), 'before');
    await symlink(join(far, 'real.yaml'), link);
    const { change, count } = await watched(link);
    await change(() => writeFile(join(far, 'real.yaml'), 'after'));
    await change(async () => {
      await symlink(two, `${link}.tmp`);
      await rename(`${link}.tmp`, link);
    });
    expect(count()).toBe(2);
  });

  it('are distinguished from other files in their folder', async () => {
    const { change, count } = await watched(one);
    await writeFile(two, 'after');
    await writeFile(join(folder, 'three'), '');
    await change(() => writeFile(one, 'after'));
    expect(count()).toBe(1);
  });
});

describe('watching', () => {
  it('stops', async () => {
    const closed = await watched(one);
    watching?.close();
    const open = await watched(one);
    await open.change(() => writeFile(one, 'after'));
    expect([closed.count(), open.count()]).toEqual([0, 1]);
  });

  it('is refused if the folder does not exist', async () => {
    expect(
      await errorOf(() =>
        watchFiles(
          async () => [join(folder, 'no', 'file')],
          () => {},
        ),
      ),
    ).toMatchObject({
      code: 'unreadable-file',
      message: expect.stringContaining('cannot watch the files: ENOENT'),
    });
  });

  it('continues after the folder is removed', async () => {
    const { change, count } = await watched(one);
    await change(() => rm(folder, { recursive: true }));
    expect(count()).toBe(1);
  });
});
