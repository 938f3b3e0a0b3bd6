import { fileURLToPath } from 'node:url';
import type { Event } from '../../../../src/events/events.js';
import { readTranscript } from '../../../../src/events/transcript-reader.js';
import { openRuntime, type Runtime } from '../../../peers/runtime.mjs';
import { startMockHere } from '../../support/mock.js';
import { type BrokenRuntime, brokenIn } from './broken-runtime.js';

type Act = (runtime: Runtime, url: string) => Promise<unknown>;

/** What gives runtimes occasions to break a rule. */
export const OCCASIONS = fileURLToPath(new URL('tool.yaml', import.meta.url));
const SECOND_REFUSED = [200, 409];

/** What a mock saw of a runtime that shares no code with us. */
export async function findingsOn(act: Act): Promise<readonly string[]> {
  await using runtime = await openRuntime();
  return brokenIn(await seenByMock(OCCASIONS, url => act(runtime, url)), 'tool');
}

/** What a mock sees while something lives with it. @param fixtures the path of a file */
export async function seenByMock(
  fixtures: string,
  live: (url: string) => Promise<unknown>,
): Promise<readonly Event[]> {
  const tool = await startMockHere([fixtures, '-q']);
  await live(tool.url);
  const headers = { accept: 'application/x-ndjson' };
  const saved = await (await fetch(`${tool.url}/__mock__/journal`, { headers })).text();
  await tool.stop();
  return readTranscript(saved.split('\n')).events;
}

export const SEEN_BY_TOOL: readonly BrokenRuntime[] = [
  seen('RT-ARGS', 'sends invalid arguments', (runtime, url) => runtime.invoke(url, 'read', { line: 'one' })),
  seen('RT-OP', 'calls what there is not', (runtime, url) => runtime.invoke(url, 'no_such_operation', {})),
  seen('RT-ID', 'uses an id for two calls', reuseId),
  seen('RT-FIELDS', 'gives no callback_url', (runtime, url) =>
    runtime.invoke(url, 'read', { line: 1 }, { fields: { callback_url: undefined } }),
  ),
  seen('RT-NORETRY', 'sends again what was refused', (runtime, url) => again(runtime, url, 'refuse')),
  seen('RT-DUP', 'refuses a duplicate', refuseDuplicate),
  seen('RT-VALIDATE', 'takes what is not a callback', (runtime, url) => take(runtime, url, 'garbled')),
  seen('RT-MATCH', 'takes the result of another call', (runtime, url) => take(runtime, url, 'mistaken')),
  seen('RT-CHOICE', 'selects what there is not', (runtime, url) => choose(runtime, url, 7)),
  seen('RT-PENDING', 'sends again what is being asked', askAgain),
  seen('RT-SUB', 'refuses the events that it subscribed to', refuseEvents),
  seen('RT-VIEW', 'refuses a view', (runtime, url) => take(runtime, url, 'paint', [400])),
];

function seen(breaks: BrokenRuntime['breaks'], does: string, act: Act): BrokenRuntime {
  return { breaks, does, findings: () => findingsOn(act) };
}

export async function choose(runtime: Runtime, url: string, selected: number) {
  const call = await runtime.invoke(url, 'ask', {});
  await call.waitFor('user_choice');
  await runtime.choose(call, selected);
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

async function refuseEvents(runtime: Runtime, url: string) {
  const call = await runtime.invoke(url, 'watch', {}, { answers: [200, 404] });
  await call.waitFor('subscription_event');
}

async function take(runtime: Runtime, url: string, operation: string, answers = [200]) {
  await (await runtime.invoke(url, operation, {}, { answers })).next();
}
