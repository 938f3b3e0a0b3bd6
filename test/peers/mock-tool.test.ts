import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MockHere, startMockHere } from '../e2e/support/mock.js';
import { pythonRuntime } from '../e2e/support/python-runtime.js';

/** The runtime on Python's standard library lives through every scenario with the mock. */
const runtime = pythonRuntime(10);
const SCENARIOS = fileURLToPath(new URL('scenarios.yaml', import.meta.url));

let mock: MockHere;
beforeAll(async () => {
  mock = await startMockHere([SCENARIOS, '-q']);
});
afterAll(() => mock.stop());

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
    const { status, stdout } = await runtime(mock.url, scenario);
    expect(JSON.parse(stdout)).toMatchObject({ faults: [], facts });
    expect(status).toBe(0);
  });
});
