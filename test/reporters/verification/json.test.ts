import { expect, test } from 'vitest';
import { jsonVerification } from '../../../src/render/outputs/verification.js';
import { BROKEN, hostile } from './reports.js';

test('the report as it is', () => {
  expect(JSON.parse(jsonVerification(BROKEN))).toEqual(BROKEN);
});

test('row 24: nothing unseen is raw', () => {
  const report = hostile('\u001b\u009b\u202e');
  expect(jsonVerification(report).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(JSON.parse(jsonVerification(report))).toEqual(report);
});
