import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { loadFixtures } from '../../../src/commands/mock-tool/fixtures.js';
import type { Event, RequestEvent } from '../../../src/events/events.js';
import { llmTextOf } from '../../../src/events/exchange.js';
import { parseFixtures, readFixtures } from '../../../src/fixtures/read-fixtures.js';
import { fixturesOfTranscript } from '../../../src/fixtures/recording/from-transcript.js';
import { yamlOf } from '../../../src/fixtures/yaml.js';
import { startMockTool } from '../../../src/mock/mock-tool.js';
import { connect } from '../../../src/runtime/connect.js';
import { openRuntime, type PendingCall, type Runtime } from '../../peers/runtime.mjs';
import {
  onBothHops,
  type RecordedCall,
  recorded,
  recordedCall,
  result,
  transcriptOf,
} from '../../support/recording.js';
import { folded } from '../support/folded.js';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { ROOT } from '../support/program.js';

/** What a runtime that shares no code with us gets of a transcript is what the transcript says that it got. */
const FOLDER = join(ROOT, 'fixtures/transcripts');

type Message = Readonly<Record<string, unknown>>;

const messageOf = (event: RequestEvent) => (event.body?.json.ok ? (event.body.json.value as Message) : {});
const requests = (events: readonly Event[], purpose: RequestEvent['purpose']) =>
  events.filter(event => event.kind === 'request').filter(event => event.purpose === purpose);

/** Whose it is, and where it is answered, is another matter in another call. */
function withoutIds({ id: _, call_id: __, group_id: ___, tool_call_id: ____, ...message }: Message): Message {
  return Object.fromEntries(Object.entries(message).filter(([name]) => !name.endsWith('_url')));
}

/** Lives through the call of a transcript once more. */
async function repeat(runtime: Runtime, url: string, events: readonly Event[]): Promise<PendingCall> {
  const [invocation = {}] = requests(events, 'invocation').map(messageOf);
  const ancestors = invocation['thread_ancestors'] as string[] | undefined;
  const call = await runtime.invoke(
    url,
    String(invocation['operation']),
    invocation['arguments'] as Message,
    {
      ...(ancestors && { ancestors }),
    },
  );
  const selections = requests(events, 'choice').map(messageOf);
  if (requests(events, 'cancel').length > 0)
    await runtime.cancel(url, call.invocation.group_id, call.invocation.id);
  for (const _ of requests(events, 'callback')) {
    const { body } = await call.next();
    if (body?.['type'] === 'user_choice') await runtime.choose(call, selections.shift()?.['selected']);
    if (body?.['type'] === 'oauth') await runtime.visitConsent(String(body['auth_url']), 'grant');
  }
  return call;
}

describe('each transcript of the package', async () => {
  const names = (await readdir(FOLDER)).map(name => name.replace('.ndjson', ''));

  it.each(names)('%s', async name => {
    const path = join(FOLDER, `${name}.ndjson`);
    const { events } = folded(await readFile(path, 'utf8'));
    const { fixtures } = await loadFixtures([path]);
    await using tool = await startMockTool({ fixtures });
    await using runtime = await openRuntime();
    const { callbacks, invocation } = await repeat(runtime, tool.url, events);
    expect(callbacks.map(({ body }) => withoutIds(body ?? {}))).toEqual(
      requests(events, 'callback').map(event => withoutIds(messageOf(event))),
    );
    for (const { body } of callbacks) {
      expect(body?.['id'] ?? body?.['tool_call_id'] ?? invocation.id).toBe(invocation.id);
      expect(body?.['group_id']).toBe(invocation.group_id);
    }
  });
});

test("a recorder's transcript: threads with different results, questions, events, ids in texts", async () => {
  const question = {
    ...{ type: 'user_choice', group_id: 'thread_b', id: 'call_2', prompt: 'Sure?', choices: ['Yes', 'No'] },
    ...{ default: 1, response_url: 'http://127.0.0.1:1/choices/[redacted]' },
  };
  const calls = [
    recordedCall({ operation: 'read' }, { at: 5, message: result('before, by call_1') }),
    recordedCall(
      { operation: 'write', id: 'call_2', group_id: 'thread_b', at: 100 },
      { at: 5, message: question },
      { at: 20, chosen: 0 },
      { at: 25, message: result('{{arguments}}', { id: 'call_2', group_id: 'thread_b' }) },
    ),
    recordedCall(
      { operation: 'read', id: 'call_3', group_id: 'thread_b', at: 200 },
      { at: 5, message: result('after, by call_3 in thread_b', { id: 'call_3', group_id: 'thread_b' }) },
    ),
  ];
  await using folder = await temporaryFolder();
  const path = folder.file('run.ndjson');
  await writeFile(path, transcriptOf(onBothHops(recorded(...calls)), 'recorder'));
  const { fixtures } = await loadFixtures([path]);
  await using tool = await startMockTool({ fixtures });
  await using runtime = await openRuntime();
  const invoke = (operation: string, groupId: string) => runtime.invoke(tool.url, operation, {}, { groupId });
  const textOf = async (call: PendingCall) => (await call.result()).body?.['text'];
  const first = await invoke('read', 'one');
  expect(await textOf(first)).toBe(`before, by ${first.invocation.id}`);
  const second = await invoke('write', 'two');
  await second.waitFor('user_choice');
  await runtime.choose(second, 0);
  expect(await textOf(second)).toBe('{{arguments}}');
  const third = await invoke('read', 'two');
  expect(await textOf(third)).toBe(`after, by ${third.invocation.id} in two`);
  const fourth = await invoke('write', 'two');
  await fourth.waitFor('user_choice');
  await runtime.choose(fourth, 1);
  expect(await textOf(fourth)).toMatch(
    /^Error: the recording does not show what follows this answer: when this was recorded, the answer was /,
  );
  expect(runtime.verdict()).toEqual([]);
});

/** Calls one after the other, in some threads, with some arguments, each with a result of its own. */
const someCalls = fc
  .array(
    fc.record({
      operation: fc.constantFrom('read', 'write'),
      arguments: fc.constantFrom<object[]>({}, { path: 'a' }, { path: ['a', { b: 1 }] }),
      thread: fc.constantFrom('thread_1', 'thread_2', 'thread_3'),
      text: fc.oneof(fc.string(), fc.constantFrom('{{id}}', '\\{{id', 'by call_0 in thread_1', '{{{now}}}')),
      more: fc.dictionary(
        fc.constantFrom('display_as', 'odd'),
        fc.constant([{ type: 'text', content: '{{id}}' }]),
      ),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map(calls =>
    calls.map(
      ({ thread: group_id, text, more, ...call }, index): RecordedCall & { readonly text: string } => {
        const ids = { id: `call_${index}`, group_id };
        const message = result(text, { ...ids, ...more });
        return { text, ...recordedCall({ ...call, ...ids, at: index * 100 }, { at: 10, message }) };
      },
    ),
  );

test('any recording: a replay equals the replay of its export', async () => {
  await fc.assert(
    fc.asyncProperty(someCalls, async calls => {
      const transcript = { events: recorded(...calls), faults: [] };
      const { file } = await fixturesOfTranscript(transcript, { speed: 0 });
      const fixtures = parseFixtures(file, 'x');
      const exported = await readFixtures([{ path: 'x', text: yamlOf(file, []) }]);
      const plan = ({ toolset, fixtures: all }: typeof fixtures) => ({
        ...{ toolset, fixtures: all.map(({ id: _, place: __, ...fixture }) => fixture) },
      });
      expect(plan(exported)).toEqual(plan(fixtures));
      await using tool = await startMockTool({ fixtures: exported });
      await using connection = await connect(tool.url);
      const texts: (string | null)[] = [];
      for (const { invocation } of calls) {
        const settings = { id: String(invocation['id']), groupId: String(invocation['group_id']) };
        const { operation, arguments: args } = invocation;
        texts.push(llmTextOf(await connection.invoke(String(operation), args as Message, settings)));
      }
      expect(texts).toEqual(calls.map(({ text }) => text));
    }),
    { numRuns: 15 },
  );
});

it('a replay sends every value as it was recorded, but for ids and white space', async () => {
  const messages = [
    '{"view_type":"chart","type":"view_update","content":{"n":1.0,"n":12345678901234567890},"group_id":"thread_one_1"}',
    '{"text":"caf\\u00e9 {{id}} \\ud83d","type":"tool_result","id":"call_one_1","n":1.0,"group_id":"thread_one_1"}',
  ];
  const ids = { id: 'call_one_1', call_id: 'llm_one_1', group_id: 'thread_one_1' };
  const says = messages.map((message, index) => ({
    at: 5 + index,
    message: message.replaceAll(',"', ',\n  "'),
  }));
  await using folder = await temporaryFolder();
  const path = folder.file('run.ndjson');
  await writeFile(path, transcriptOf(onBothHops(recorded(recordedCall(ids, ...says))), 'recorder'));
  const { fixtures } = await loadFixtures([path]);
  await using tool = await startMockTool({ fixtures });
  await using runtime = await openRuntime();
  const call = await runtime.invoke(tool.url, 'edit_file', {}, { callId: 'llm_two' });
  await call.result();
  const { id, group_id } = call.invocation;
  expect(call.callbacks.map(({ raw }) => raw)).toEqual(
    messages.map(each => each.replace('call_one_1', id).replace('thread_one_1', group_id)),
  );
});

it('a replay asks as it was recorded, but for ids, addresses and white space', async () => {
  const ids = '"group_id":"thread_one_1","id":"call_one_1"';
  const choice = `{"type":"user_choice","prompt":"caf\\u00e9 {{id}}?","choices":["Yes","No"],"default":0,"note":1.0,${ids},"response_url":"http://127.0.0.1:1/x"}`;
  const oauth = `{${ids},"auth_url":"https://auth.example/?state=x","type":"oauth","scope":{"a":1.0}}`;
  const done = `{"text":"done","type":"tool_result",${ids}}`;
  const says = [
    { at: 5, message: choice },
    { at: 10, chosen: 0 },
    { at: 15, message: oauth },
    { at: 20, message: done },
  ];
  await using folder = await temporaryFolder();
  const path = folder.file('run.ndjson');
  const recording = recorded(recordedCall({ id: 'call_one_1', group_id: 'thread_one_1' }, ...says));
  await writeFile(path, transcriptOf(onBothHops(recording), 'recorder'));
  const { fixtures, warnings } = await loadFixtures([path], 0);
  expect(warnings.join('\n')).not.toContain('loses');
  await using tool = await startMockTool({ fixtures });
  await using runtime = await openRuntime();
  const call = await runtime.invoke(tool.url, 'edit_file', {});
  await call.waitFor('user_choice');
  await runtime.choose(call, 0);
  await runtime.visitConsent(String((await call.waitFor('oauth')).body?.['auth_url']), 'grant');
  await call.result();
  const { id, group_id } = call.invocation;
  const said = (raw: string, place: string) => raw.replace(/(_url":)"[^"]+"/, `$1"${place}"`);
  expect(call.callbacks.map(({ raw }) => said(raw, 'here'))).toEqual(
    [choice, oauth, done].map(each =>
      said(each.replaceAll('call_one_1', id).replaceAll('thread_one_1', group_id), 'here'),
    ),
  );
});

test('a status before the acknowledgement is not replayed, and a warning says so', async () => {
  await using folder = await temporaryFolder();
  const saved = folder.file('run.ndjson');
  const fixtures = [
    {
      match: { operation: 'look' },
      faults: { ack: { status: 503, times: 1 } },
      reply: { payload: 'seen' },
    },
  ];
  await using mock = await startMockTool({ fixtures: { version: 1, fixtures } });
  const call = await runHere(['invoke', mock.url, 'look', '--save', saved, '-o', 'text']);
  expect(call).toMatchObject({ status: 0, stdout: 'seen' });
  const { stderr } = await runHere(['mock-tool', saved, '--export', '-']);
  expect(stderr).toMatch(/was first answered 503, which is not replayed: see faults\.ack\.times/);
});
