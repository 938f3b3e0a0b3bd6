import { expect, test } from 'vitest';
import { Content } from '../../../src/events/content.js';
import { readTranscript } from '../../../src/events/transcript-reader.js';
import { transcriptWriter } from '../../../src/events/transcript-writer.js';
import { ndjsonSession } from '../../../src/render/outputs/session.js';
import { createRedactor } from '../../../src/util/redact.js';
import { eventsOf, fold } from '../../events/build.js';
import {
  answered,
  awaiting,
  CLIENT_STORY,
  foldSessions,
  LOOKUP,
  status,
} from '../../events/session/build.js';
import { publishedSchema } from '../../support/published-schema.js';
import { tell } from './told.js';

const ABOUT = { startedAt: '2026-11-21T10:00:00.000Z', observer: 'client', program: 'test' } as const;

async function lines(events: Parameters<typeof tell>[1]): Promise<string[]> {
  const writer = transcriptWriter(createRedactor(['canary-key']));
  const { stdout } = await tell((known, paper) => ndjsonSession(known, paper, writer, ABOUT), events);
  return stdout.trimEnd().split('\n');
}

test('is a transcript: what is read back is what happened', async () => {
  const events = eventsOf(...CLIENT_STORY);
  const { events: read, faults, header, end } = readTranscript(await lines(events));
  expect([faults, header?.observer, end]).toEqual([[], 'client', 'done']);
  expect(foldSessions(read).list).toEqual(foldSessions(events).list);
  expect(fold(read).untracked.size).toBe(0);
});

test('every line fits the published schema', async () => {
  const { faultsOf } = publishedSchema('transcript');
  expect((await lines(eventsOf(...CLIENT_STORY))).flatMap(line => faultsOf(JSON.parse(line)))).toEqual([]);
});

test('row 25: no key is in it, wherever the platform or a tool repeats it', async () => {
  const key = 'canary-key';
  const call = { ...LOOKUP, args: { deep: [key], [key]: 1 } };
  const written = await lines(
    eventsOf(
      status('running', { error: key, answer: { said: key } }),
      awaiting([call]),
      answered(call, { kind: 'tool_result', tool_req: {}, result: key }),
      [{ kind: 'warned', message: `the key is ${key}` }],
      [
        {
          kind: 'response',
          leg: 'x',
          status: 401,
          headers: { 'x-key': key },
          body: Content.ofJson({ message: key }),
        },
      ],
    ),
  );
  expect(written.join('\n')).not.toContain(key);
  expect(readTranscript(written).faults).toEqual([]);
});
