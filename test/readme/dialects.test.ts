import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { dialectsTable } from './dialects-table.js';

test('the table of what each dialect can carry is that of the registry', async () => {
  const readme = await readFile('README.md', 'utf8');
  const [, table] = /<!-- dialects:start -->\n(.*?)\n?<!-- dialects:end -->/s.exec(readme) ?? [];
  expect(table).toBe(dialectsTable());
});
