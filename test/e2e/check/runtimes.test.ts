import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { checkTranscript } from '../../../src/check/judge.js';
import { Content } from '../../../src/events/content.js';
import type { Event } from '../../../src/events/events.js';
import { readTranscript, type TranscriptHeader } from '../../../src/events/transcript-reader.js';
import { openRuntime, type Runtime } from '../../peers/runtime.mjs';
import { harmless, operation, type RawToolOptions, startRawTool } from '../../probes/tools.js';
import { findingsIn } from '../support/checking.js';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { startMockHere } from '../support/mock.js';
import { startPeer } from '../support/peers.js';
import { ROOT } from '../support/program.js';
import { startRecorderHere, transcriptIn } from '../support/recorder.js';

/** Whole runtimes without a driver, judged by what a mock saw of them, or a recorder, or they themselves. */

type Act = (runtime: Runtime, url: string) => Promise<unknown>;

/** The rules of runtimes that were seen to be broken; a look at one occasion leaves the others out. */
async function brokenIn(events: readonly Event[], observer: TranscriptHeader['observer']) {
  const { checks } = await checkTranscript(events, { sides: ['runtime'], observer });
  expect(checks.some(({ status }) => status !== 'not-applicable')).toBe(true);
  return findingsIn(checks)
    .filter(({ status }) => status !== 'could-not-run')
    .map(({ id }) => id);
}

/** What gives runtimes occasions to break a rule. */
const OCCASIONS = fileURLToPath(new URL('occasions.yaml', import.meta.url));

/** What a mock saw of a runtime that shares no code with us. */
async function seenByTool(act: Act) {
  await using runtime = await openRuntime();
  const tool = await startMockHere([OCCASIONS, '-q']);
  await act(runtime, tool.url);
  const headers = { accept: 'application/x-ndjson' };
  const saved = await (await fetch(`${tool.url}/__mock__/journal`, { headers })).text();
  await tool.stop();
  return brokenIn(readTranscript(saved.split('\n')).events, 'tool');
}

const choose = async (runtime: Runtime, url: string, selected: number) => {
  const call = await runtime.invoke(url, 'ask', {});
  await call.waitFor('user_choice');
  await runtime.choose(call, selected);
  return call;
};

/** The very same message. */
const sendAgain = async (runtime: Runtime, url: string, { invocation }: { invocation: object }) => {
  const { endpoint } = await runtime.discover(url);
  const headers = { 'content-type': 'application/json' };
  await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(invocation) });
};

const take = async (runtime: Runtime, url: string, name: string, answers = [200]) => {
  const call = await runtime.invoke(url, name, {}, { answers });
  for (const _ of answers) await call.next();
};

/** By the rule that it breaks. */
const ACTS: Readonly<Record<string, Act>> = {
  'RT-OP': (runtime, url) => runtime.invoke(url, 'no_such_operation', {}),
  'RT-ARGS': (runtime, url) => runtime.invoke(url, 'read', { line: 'one' }),
  'RT-ID': async (runtime, url) => {
    const names = { id: 'call_1', groupId: 'thread_1' };
    await (await runtime.invoke(url, 'read', { line: 1 }, names)).result();
    await runtime.invoke(url, 'read', { line: 2 }, names);
  },
  'RT-FIELDS': (runtime, url) =>
    runtime.invoke(url, 'read', { line: 1 }, { fields: { callback_url: undefined } }),
  'RT-NORETRY': async (runtime, url) => sendAgain(runtime, url, await runtime.invoke(url, 'refuse', {})),
  'RT-VALIDATE': (runtime, url) => take(runtime, url, 'garbled'),
  'RT-MATCH': (runtime, url) => take(runtime, url, 'mistaken'),
  'RT-ACK': async (runtime, url) => {
    await (await runtime.invoke(url, 'read', { line: 3 }, { answers: [202] })).next();
  },
  'RT-DUP': (runtime, url) => take(runtime, url, 'twice', [200, 409]),
  'RT-PENDING': async (runtime, url) => {
    const call = await runtime.invoke(url, 'ask', {});
    await call.waitFor('user_choice');
    await sendAgain(runtime, url, call);
    await runtime.choose(call, 1);
    await call.result();
  },
  'RT-CHOICE': (runtime, url) => choose(runtime, url, 7),
  'RT-SUB': async (runtime, url) => {
    const call = await runtime.invoke(url, 'watch', {}, { answers: [200, 404] });
    await call.waitFor('subscription_event');
  },
  'RT-VIEW': (runtime, url) => take(runtime, url, 'paint', [400]),
};

const FAILING: RawToolOptions = { noticed: response => void response.writeHead(503).end() };
const INVALID: RawToolOptions = {
  toolset: url => ({ ...harmless(url), tools: [operation('op'), operation('no good')] }),
};

/** What a recorder saw between a runtime and a tool, neither of them with our code. */
async function seenBetween(options: RawToolOptions, act: Act) {
  await using tool = await startRawTool(options);
  await using folder = await temporaryFolder();
  const file = folder.file('between.ndjson');
  const recorder = await startRecorderHere([tool.url, '--save', file, '-q']);
  await using runtime = await openRuntime();
  await act(runtime, recorder.url);
  await recorder.stop();
  return brokenIn((await transcriptIn(file)).events, 'recorder');
}

/** Our own runtime, asked to be worse than it is. */
async function seenByItself(name: string, ...flags: readonly string[]) {
  await using tool = await startPeer('odd');
  await using folder = await temporaryFolder();
  const file = folder.file('own.ndjson');
  await runHere(['invoke', tool.url, name, '--save', file, ...flags]);
  return brokenIn((await transcriptIn(file)).events, 'runtime');
}

describe.concurrent('a runtime', () => {
  test('that breaks many rules is seen to break these, by its tool', async () => {
    const found = await seenByTool(async (runtime, url) => {
      for (const act of Object.values(ACTS)) await act(runtime, url);
    });
    expect(found.toSorted()).toEqual(Object.keys(ACTS).toSorted());
  });

  test('that is correct passes, seen from the tool', async () => {
    const found = await seenByTool(async (runtime, url) => {
      const read = await runtime.invoke(url, 'read', { line: 1 });
      const twice = await runtime.invoke(url, 'twice', {});
      await Promise.all([read.result(), twice.next().then(() => twice.next())]);
      await take(runtime, url, 'garbled', [400]);
      await take(runtime, url, 'mistaken', [404]);
      await take(runtime, url, 'paint');
      await (await runtime.invoke(url, 'watch', {})).waitFor('subscription_event');
      await runtime.invoke(url, 'refuse', {});
      await choose(runtime, url, 1);
    });
    expect(found).toEqual([]);
  });

  test.each<[string, string[], ...Parameters<typeof seenBetween>]>([
    [
      'whose notices fail once passes',
      [],
      FAILING,
      async (runtime, url) => {
        await runtime.cancel(url, 'thread_1', 'call_1');
        await runtime.cancel(url, 'thread_1', 'call_2');
        await runtime.closeThread(url, 'thread_1');
      },
    ],
    [
      'that cancels again where that failed',
      ['RT-NOTIFY'],
      FAILING,
      async (runtime, url) => {
        for (let time = 0; time < 2; time++) await runtime.cancel(url, 'thread_1', 'call_1');
      },
    ],
    [
      'that closes again where that failed',
      ['RT-NOTIFY'],
      FAILING,
      async (runtime, url) => {
        for (let time = 0; time < 2; time++) await runtime.closeThread(url, 'thread_1');
      },
    ],
    [
      'that calls what an invalid toolset offers',
      ['RT-TOOLSET'],
      INVALID,
      (runtime, url) => runtime.invoke(url, 'op', {}),
    ],
  ])('%s, seen by a recorder: %j', async (_, broken, options, act) => {
    expect(await seenBetween(options, act)).toEqual(broken);
  });

  test('that waits on after a 201, or gives up after a 500: in its own transcript', async () => {
    expect(await seenByItself('ack_201', '--lenient-ack')).toEqual(['RT-NON200']);
    expect(await seenByItself('ack_500', '--retries', '0')).toEqual(['RT-RETRY']);
  });

  test('that keeps where to consent, in its own transcript', async () => {
    const { events } = await transcriptIn(`${ROOT}fixtures/transcripts/oauth.ndjson`);
    const kept = events.map(event => {
      const message = event.kind === 'request' && event.body?.json.ok ? Object(event.body.json.value) : {};
      if (event.kind !== 'request' || message.type !== 'oauth') return event;
      return { ...event, body: Content.ofJson({ ...message, auth_url: `${message.auth_url}?state=kept` }) };
    });
    expect(await brokenIn(kept, 'runtime')).toEqual(['RT-OAUTH']);
  });
});
