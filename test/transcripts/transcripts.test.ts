import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../e2e/support/program.js';

/** The transcripts that come with the package, recorded by record.mjs. The goldens hold what each of them comes to. */
const FOLDER = join(ROOT, 'fixtures/transcripts');

it.each(readdirSync(FOLDER))('%s: no secret is in it', name => {
  const source = readFileSync(join(FOLDER, name), 'utf8');
  expect(source).not.toMatch(/\/callback\/[\w-]{16,}/);
  expect(source).not.toMatch(/state=[\w-]{16,}/);
});
