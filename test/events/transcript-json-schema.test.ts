import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { transcriptWriter } from '../../src/events/transcript-writer.js';
import { createRedactor } from '../../src/util/redact.js';
import { publishedSchema } from '../support/published-schema.js';

const { faultsOf } = publishedSchema('transcript');

const RECORDED = new URL('../../fixtures/transcripts/', import.meta.url);
const recorded = existsSync(RECORDED) ? readdirSync(RECORDED).filter(name => name.endsWith('.ndjson')) : [];

test.each(recorded)('accepts every line of fixtures/transcripts/%s', name => {
  const lines = readFileSync(new URL(name, RECORDED), 'utf8')
    .split('\n')
    .filter(line => line !== '');
  expect(lines.length).toBeGreaterThan(2);
  expect(lines.flatMap(line => faultsOf(JSON.parse(line)))).toEqual([]);
});

describe('rejects', () => {
  const about = { startedAt: '2025-01-01T00:00:00.000Z', observer: 'runtime', program: 'test' } as const;
  const HEADER: object = JSON.parse(transcriptWriter(createRedactor()).header(about));

  test('only what is invalid', () => expect(faultsOf(HEADER)).toEqual([]));

  test.each([
    ['an unknown kind', { kind: 'x', seq: 0, at: 0 }],
    ['an event without a sequence number', { kind: 'warned', at: 0, message: 'a' }],
    ['an unknown member', { kind: 'warned', seq: 0, at: 0, message: 'a', more: 1 }],
    ['another version', { ...HEADER, format: 'protocol-cli-transcript/2' }],
  ])('%s', (_, line) => {
    expect(faultsOf(line)).not.toEqual([]);
  });
});
