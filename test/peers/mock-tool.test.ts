import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MockHere, startMockHere } from '../e2e/support/mock.js';

/** The runtime on Python's standard library lives through every scenario with the built mock. */
const SCENARIOS = fileURLToPath(new URL('scenarios.yaml', import.meta.url));
const RUNTIME = fileURLToPath(new URL('stdlib_runtime.py', import.meta.url));

let mock: MockHere;
beforeAll(async () => {
  mock = await startMockHere([SCENARIOS, '-q']);
});
afterAll(() => mock.stop());

interface Lived {
  readonly status: number;
  readonly report: { readonly faults: unknown; readonly facts: object; readonly notices: unknown };
}

function live(scenario: string): Promise<Lived> {
  return new Promise((resolve, reject) => {
    execFile('python3', [RUNTIME, mock.url, scenario], (error, stdout, stderr) => {
      if (stdout === '') reject(new Error(stderr));
      else resolve({ status: Number(error?.code ?? 0), report: JSON.parse(stdout) });
    });
  });
}

describe.concurrent('a runtime in Python', () => {
  it.each<[string, object]>([
    ['discover', {}],
    ['result', {}],
    ['sequence', { texts: ['first', 'second', 'third'] }],
    ['choice', {}],
    ['oauth-grant', {}],
    ['oauth-refuse', {}],
    ['subscription', {}],
    ['cancel', {}],
    ['close', {}],
    ['migrate', {}],
    ['error', {}],
    ['unknown-operation', {}],
    ['bad-arguments', {}],
    ['malformed', {}],
  ])('%s', async (scenario, facts) => {
    const { status, report } = await live(scenario);
    expect(report.faults).toEqual([]);
    expect(report.facts).toMatchObject(facts);
    expect(status).toBe(0);
  });
});
