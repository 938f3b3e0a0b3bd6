import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storm } from '../../peers/storm.mjs';
import { temporaryFolder } from '../support/folder.js';
import { type MockProcess, startMockProcess } from '../support/mock.js';

/** Calls over 50 connections and 100 threads: none is missing, comes twice, crosses another or overtakes it. */
const FIXTURES = `
version: 1
toolset:
  name: storm
  tools:
    - { name: count, description: Counts the calls of a thread., inputSchema: { type: object } }
    - { name: echo, description: Says it back., inputSchema: { type: object } }
    - { name: slow, description: Says it back some time., inputSchema: { type: object } }
fixtures:
  - match: { operation: count, arguments: { text: { $absent: true } } }
    sequence: [{ payload: "1" }, { payload: "2" }, { payload: "{{count}}" }]
    exhausted: last
  - { match: { operation: echo }, reply: { payload: "{{arguments.text}}" } }
  - { match: { operation: slow }, reply: { delay: { min: 0, max: 80 }, payload: "{{arguments.text}}" } }
`;
const exactly = (calls: number) => ({
  ...{ sent: calls, acked: calls, delivered: calls },
  ...{ missing: 0, twice: 0, crossed: 0, disordered: 0, refusals: {} },
});

let mock: MockProcess;
beforeAll(async () => {
  await using folder = await temporaryFolder();
  mock = await startMockProcess([
    await folder.write('storm.yaml', FIXTURES),
    '-q',
    '--verify',
    '--seed',
    'storm',
  ]);
});
afterAll(() => mock.stop('SIGKILL'));

describe('many calls at once', () => {
  it('each gets its own result at its own URL', async () => {
    expect(await storm(mock.url, 'echo', { own: 'text', calls: 200 })).toMatchObject(exactly(200));
  });

  it('also if results overtake each other', async () => {
    expect(await storm(mock.url, 'slow', { own: 'text', calls: 500 })).toMatchObject(exactly(500));
  });

  it('a sequence is counted per thread', async () => {
    expect(await storm(mock.url, 'count', { keyed: true, calls: 300 })).toMatchObject(exactly(300));
  });

  it('all were answered by their fixtures and delivered: verification passes', async () => {
    const { status, stderr } = await mock.stop();
    expect(stderr).toMatch(/^✓ .*1,?000 calls/m);
    expect(status).toBe(0);
  });
});
