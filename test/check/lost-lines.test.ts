import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkTranscript } from '../../src/check/report.js';
import { readTranscripts } from '../../src/events/transcript-reader.js';

const FOLDER = new URL('../../fixtures/transcripts', import.meta.url).pathname;
const linesOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8').trimEnd().split('\n');

async function accused(lines: readonly string[]): Promise<string[]> {
  const { checks } = await checkTranscript(readTranscripts(lines));
  return checks.filter(({ status }) => status === 'fail').map(({ id }) => id);
}

describe.each(readdirSync(FOLDER))('%s', name => {
  test('accuses nobody when any line of it is lost', async () => {
    const lines = linesOf(name);
    const known = await accused(lines);
    for (const at of lines.keys())
      expect(known, lines[at]).toEqual(expect.arrayContaining(await accused(lines.toSpliced(at, 1))));
  });
});

test('of several in a row each has its own loss', async () => {
  const whole = linesOf('diff.ndjson');
  const torn = whole.filter(line => !line.includes('"purpose":"callback"'));
  const statuses = async (lines: readonly string[]) =>
    (await checkTranscript(readTranscripts(lines), { only: new Set(['TOOL-ALWAYS']) })).checks.map(
      ({ status }) => status,
    );
  expect(await statuses([...whole, ...whole])).toEqual(['pass']);
  expect(await statuses([...whole, ...torn])).toEqual(['could-not-run']);
});
