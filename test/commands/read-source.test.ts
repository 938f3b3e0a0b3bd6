import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readSource } from '../../src/commands/read-source.js';
import { errorOf } from '../support/failing.js';

const stdin = (...chunks: string[]) => Readable.from(chunks.map(chunk => Buffer.from(chunk)));

test.each(['.', '/'])('a folder, %j, is reported as a folder', async name => {
  const { code, message, hint } = await errorOf(() => readSource(name, stdin()));
  expect([code, message]).toEqual(['unreadable-file', `cannot read ${name}: it is a folder`]);
  expect(hint).toBe('Name a file in it.');
});

test('refuses more than the limit as soon as it is reached', async () => {
  async function* endless() {
    for (;;) yield Buffer.alloc(1024);
  }
  const { message, hint } = await errorOf(() => readSource('-', endless(), 1024 ** 2));
  expect(message).toBe('cannot read -: it is larger than 1 MiB');
  expect(hint).toBe('Use a smaller file.');
  expect((await readSource('-', stdin('ab'), 2)).length).toBe(2);
});
