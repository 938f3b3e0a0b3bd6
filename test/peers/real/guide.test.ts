import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { guideText } from './guide.mjs';

test('the guide peers has the versions that are pinned, and the verdicts that npm run test:peers holds', async () => {
  expect(await readFile('src/guides/peers.md', 'utf8')).toBe(await guideText());
});
