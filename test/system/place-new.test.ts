import * as fs from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Files } from '../../src/system/files.js';
import { placeFree, placeNew } from '../../src/system/files.js';
import { type Folder, temporaryFolder } from '../e2e/support/folder.js';

let folder: Folder;
let draft: string;
let path: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  draft = await folder.write('draft', 'ours');
  await fs.chmod(draft, 0o600);
  path = folder.file('place');
});
afterEach(() => folder[Symbol.asyncDispose]());

const content = () => fs.readFile(path, 'utf8');
const names = () => fs.readdir(folder.path);

function failing(call: 'link' | 'rename', code: string): Files {
  return { ...fs, [call]: () => Promise.reject(Object.assign(new Error(`${code}: not here`), { code })) };
}

/** A disk that knows no second name for a file; some say so in other words. */
const LINKLESS: readonly (readonly [string, Files])[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].map(
  code => [`a disk without hard links (${code})`, failing('link', code)],
);

describe.each<readonly [string, Files]>([['a usual disk', fs], ...LINKLESS])('on %s', (_, files) => {
  it('comes into a place where nothing is, with its mode', async () => {
    await placeNew(draft, path, files);
    expect([await content(), await names()]).toEqual(['ours', ['place']]);
    expect((await fs.stat(path)).mode & 0o777).toBe(0o600);
  });

  it.each(['theirs', ''])('row 27: leaves what is there as it was: %j', async theirs => {
    await fs.writeFile(path, theirs);
    await expect(placeNew(draft, path, files)).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await content()).toBe(theirs);
  });

  it('row 26: follows no planted link, be it one to nowhere', async () => {
    await fs.symlink(folder.file('victim'), path);
    await expect(placeFree(draft, path, files)).rejects.toMatchObject({ code: 'EEXIST' });
    expect((await names()).sort()).toEqual(['draft', 'place']);
  });

  it('takes the place of an empty file, where that is as good as none', async () => {
    await fs.writeFile(path, '');
    await placeFree(draft, path, files);
    expect([await content(), await names()]).toEqual(['ours', ['place']]);
  });

  it('row 27: leaves alone what was written into that meanwhile', async () => {
    await fs.writeFile(path, '');
    const rename: Files['rename'] = async (from, to) => {
      if (from === path) await fs.writeFile(path, 'theirs');
      await files.rename(from, to);
    };
    await expect(placeFree(draft, path, { ...files, rename })).rejects.toMatchObject({ code: 'EEXIST' });
    expect([await content(), (await names()).sort()]).toEqual(['theirs', ['draft', 'place']]);
  });
});

it('leaves no empty file where a disk without hard links fails', async () => {
  const files = { ...failing('link', 'EPERM'), rename: failing('rename', 'ENOSPC').rename };
  await expect(placeNew(draft, path, files)).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(await names()).toEqual(['draft']);
});

it('whatever else is wrong is not a matter of links', async () => {
  await expect(placeNew(draft, path, failing('link', 'ENOSPC'))).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(await names()).toEqual(['draft']);
});
