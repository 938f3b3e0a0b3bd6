import { expect, test } from 'vitest';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { unsafeIn } from '../../e2e/support/text.js';
import { LOOK, LOSSY } from './story-of.js';

test('row 24: what was read is quoted safely', () => {
  for (const format of Object.values(CHECK_FORMATS)) expect(unsafeIn(format(LOSSY, LOOK))).toEqual([]);
});
