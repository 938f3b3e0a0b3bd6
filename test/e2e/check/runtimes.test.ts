import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readTranscript } from '../../../src/exchange/transcript-reader.js';
import { checkTranscript } from '../../../src/rules/check-transcript.js';
import { openRuntime, type Runtime } from '../../peers/runtime.mjs';
import { findingsIn } from '../support/checking.js';
import { startMockHere } from '../support/mock.js';

/** Runtimes that share no code with us, judged by what a mock saw of them. */
const TOOL = fileURLToPath(new URL('runtimes/tool.yaml', import.meta.url));
const SECOND_REFUSED = [200, 409];

test('a runtime that does all well', async () => {
  expect(
    await findingsOn(async (runtime, url) => {
      const read = await runtime.invoke(url, 'read', { line: 1 });
      const twice = await runtime.invoke(url, 'twice', {});
      await Promise.all([read.result(), twice.next().then(() => twice.next())]);
      const garbled = await runtime.invoke(url, 'garbled', {}, { answers: [400] });
      await garbled.next();
      await runtime.invoke(url, 'refuse', {});
      await choose(runtime, url, 1);
    }),
  ).toEqual([]);
});

test.each<[string, string[], (runtime: Runtime, url: string) => Promise<unknown>]>([
  ['sends invalid arguments', ['RT-ARGS'], (runtime, url) => runtime.invoke(url, 'read', { line: 'one' })],
  ['calls what there is not', ['RT-OP'], (runtime, url) => runtime.invoke(url, 'no_such_operation', {})],
  ['uses an id for two calls', ['RT-ID'], reuseId],
  ['sends again what was refused', ['RT-NORETRY'], retryRefusal],
  ['refuses a duplicate', ['RT-DUP'], refuseDuplicate],
  ['takes what is no callback', ['RT-VALIDATE'], takeGarbled],
  ['selects what there is not', ['RT-CHOICE'], (runtime, url) => choose(runtime, url, 7)],
  ['sends again what is being asked', ['RT-PENDING'], askAgain],
])('a runtime that %s', async (_, broken, act) => {
  expect(await findingsOn(act)).toEqual(broken);
});

/** The rules that a runtime was seen to break. */
async function findingsOn(act: (runtime: Runtime, url: string) => Promise<unknown>): Promise<string[]> {
  const tool = await startMockHere([TOOL, '-q']);
  await using runtime = await openRuntime();
  await act(runtime, tool.url);
  const headers = { accept: 'application/x-ndjson' };
  const saved = await (await fetch(`${tool.url}/__mock__/journal`, { headers })).text();
  await tool.stop();
  const { events } = readTranscript(saved.split('\n'));
  const { checks } = await checkTranscript(events, { sides: ['runtime'], observer: 'tool' });
  expect(checks.some(({ status }) => status !== 'not-applicable')).toBe(true);
  return findingsIn(checks)
    .filter(({ status }) => status !== 'could-not-run')
    .map(({ id }) => id);
}

async function reuseId(runtime: Runtime, url: string) {
  const names = { id: 'call_1', groupId: 'thread_1' };
  await (await runtime.invoke(url, 'read', { line: 1 }, names)).result();
  await runtime.invoke(url, 'read', { line: 2 }, names);
}

/** The very same message. */
async function again(runtime: Runtime, url: string, operation: string) {
  const call = await runtime.invoke(url, operation, {});
  if (operation === 'ask') await call.waitFor('user_choice');
  const { endpoint } = await runtime.discover(url);
  const headers = { 'content-type': 'application/json' };
  await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(call.invocation) });
  return call;
}

function retryRefusal(runtime: Runtime, url: string) {
  return again(runtime, url, 'refuse');
}

async function askAgain(runtime: Runtime, url: string) {
  const call = await again(runtime, url, 'ask');
  await runtime.choose(call, 1);
  await call.result();
}

async function refuseDuplicate(runtime: Runtime, url: string) {
  const call = await runtime.invoke(url, 'twice', {}, { answers: SECOND_REFUSED });
  await call.next();
  await call.next();
}

async function takeGarbled(runtime: Runtime, url: string) {
  await (await runtime.invoke(url, 'garbled', {})).next();
}

async function choose(runtime: Runtime, url: string, selected: number) {
  const call = await runtime.invoke(url, 'ask', {});
  await call.waitFor('user_choice');
  await runtime.choose(call, selected);
}
