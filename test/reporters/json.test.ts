import { describe, expect, test } from 'vitest';
import { invokeReport } from '../../src/render/outputs/call-report.js';
import { jsonReporter } from '../../src/render/outputs/reporter.js';
import {
  acknowledged,
  arrives,
  at,
  CHOICE,
  call,
  eventsOf,
  KEY,
  type Moment,
  OAUTH,
  resultArrives,
  THREAD,
  timedOut,
} from '../events/build.js';
import { event, FLOWS, view } from '../render/flows.js';
import { report } from './report.js';

async function reportOf(parts: readonly Moment[][], trouble: Parameters<typeof report>[2] = {}) {
  const supports = new Set(['text']);
  const { stdout } = await report(
    page => jsonReporter(page, ending => invokeReport(ending, supports)),
    eventsOf(...parts),
    {
      secrets: ['token'],
      ...trouble,
    },
  );
  return { stdout, value: JSON.parse(stdout) };
}
const started = () => [at(0, call()), at(3, acknowledged())];

describe('after a failure: the members known so far, and the error', () => {
  test('RT-TIMEOUT: after the acknowledgement', async () => {
    const trouble = { code: 'timeout', message: 'no result' } as const;
    const { value } = await reportOf([...started(), at(5_000, timedOut(5_000))], { trouble });
    expect(value).toMatchObject({
      acknowledgement: { status: 200 },
      outcome: { type: 'timeout', durationMs: 5_000, basis: 'ours' },
      result: null,
      llm: { text: '{"timeout":{"durationMs":5000}}' },
      timing: { ackMs: 3, resultMs: null },
      error: trouble,
    });
  });
});

test('RT-OAUTH: removes the query of an auth_url', async () => {
  const { stdout, value } = await reportOf([
    ...started(),
    arrives({ ...OAUTH, auth_url: 'https://auth.example/a?code=canary' }),
  ]);
  expect(stdout).not.toContain('canary');
  expect(value.callbacks).toMatchObject([{ type: 'oauth', auth_url: 'https://auth.example/a' }]);
});

describe('the conversation', () => {
  test('RT-SUB: contains the events of a subscription and the calls that a runtime adds for them', async () => {
    const { value } = await reportOf(FLOWS['a subscription'] ?? []);
    const call = { name: 'receive_event', arguments: { tool_call_id: KEY } };
    const child = { placement: 'child-thread', thread_ancestors: [THREAD] };
    expect(value.subscription).toEqual({
      events: 3,
      ended: 'final',
      calls: [
        { ...call, text: 'opened', ...child },
        { ...call, text: 'joined', placement: 'thread', thread_ancestors: [] },
        { ...call, text: 'closed', ...child },
      ],
    });
    expect(value.callbacks.at(-1)).toMatchObject({ verdict: 'discarded', text: 'opened' });
  });

  test.each([
    ['a choice', [{ prompt: 'Where to?', selected: 1, by: 'flag' }]],
    ['an unanswered choice', [{ prompt: 'Where to?', selected: null, by: null }]],
    [
      'two choices',
      [
        { prompt: 'Where to?', selected: 1, by: 'flag' },
        { prompt: 'Sure?', selected: 0, by: 'flag' },
      ],
    ],
  ])('RT-CHOICE: %s', async (name, choices) => {
    expect((await reportOf(FLOWS[name] ?? [])).value.choices).toEqual(choices);
  });

  test('counts callbacks that are no longer kept', async () => {
    const events = Array.from({ length: 2_500 }, (_, index) => event(`e${index}`));
    const { value } = await reportOf([...started(), resultArrives({ subscription: true }), ...events]);
    expect(value.forgotten).toBeGreaterThan(0);
    expect(value.forgotten + value.callbacks.length).toBe(2_501);
    expect(value.subscription.events).toBe(2_500);
  });

  test('redacts secrets', async () => {
    const { stdout } = await reportOf([
      ...started(),
      resultArrives({ subscription: true }),
      event('e1', { text: 'my token' }),
      view('v1', 'a token'),
      arrives({ ...CHOICE, prompt: 'token?' }, { leg: 'c1' }),
    ]);
    expect(stdout).not.toMatch(/my token|a token|token\?/);
  });
});

test('row 24: escapes invisible characters', async () => {
  const { stdout, value } = await reportOf([...started(), resultArrives({ text: '\u009b\u202e\u001b' })]);
  expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(value.llm.text).toBe('\u009b\u202e\u001b');
});
