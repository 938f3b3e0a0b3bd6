import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gather } from '../../src/check/evidence.js';
import { checksOf } from '../../src/check/report.js';
import { readTranscript } from '../../src/events/transcript-reader.js';

const FOLDER = new URL('../../fixtures/transcripts', import.meta.url).pathname;

/** What `invoke` wrote of real runs. */
describe.each(readdirSync(FOLDER))('%s', name => {
  test('our own runtime holds what it must', async () => {
    const { events, header } = readTranscript(readFileSync(join(FOLDER, name), 'utf8').split('\n'));
    const evidence = await gather({ events, observer: header?.observer ?? 'runtime' }, 'runtime');
    const checks = checksOf('runtime', [evidence]);
    const seen = checks.filter(({ status }) => status !== 'not-applicable');
    expect(seen.filter(({ status }) => status !== 'pass')).toEqual([]);
    expect(seen.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['RT-OP', 'RT-ARGS', 'RT-ID', 'RT-FIELDS']),
    );
  });
});
