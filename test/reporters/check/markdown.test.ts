import { expect, test } from 'vitest';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { unsafeIn } from '../../e2e/support/text.js';
import { LOOK, STORY } from './story-of.js';

const text = CHECK_FORMATS.markdown(STORY, LOOK);

test('foreign text is nothing but text', () => {
  const row = text.split('\n').find(each => each.startsWith('| TOOL-FALLBACK')) ?? '';
  expect(row).toContain('evil&#124;&#60;b&#62;␊&#60;U+003A&#62;:error::100%, "x": &#96;y&#96;');
  expect(unsafeIn(text)).toEqual([]);
});
