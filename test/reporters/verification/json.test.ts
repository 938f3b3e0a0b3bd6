import { expect, test } from 'vitest';
import { VERIFICATION_FORMATS } from '../../../src/render/outputs/verification.js';
import { BROKEN, hostile } from './reports.js';

test('the report as it is', () => {
  expect(JSON.parse(VERIFICATION_FORMATS.json(BROKEN))).toEqual(BROKEN);
});

test('row 24: nothing unseen is raw', () => {
  const report = hostile('\u001b\u009b\u202e');
  expect(VERIFICATION_FORMATS.json(report).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(JSON.parse(VERIFICATION_FORMATS.json(report))).toEqual(report);
});
