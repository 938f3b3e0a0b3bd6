import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { keysPage } from './keys-page.js';

test('the page of keys is made from the table of keys', async () => {
  expect(await readFile('KEYS.md', 'utf8')).toBe(keysPage());
});
