import { expect, test } from 'vitest';
import { REQUIREMENTS } from '../../../src/check/rules/all.js';
import type { RequirementId } from '../../../src/protocol/requirements.js';
import { ruleLine, specLines } from '../../../src/render/check-report.js';
import { plainText } from '../../support/words.js';

const IDS = Object.keys(REQUIREMENTS) as RequirementId[];

test('a line of the list has id, level, side and statement, in columns', () => {
  const lines = plainText(IDS.map(ruleLine)).split('\n');
  expect(lines).toHaveLength(IDS.length);
  for (const [index, id] of IDS.entries()) {
    const { level, side, statement } = REQUIREMENTS[id];
    expect(lines[index]?.split(/ {2,}/)).toEqual([id, level === 'none' ? 'open' : level, side, statement]);
  }
});

test.each(IDS)('%s: what it asks, and where that is from', id => {
  const text = plainText(specLines(id));
  const { page, words } = REQUIREMENTS[id].source;
  expect(text).toContain(REQUIREMENTS[id].statement);
  expect(text).toContain(page);
  expect(text).toContain(`  fix          ${REQUIREMENTS[id].advice}`);
  if (words) expect(text).toContain(`“${words}”`);
});
