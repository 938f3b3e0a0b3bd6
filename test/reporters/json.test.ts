import { describe, expect, test } from 'vitest';
import { jsonReporter } from '../../src/reporters/json.js';
import { createRedactor } from '../../src/text/redact.js';
import {
  acknowledged,
  arrives,
  at,
  call,
  ENDPOINT,
  eventsOf,
  INVOCATION,
  loaded,
  type Moment,
  OAUTH,
  RESULT,
  resultArrives,
  timedOut,
} from '../exchange/build.js';
import { report } from './paper.js';

async function told(story: Moment[][], trouble: Parameters<typeof report>[2] = {}) {
  const redactor = createRedactor(['token']);
  const { stdout } = await report(
    (history, paper) => jsonReporter(history, paper, redactor, new Set(['text'])),
    eventsOf(...story),
    trouble,
  );
  return { stdout, value: JSON.parse(stdout) };
}
const started = () => [at(0, call()), at(3, acknowledged())];

test('the object of the contract', async () => {
  const display_as = [
    { type: 'diff', content: 1 },
    { type: 'text', content: 'short' },
  ];
  const { value } = await told([...started(), at(9, resultArrives({ display_as }))]);
  expect(value).toMatchObject({
    invocation: { ...INVOCATION, callback_url: 'http://127.0.0.1:4000/callback/[redacted]' },
    endpoint: ENDPOINT,
    acknowledgement: { status: 200, ms: 3 },
    outcome: { type: 'success', basis: 'assumed' },
    result: { ...RESULT, display_as },
    llm: { text: 'done' },
    display: { chosen: 1, type: 'text', skipped: [{ index: 0, type: 'diff' }] },
    timing: { ackMs: 3, resultMs: 9 },
    callbacks: [{ type: 'tool_result', ms: 9, verdict: 'settles', status: 200 }],
  });
  expect(value).not.toHaveProperty('error');
});

describe('where it failed, as far as it got, with the error', () => {
  test('before there was a call', async () => {
    const trouble = { code: 'no-discovery', message: 'nothing there', hint: 'Look again.' } as const;
    expect((await told([], { trouble })).value).toEqual({ warnings: [], error: trouble });
    expect((await told([loaded()], { trouble: { ...trouble, faults: ['$.a'] } })).value.error.faults).toEqual(
      ['$.a'],
    );
  });

  test('RT-TIMEOUT: after the acknowledgement', async () => {
    const trouble = { code: 'timeout', message: 'no result' } as const;
    const { value } = await told([...started(), at(5_000, timedOut(5_000))], { trouble });
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

test('RT-OAUTH: an auth_url goes out without its query', async () => {
  const { stdout, value } = await told([
    ...started(),
    arrives({ ...OAUTH, auth_url: 'https://auth.example/a?code=canary' }),
  ]);
  expect(stdout).not.toContain('canary');
  expect(value.callbacks).toMatchObject([{ type: 'oauth', auth_url: 'https://auth.example/a' }]);
});

test('row 24: nothing unseen is raw', async () => {
  const { stdout, value } = await told([...started(), resultArrives({ text: '\u009b\u202e\u001b' })]);
  expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(value.llm.text).toBe('\u009b\u202e\u001b');
});
