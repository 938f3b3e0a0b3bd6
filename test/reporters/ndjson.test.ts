import { expect, test } from 'vitest';
import { readTranscript } from '../../src/events/transcript-reader.js';
import { ndjsonReporter } from '../../src/render/outputs/text.js';
import { acknowledged, call, eventsOf, fold, resultArrives } from '../events/build.js';
import { report } from './report.js';

const ABOUT = {
  startedAt: '2025-01-01T00:00:00.000Z',
  observer: 'runtime',
  program: 'protocol-cli/test',
} as const;

test('prints a transcript to stdout', async () => {
  const events = eventsOf(call(), acknowledged(), resultArrives());
  const { stdout } = await report(page => ndjsonReporter(page, ABOUT), events, {
    trouble: { code: 'timeout', message: 'no result' },
  });
  const transcript = readTranscript(stdout.split('\n'));
  expect(transcript).toMatchObject({ header: ABOUT, end: 'timeout', faults: [] });
  expect(fold(transcript.events)).toEqual(fold(events));
});
