import { expect, test } from 'vitest';
import { programIn } from '../../../src/commands/check/witness.js';
import { temporaryFolder } from '../../e2e/support/folder.js';

const FILES = ['server.mjs', 'tools/a.py', '/home/someone/b.py', '.env'];
const isFile = async (word: string) => FILES.includes(word);

test.each([
  ['node server.mjs --token s3cr3t', '--command node server.mjs'],
  ['node --env-file .env server.mjs', '--command node .env server.mjs'],
  ['python3 tools/a.py s3cr3t', '--command python3 tools/a.py'],
  ['TOKEN=s3cr3t /usr/bin/python3 "/home/someone/b.py"', '--command python3 b.py'],
  ['TOKEN=s3cr3t /usr/bin/python3 tool.py', '--command python3'],
  [`TOKEN="s3cr3t and more" KEY='a b' ./tool`, '--command tool'],
  ['"/opt/my tools/serve" --key s3cr3t', '--command serve'],
  ['TOKEN=s3cr3t', '--command'],
  ['', '--command'],
])('row 25: of the command %s a report has the program and its files alone', async (command, shown) => {
  expect(await programIn(command, isFile)).toBe(shown);
});

test('a file is what is one on this machine', async () => {
  await using folder = await temporaryFolder();
  const path = await folder.write('server.mjs', '');
  expect(await programIn(`node ${path} ${folder.file('other.mjs')}`)).toBe('--command node server.mjs');
});
