import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Serving, startServing } from '../../support/serving.js';
import { eventually } from '../support/eventually.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { ask } from '../support/http.js';
import { runHere } from '../support/in-process.js';
import { startRecorderHere } from '../support/recorder.js';

/*
 * Recordings in which calls have no result: the tool is silent, or posts its result to a wrong address. The tests are the runtime, the tool
 * and its reader.
 */

let tool: Serving;
let runtime: Serving;
let folder: Folder;
let file: string;
beforeAll(async () => {
  tool = await startServing((response, { method, headers, body }) => {
    if (method === 'GET') {
      const tools = ['work', 'accept'].map(name => ({
        name,
        description: name,
        inputSchema: { type: 'object' },
      }));
      const toolset = { name: 'own', endpoint: `http://${headers.host}/invoke`, tools };
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(toolset));
    }
    response.writeHead(body.includes('"accept"') ? 202 : 200).end();
  });
  runtime = await startServing((response, { url }) => {
    response.writeHead(url.endsWith('/refused') ? 404 : 200).end();
  });
});
afterAll(async () => {
  await tool[Symbol.asyncDispose]();
  await runtime[Symbol.asyncDispose]();
});
beforeEach(async () => {
  folder = await temporaryFolder();
  file = folder.file('run.ndjson');
});
afterEach(() => folder[Symbol.asyncDispose]());

/** What a test does with one call. */
interface Call {
  /** Posts the result; by default to the given address. */
  result(address?: (url: string) => string): Promise<number>;
  cancel(): Promise<unknown>;
  close(): Promise<unknown>;
}

type Invoke = (id: string, operation?: string) => Promise<Call>;

/** Records calls. Returns the last line of the recorder. */
async function record(calls: (invoke: Invoke) => Promise<void>): Promise<string | undefined> {
  await using recorder = await startRecorderHere([tool.url, '--save', file]);
  await ask(`${recorder.url}/.well-known/rap-toolset`, { method: 'GET' });
  const post = (path: string, body: object) => ask(recorder.url + path, { body: JSON.stringify(body) });
  await calls(async (id, operation = 'work') => {
    const group_id = `thread_${id}`;
    const callback_url = `${runtime.url}callback/${id}`;
    await post('/invoke', { operation, arguments: {}, id, group_id, callback_url });
    const sent = tool.requests.findLast(({ body }) => body.includes(`"id":"${id}"`));
    const url = JSON.parse(sent?.body ?? '').callback_url;
    const body = JSON.stringify({ type: 'tool_result', id, group_id, text: 'done' });
    return {
      result: async (address = given => given) => (await ask(address(url), { body })).status,
      cancel: () => post('/cancel_tool_call', { thread_id: group_id, tool_call_id: id }),
      close: () => post('/close_thread', { thread_id: group_id }),
    };
  });
  const { status, stderr } = await recorder.stop();
  expect(status).toBe(0);
  return stderr.trimEnd().split('\n').at(-1);
}

const check = (...flags: string[]) => runHere(['check', file, ...flags]);

/** Ways to get the URL wrong. */
const WRONG: readonly [string, (url: string) => string, shown: string][] = [
  ['<origin>/callback', url => new URL('/callback', url).href, '/callback'],
  ['/callbacks/<token>', url => url.replace('/callback/', '/callbacks/'), '/callbacks/[redacted]'],
];

describe.each(WRONG)('a tool that posts its result to %s', (_, wrong, shown) => {
  const recordIt = () =>
    record(async invoke => {
      const call = await invoke('call_1');
      expect(await call.result(wrong)).toBe(404);
      await call.close();
    });

  test('fails TOOL-OPAQUE; the report begins with the cause', async () => {
    expect(await recordIt()).toBe(`1 call: 1 posted to a wrong address. Next: protocol-cli check ${file}`);
    const { status, stdout } = await check('-q');
    expect(status).toBe(1);
    expect(stdout.split('\n').slice(0, 6)).toEqual([
      `check ${file}`,
      '1 of 1 call has no result: 1 posted to a wrong address',
      '',
      'Failed',
      '✗ TOOL-OPAQUE  MUST  uses the callback URL exactly as given',
      `    a tool_result was posted to a wrong address: ${shown}`,
    ]);
    expect(stdout).toMatch(/^ {4}call {6}work · call_1 · /m);
    expect(stdout).toMatch(/^ {4}│ POST \S+ → 404 .*\n {4}│ {3}\{"type":"tool_result".*"text":"done"\}$/m);
  });

  test('fails in every report, first of all', async () => {
    await recordIt();
    const github = await check('--reporter', 'github');
    expect(github.stdout).toMatch(
      /^::error title=TOOL-OPAQUE \(MUST\)::a tool_result was posted to a wrong address/,
    );
    const junit = await check('--reporter', 'junit');
    expect(
      /<testcase [^>]*>\s*<failure [^>]*>/.exec(junit.stdout.split('\n').slice(3).join('\n'))?.index,
    ).toBe(4);
    expect(junit.stdout).toContain('message="a tool_result was posted to a wrong address');
    for (const { status } of [github, junit]) expect(status).toBe(1);
  });
});

describe('three silent calls', () => {
  const WAYS: readonly [string, (call: Call) => Promise<unknown>, how: RegExp][] = [
    ['that the runtime forgets', async () => {}, /still pending at the end$/],
    ['whose threads the runtime closes', call => call.close(), /closed by the runtime after \S+( to \S+)?$/],
    ['that the runtime cancels', call => call.cancel(), /canceled by the runtime after \S+( to \S+)?$/],
  ];

  test.each(WAYS)('%s do not pass', async (_, end, how) => {
    const last = await record(async invoke => {
      for (const id of ['a', 'b', 'c']) await end(await invoke(id));
    });
    expect(last).toMatch(/^3 calls: 3 (silent|canceled)\. Next: /);
    const { status, stdout } = await check('-q');
    expect(status).toBe(3);
    const [, second, , heading, rule, reason] = stdout.split('\n');
    expect(second).toMatch(/^3 of 3 calls have no result/);
    expect([heading, rule?.slice(0, 13)]).toEqual(['Could not run', '? TOOL-ALWAYS']);
    expect(reason).toMatch(/^ {4}3 of 3 calls have no result: /);
    expect(reason).toMatch(how);
    expect(stdout).toMatch(
      /^ {4}to do {5}Check the tool itself \(protocol-cli check <url>\), or record it again/m,
    );
    const github = await check('--reporter', 'github');
    expect(github.stdout).toMatch(/^::error title=TOOL-ALWAYS could not run::3 of 3 calls have no result/);
    const junit = await check('--reporter', 'junit');
    expect(/<testcase [^>]*>\s*<error [^>]*>/.exec(junit.stdout.split('\n').slice(3).join('\n'))?.index).toBe(
      4,
    );
    expect(junit.stdout).toContain('message="3 of 3 calls have no result');
  });

  test('fail if another rule fails', async () => {
    await record(async invoke => {
      for (const id of ['a', 'b', 'c']) await invoke(id);
      await invoke('d', 'accept');
    });
    const { status, stdout } = await check('-q');
    expect(status).toBe(1);
    expect(stdout).toMatch(/^.*\n4 of 4 calls have no result: 3 silent, 1 not acknowledged\n/);
    expect(stdout).toMatch(/^✗ TOOL-ACK/m);
  });
});

test('a canceled call may stay silent: it does not make the recording incomplete', async () => {
  const last = await record(async invoke => {
    expect(await (await invoke('a')).result()).toBe(200);
    await (await invoke('b')).cancel();
  });
  expect(last).toBe(`2 calls: 1 with a result, 1 canceled. Next: protocol-cli check ${file}`);
  const { status, stdout } = await check('-q');
  expect(stdout).toMatch(/^.*\n1 of 2 calls has no result: 1 canceled\n\n✓ passed · \d+ rules: /);
  expect(status).toBe(0);
});

test('the last line of record says how each call ended, and what to do next', async () => {
  const last = await record(async invoke => {
    const calls = await Promise.all(['a', 'b', 'c', 'd'].map(id => invoke(id)));
    for (const call of calls.slice(0, 2)) expect(await call.result()).toBe(200);
    expect(await calls[0]?.result()).toBe(200); // again
    expect(await calls[2]?.result(WRONG[0]?.[1])).toBe(404);
  });
  expect(last).toBe(
    `4 calls: 2 with a result, 1 posted to a wrong address, 1 silent. Next: protocol-cli check ${file}`,
  );
});

test('a result that the runtime refused is not counted as one that it got', async () => {
  const last = await record(async invoke => {
    const [calm, refused] = await Promise.all(['calm', 'refused'].map(id => invoke(id)));
    expect(await calm?.result()).toBe(200);
    expect(await refused?.result()).toBe(404);
  });
  const ends = '1 with a result, 1 refused by the runtime';
  expect(last).toBe(`2 calls: ${ends}. Next: protocol-cli check ${file}`);
  const { stdout } = await check();
  expect(stdout).toMatch(/^.*\n1 of 2 calls has no result: 1 refused by the runtime\n/);
  expect(stdout).not.toContain('? TOOL-ALWAYS');
});

test('without a call, the last line of record says where the runtime should have sent one', async () => {
  await using recorder = await startRecorderHere([tool.url, '--save', file]);
  await eventually('the toolset', () => tool.requests.length > 0);
  const { stderr } = await recorder.stop();
  expect(stderr).toMatch(new RegExp(`^0 calls: no invocation was sent to ${recorder.url}\n$`, 'm'));
});
