import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { llmTextOf, outcomeOf } from '../../src/events/exchange.js';
import { arrivalsOf, type Folded, folded } from '../e2e/support/folded.js';

/** The transcripts that come with the package, recorded by record.mjs: what each of them comes to. */
const FOLDER = fileURLToPath(new URL('../../fixtures/transcripts', import.meta.url));

interface Recorded {
  readonly end: string;
  readonly outcome: string;
  readonly text: string;
  readonly arrivals: readonly string[];
  readonly more?: (transcript: Folded) => void;
}

const RESULT = 'tool_result settles 200';
const EVENT = 'subscription_event noted 200';
const VIEW = 'view_update noted 200';

const TRANSCRIPTS: Readonly<Record<string, Recorded>> = {
  diff: {
    end: 'done',
    outcome: 'success',
    text: 'Replaced text in src/retry.ts',
    arrivals: [RESULT],
  },
  choice: {
    end: 'done',
    outcome: 'success',
    text: 'Chosen: production',
    arrivals: ['user_choice holds 200', RESULT],
    more: ({ events }) =>
      expect(events).toContainEqual(expect.objectContaining({ kind: 'decided', what: 'choice', value: 1 })),
  },
  oauth: {
    end: 'done',
    outcome: 'success',
    text: 'signed in',
    arrivals: ['oauth holds 200', RESULT],
    more: ({ exchange: { arrivals } }) =>
      expect(arrivals[0]?.message).toMatchObject({ auth_url: expect.not.stringContaining('state') }),
  },
  subscription: {
    end: 'done',
    outcome: 'success',
    text: 'Watching',
    arrivals: [RESULT, EVENT, EVENT, EVENT],
    more: ({ exchange }) =>
      expect(exchange.subscription).toMatchObject({ events: 3, ended: { by: 'final' } }),
  },
  views: {
    end: 'done',
    outcome: 'success',
    text: 'Painted',
    arrivals: [VIEW, VIEW, VIEW, RESULT],
    more: ({ history }) =>
      expect(history.threads.get('thread_views')?.views.get('diff')).toMatchObject({
        updates: 3,
        content: { patch: expect.stringContaining('+three') },
      }),
  },
  threads: {
    end: 'done',
    outcome: 'success',
    text: '["root","parent"]',
    arrivals: [RESULT],
    more: ({ history }) =>
      expect(history.threads.get('thread_threads')?.ancestors).toEqual(['root', 'parent']),
  },
  cancel: {
    end: 'interrupted',
    outcome: 'canceled',
    text: '{"canceled":{"by":"user"}}',
    arrivals: ['tool_result late 200'],
    more: ({ exchange }) => expect(exchange.settled).toMatchObject({ by: 'cancel', who: 'person' }),
  },
  'late-result': {
    end: 'timeout',
    outcome: 'timeout',
    text: '{"timeout":{"durationMs":100}}',
    arrivals: ['tool_result late 200'],
  },
  'two-results': {
    end: 'done',
    outcome: 'success',
    text: 'first result',
    arrivals: [RESULT, 'tool_result duplicate 200'],
  },
};

const read = (name: string) => readFile(join(FOLDER, `${name}.ndjson`), 'utf8');

describe('fixtures/transcripts', () => {
  it('are all read here', async () => {
    const names = (await readdir(FOLDER)).map(name => name.replace('.ndjson', ''));
    expect(names.sort()).toEqual(Object.keys(TRANSCRIPTS).sort());
  });

  it.each(Object.entries(TRANSCRIPTS))('%s', async (name, { end, outcome, text, arrivals, more }) => {
    const transcript = folded(await read(name));
    const { exchange } = transcript;
    expect({ faults: transcript.faults, end: transcript.end }).toEqual({ faults: [], end });
    expect(outcomeOf(exchange)?.type).toBe(outcome);
    expect(llmTextOf(exchange)).toBe(text);
    expect(arrivalsOf(exchange)).toEqual(arrivals);
    more?.(transcript);
  });

  it.each(Object.keys(TRANSCRIPTS))('%s: no secret is in it', async name => {
    const source = await read(name);
    expect(source).not.toMatch(/\/callback\/[\w-]{16,}/);
    expect(source).not.toMatch(/state=[\w-]{16,}/);
  });
});
