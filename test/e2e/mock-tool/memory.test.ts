import { Agent, request } from 'node:http';
import { expect, it } from 'vitest';
import { openRuntime } from '../../peers/runtime.mjs';
import { temporaryFolder } from '../support/folder.js';
import { startMockProcess } from '../support/mock.js';

const MiB = 1024 * 1024;
const CALLS = 4;
const FIXTURES = `
version: 1
fixtures:
  - { match: { operation: held }, reply: { payload: done, delay: 1h } }
  - { match: { operation: good }, reply: { payload: ok } }
`;

it('row 15: a flood of open invocations of 10 MiB with 3.5 million values each: no crash, good calls are answered', async () => {
  const value = Buffer.from(`[${'{},'.repeat((10 * MiB - 1_000) / 3)}1]`);
  await using folder = await temporaryFolder();
  await using mock = await startMockProcess([await folder.write('f.yaml', FIXTURES), '-q']);
  await using runtime = await openRuntime();
  const agent = new Agent({ keepAlive: true });
  const held = (n: number) => {
    const ids = `"id":"i${n}","operation":"held","group_id":"g","callback_url":"http://127.0.0.1:9/"`;
    return post(agent, `${mock.url}/invoke`, [Buffer.from(`{${ids},"arguments":{"value":`), value, CLOSING]);
  };
  const statuses = [await held(CALLS)]; // alone: to parse it takes a while
  statuses.push(...(await Promise.all(Array.from({ length: CALLS }, (_, n) => held(n)))));
  const call = await runtime.invoke(mock.url, 'good', {});
  expect((await call.result()).body).toMatchObject({ text: 'ok' });
  agent.destroy();
  expect(statuses).toContain(200);
  expect(statuses.filter(status => ![200, 503, ...TOO_SLOW].includes(status))).toEqual([]);
}, 180_000);

const CUT_OFF = 0;

/** Row 14: on a busy machine a body may take longer than the limit of a request. */
const TOO_SLOW = [408, CUT_OFF];

const CLOSING = Buffer.from('}}');

/** The status of the answer. */
function post(agent: Agent, url: string, parts: readonly Buffer[]): Promise<number> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const headers = { 'content-type': 'application/json', 'content-length': length };
  return new Promise(resolve => {
    const sending = request(url, { agent, method: 'POST', headers });
    sending.once('response', response => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sending.once('error', () => resolve(CUT_OFF));
    for (const part of parts) sending.write(part);
    sending.end();
  });
}
