import { lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writePublicFile } from '../../src/system/files.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'public-'));
  path = join(folder, 'report.xml');
});
afterEach(() => rm(folder, { recursive: true }));

describe('a file that others may read', () => {
  it('is complete and readable', async () => {
    await writeFile(path, 'before');
    await writePublicFile(path, `${'x'.repeat(200_000)}\nend\n`);
    expect(await readFile(path, 'utf8')).toBe(`${'x'.repeat(200_000)}\nend\n`);
    expect((await stat(path)).mode & 0o444 & ~process.umask()).toBe(0o444 & ~process.umask());
    expect(await readdir(folder)).toEqual(['report.xml']);
  });

  it('row 26: replaces a planted link and does not change its target', async () => {
    const victim = join(folder, 'victim');
    await writeFile(victim, 'mine');
    await symlink(victim, path);
    await writePublicFile(path, 'ours\n');
    expect(await readFile(victim, 'utf8')).toBe('mine');
    expect((await lstat(path)).isSymbolicLink()).toBe(false);
  });

  it('describes the fix if it cannot be written, and leaves nothing behind', async () => {
    await expect(writePublicFile(join(folder, 'no', 'report.xml'), 'x\n')).rejects.toMatchObject({
      code: 'unwritable-file',
      message: `cannot write ${join(folder, 'no', 'report.xml')}: ENOENT: no such file or directory`,
      hint: 'Create its folder first.',
    });
    await expect(writePublicFile(folder, 'x\n')).rejects.toMatchObject({ code: 'unwritable-file' });
    expect(await readdir(folder)).toEqual([]);
  });
});
