import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadPolicy } from '../../../src/commands/invoke/questions.js';
import type { Terminal } from '../../../src/commands/terminal.js';
import { errorOf } from '../../support/failing.js';

const readPolicy = (path: string, stdin: Readable) =>
  loadPolicy(path, { stdin: stdin as unknown as Terminal['stdin'] });

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'policy-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(text: string) {
  const path = join(folder, 'policy.yaml');
  await writeFile(path, text);
  return readPolicy(path, Readable.from([]));
}

test.each([
  ['YAML', 'version: 1\ndeny:\n  - delete_*\n  - { annotation: destructive, reason: ask ops }\n'],
  ['JSON', '{"version":1,"deny":["delete_*",{"annotation":"destructive","reason":"ask ops"}]}'],
])('%s', async (_, text) => {
  expect(await read(text)).toEqual({
    version: 1,
    deny: ['delete_*', { annotation: 'destructive', reason: 'ask ops' }],
  });
});

test('- is standard input', async () => {
  expect(await readPolicy('-', Readable.from([Buffer.from('version: 1')]))).toEqual({ version: 1 });
});

describe('what is wrong is reported with its place', () => {
  test.each([
    ['version: 1\ndenny: [a]\n', ':2:1 $.denny: unknown field. Did you mean "deny"?'],
    ['version: 2\n', ':1:1 $.version: '],
    ['version: 1\ndeny: [{ reason: x }]\n', ':2:8 $.deny[0]: needs a name or an annotation'],
    [
      'version: 1\ndeny: [{ annotation: destructiv }]\n',
      ':2:10 $.deny[0].annotation: is not an annotation (readOnly, destructive, idempotent, longRunning, requiresAuth, or x-vendor-key). Did you mean "destructive"?',
    ],
    ['version: 1\ndeny: [\n', ':3:1 '],
    ['', 'it is empty; a policy needs at least `version: 1`'],
  ])('%j', async (text, fault) => {
    const { code, faults } = await errorOf(() => read(text));
    expect(code).toBe('unreadable-file');
    expect(faults[0]).toContain(fault);
  });

  test('a file that is not there', async () => {
    expect(await errorOf(() => readPolicy(join(folder, 'none.yaml'), Readable.from([])))).toMatchObject({
      code: 'unreadable-file',
      message: expect.stringContaining('ENOENT'),
    });
  });
});
