import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { pythonRuntime } from '../e2e/support/python-runtime.js';

const RUNTIME = fileURLToPath(new URL('stdlib_runtime.py', import.meta.url));
const outcomeSchema = z.object({
  acks: z.array(z.number().nullable()),
  callbacks: z.array(z.object({ body: z.unknown() })),
  faults: z.array(z.object({ id: z.string(), why: z.string() })),
});

let good: Peer;
let odd: Peer;
const lives = pythonRuntime(3);
beforeAll(async () => {
  [good, odd] = await Promise.all([startPeer('stdlib'), startPeer('odd')]);
});
afterAll(() => Promise.all([good.stop(), odd.stop()]));

/** A process of its own for one thing. It waits for a result for 3 s: everything here is quick, or never comes. */
function run(...words: string[]): Promise<{ status: number; stdout: string }> {
  return new Promise(resolve => {
    const child = execFile(
      'python3',
      [RUNTIME, ...words],
      { env: { ...process.env, LIMIT_S: '3' } },
      (_, stdout) => resolve({ status: child.exitCode ?? -1, stdout }),
    );
  });
}

describe.concurrent('an incorrect tool does not', () => {
  test.each([
    ['before_ack', 'TOOL-ACK'],
    ['ack_reset', 'TOOL-ACK'],
    ['ack_gzip', 'TOOL-ASYNC'],
    ['two_results', 'TOOL-ONCE'],
    ['forged_id', 'TOOL-ID'],
    ['forged_group', 'TOOL-GROUP'],
    ['misdirected', 'TOOL-OPAQUE'],
    ['invalid_utf8', 'TOOL-POST'],
    ['text_first', 'TOOL-FALLBACK'],
  ])('%s: %s', async (operation, id) => {
    const { status, stdout } = await lives(odd.url, 'result', operation);
    expect(outcomeSchema.parse(JSON.parse(stdout)).faults).toContainEqual({ id, why: expect.anything() });
    expect(status).toBe(1);
  });
});

describe.concurrent('as a separate process', () => {
  test('exits with a status for violations', async () => {
    const { status, stdout } = await run(odd.url, 'result', 'forged_id');
    expect([status, outcomeSchema.parse(JSON.parse(stdout)).faults]).toEqual([1, expect.anything()]);
  });

  test('exits with 2 if the operation is not offered', async () => {
    expect(await run(good.url, 'error')).toEqual({ status: 2, stdout: '' });
  });

  test('calls one operation with its arguments', async () => {
    const { status, stdout } = await run(good.url, 'ask', '{}', 'model-1');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ack: { status: 200 },
      callbacks: [
        { body: { type: 'user_choice' } },
        { body: { text: 'Chosen: staging', call_id: 'model-1' } },
      ],
      invocation: { operation: 'ask', call_id: 'model-1' },
    });
  });
});
