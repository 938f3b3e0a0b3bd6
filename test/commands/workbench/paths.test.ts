import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Folder, temporaryFolder } from '../../e2e/support/folder.js';
import { startBench } from './bench.js';

let folder: Folder;
let where: { readonly cwd: string; readonly home: string };
beforeAll(async () => {
  folder = await temporaryFolder();
  where = { cwd: folder.file('here'), home: folder.file('home') };
  for (const name of ['here/runs', 'home/.hidden']) await mkdir(folder.file(name), { recursive: true });
  for (const name of ['here/a.ndjson', 'here/ab.yaml', 'here/runs/1.ndjson', 'here/\u001b.yaml', 'home/mine'])
    await writeFile(folder.file(name), '');
  await symlink(folder.file('here/runs'), folder.file('here/linked'));
});
afterAll(() => folder[Symbol.asyncDispose]());

test.each([
  ['', ['a.ndjson', 'ab.yaml', 'linked/', 'runs/']],
  ['a', ['a.ndjson', 'ab.yaml']],
  ['ab', ['ab.yaml']],
  ['ru', ['runs/']],
  ['runs/', ['runs/1.ndjson']],
  ['./runs/1', ['./runs/1.ndjson']],
  ['linked/', ['linked/1.ndjson']],
  ['../home/', ['../home/mine']],
  ['~', ['~/']],
  ['~/', ['~/mine']],
  ['~/.', ['~/.hidden/']],
  ['none/', []],
  ['x', []],
])('%s goes on as %j', async (typed, paths) => {
  await using bench = startBench(where);
  expect(await bench.controls.paths(typed)).toEqual(paths);
});
