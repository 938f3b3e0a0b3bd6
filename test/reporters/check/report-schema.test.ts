import { describe, expect, test } from 'vitest';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { checkReportJsonSchema } from '../../../src/render/outputs/schemas.js';
import { publishedSchema, schemaText } from '../../support/published-schema.js';
import { GREEN, LOOK, LOSSY, STORY } from './story-of.js';

const { path, exportedAs, faultsOf } = publishedSchema('check-report');

test('is published as it is generated (to renew it: vitest -u)', async () => {
  await expect(schemaText(checkReportJsonSchema())).toMatchFileSnapshot(path);
});

test('is exported by the package', () => {
  expect(exportedAs).toBe(path);
});

test.each([
  ['in which everything happens', STORY],
  ['in which all is fine', GREEN],
  ['of which something was lost', LOSSY],
])('fits the report of a run %s', (_, story) => {
  expect(faultsOf(JSON.parse(CHECK_FORMATS.json(story, LOOK)))).toEqual([]);
});

describe('bites', () => {
  test.each<[string, object]>([
    ['a member that is not in it', { more: 1 }],
    ['a verdict that no one knows', { verdict: 'green' }],
    ['a row without its id', { checks: [{ status: 'pass' }] }],
    ['no durations', { durationMs: undefined, probes: undefined }],
  ])('%s', (_, change) => {
    const report = { ...JSON.parse(CHECK_FORMATS.json(STORY, LOOK)), ...change };
    expect(faultsOf(JSON.parse(JSON.stringify(report)))).not.toEqual([]);
  });
});
