import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { transcriptWriter } from '../../src/events/transcript-writer.js';
import { createRedactor } from '../../src/util/redact.js';
import { STORIES } from '../render/stories.js';
import { publishedSchema } from '../support/published-schema.js';
import { eventsOf } from './build.js';

const { faultsOf } = publishedSchema('transcript');

const RECORDED = new URL('../../fixtures/transcripts/', import.meta.url);
const recorded = existsSync(RECORDED) ? readdirSync(RECORDED).filter(name => name.endsWith('.ndjson')) : [];

function linesOf(name: string): unknown[] {
  const writer = transcriptWriter(createRedactor());
  const about = { startedAt: '2025-01-01T00:00:00.000Z', observer: 'runtime', program: 'test' } as const;
  const events = eventsOf(...(STORIES[name] ?? [])).flatMap(event => writer.event(event));
  return [writer.header(about), ...events, writer.end('done')].map(line => JSON.parse(line));
}

const faultsOfAll = (lines: readonly unknown[]) => lines.flatMap(faultsOf);

test.each(Object.keys(STORIES))('accepts every line of a story: %s', name => {
  expect(faultsOfAll(linesOf(name))).toEqual([]);
});

test.each(recorded)('accepts every line of fixtures/transcripts/%s', name => {
  const lines = readFileSync(new URL(name, RECORDED), 'utf8')
    .split('\n')
    .filter(line => line !== '');
  expect(lines.length).toBeGreaterThan(2);
  expect(faultsOfAll(lines.map(line => JSON.parse(line)))).toEqual([]);
});

describe('rejects', () => {
  test.each([
    ['an unknown kind', { kind: 'x', seq: 0, at: 0 }],
    ['an event without a sequence number', { kind: 'warned', at: 0, message: 'a' }],
    ['an unknown member', { kind: 'warned', seq: 0, at: 0, message: 'a', more: 1 }],
    ['another version', { ...Object(linesOf('nothing')[0]), format: 'protocol-cli-transcript/2' }],
  ])('%s', (_, line) => {
    expect(faultsOf(line)).not.toEqual([]);
  });
});
