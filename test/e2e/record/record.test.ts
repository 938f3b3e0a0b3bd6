import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openRuntime } from '../../peers/runtime.mjs';
import { roundTripsOn } from '../../record/recording.js';
import { startServing } from '../../support/serving.js';
import { eventually } from '../support/eventually.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { ask } from '../support/http.js';
import { runHere } from '../support/in-process.js';
import { fieldOf, type Peer, startPeer } from '../support/peers.js';
import { argv, shellLine, start } from '../support/program.js';
import { startRecorder, startRecorderHere, transcriptIn } from '../support/recorder.js';
import { closedPort } from '../support/sockets.js';

let tool: Peer;
let folder: Folder;
let file: string;
beforeAll(async () => {
  tool = await startPeer('stdlib');
});
afterAll(() => tool.stop());
beforeEach(async () => {
  folder = await temporaryFolder();
  file = folder.file('session.ndjson');
});
afterEach(() => folder[Symbol.asyncDispose]());

/** A choice, from the question to the result. */
async function answerQuestion(url: string, headers: Record<string, string> = {}) {
  await using runtime = await openRuntime();
  const call = await runtime.invoke(url, 'ask', {}, { id: 'call_1', groupId: 'thread_1', headers });
  const { body } = await call.waitFor('user_choice');
  await runtime.choose(call, 1);
  await call.result();
  await eventually('the result is taken', async () => {
    const last = (await tool.log()).at(-1);
    return last?.status === 200 && fieldOf(last, 'type') === 'tool_result';
  });
  expect(runtime.verdict()).toEqual([]);
  return { callbackUrl: call.invocation.callback_url, responseUrl: String(body?.['response_url']) };
}

describe('record', () => {
  test('starts, records, and ends like a server', async () => {
    await using recorder = await startRecorder([tool.url, '--save', file]);
    expect(recorder.url).toBe(`http://127.0.0.1:${recorder.port}`);
    await answerQuestion(recorder.url);
    await recorder.printsToStderr(/← tool_result call_1 \(thread_1\) {2}200 in /);
    const { status, stdout, stderr } = await recorder.stop();
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `${JSON.stringify({ port: recorder.port, url: recorder.url })}\n`,
    });
    expect(stderr).toMatch(/→ invocation ask call_1 \(thread_1\) {2}200 in .*\n.*← user_choice call_1/);
    expect(stderr).toMatch(/\n1 call: 1 with a result\. Next: protocol-cli check \S+session\.ndjson\n$/);
    expect(stderr).toMatch(/→ choice call_1 \(thread_1\) {2}200 in /);
    const { header, events, end, faults } = await transcriptIn(file);
    expect({ observer: header?.observer, end, faults }).toEqual({
      observer: 'recorder',
      end: 'done',
      faults: [],
    });
    const expected = ['discovery', 'invocation', 'choice'].map(purpose => `runtime ${purpose} 200`);
    for (const hop of ['runtime-side', 'tool-side'] as const)
      expect(roundTripsOn(hop, events)).toEqual(expect.arrayContaining([...expected, 'tool callback 200']));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('row 25: no secret is in the transcript, on stdout or on stderr', async () => {
    const { child, ended } = start(argv`record ${tool.url} --save ${file} -o ndjson`);
    let output = '';
    child.stdout.on('data', chunk => {
      output += chunk;
    });
    const url = await eventually('the ready line', () => /"url":"([^"]+)"/.exec(output)?.[1]);
    const headers = { authorization: 'Bearer c4n4ry-of-auth', 'x-api-key': 'c4n4ry-of-key' };
    const { callbackUrl, responseUrl } = await answerQuestion(url, headers);
    child.kill();
    const { stdout, stderr, status } = await ended;
    expect(status).toBe(0);
    const log = await tool.log();
    const given = log.findLast(({ what }) => what === 'invocation')?.raw ?? '';
    const ours: string = JSON.parse(given).callback_url;
    expect(ours).toContain(`${url}/callback/`);
    const secrets = [callbackUrl, ours, responseUrl].map(each => each.slice(each.lastIndexOf('/') + 1));
    const written = await readFile(file, 'utf8');
    for (const secret of [...secrets, 'c4n4ry']) {
      expect(secret.length).toBeGreaterThan(5);
      for (const text of [written, stdout, stderr]) expect(text).not.toContain(secret);
    }
    expect(stdout.slice(stdout.indexOf('\n') + 1)).toBe(written);
  });

  test('row 25: of a consent URL, the query is left out', async () => {
    await using recorder = await startRecorderHere([tool.url, '--save', file]);
    await using runtime = await openRuntime();
    const call = await runtime.invoke(recorder.url, 'login', {});
    const { body } = await call.waitFor('oauth');
    await call.result();
    const { search } = new URL(String(body?.['auth_url']));
    await recorder.stop();
    const written = await readFile(file, 'utf8');
    expect(written).toContain('auth_url');
    expect(search.length).toBeGreaterThan(5);
    expect(written).not.toContain(search);
  });

  test('killed, its file has all messages so far', async () => {
    await using recorder = await startRecorder([tool.url, '--save', file, '-q']);
    await answerQuestion(recorder.url);
    await recorder.stop('SIGKILL');
    const { events, end, faults } = await transcriptIn(file);
    expect({ end, faults }).toEqual({ end: null, faults: [] });
    expect(roundTripsOn('runtime-side', events)).toContain('runtime choice 200');
  });

  test('-q prints no messages', async () => {
    await using recorder = await startRecorderHere([tool.url, '--save', file, '-q']);
    await answerQuestion(recorder.url);
    expect((await recorder.stop()).stderr).toBe('');
  });

  test('reports an unreachable tool', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    await using recorder = await startRecorderHere([url, '--save', file]);
    await recorder.printsToStderr(/^warning: no toolset at http:\/\/127\.0\.0\.1:\d+ yet$/m);
    expect(await ask(`${recorder.url}/invoke`, { body: '{}' })).toMatchObject({ status: 502 });
    await recorder.printsToStderr(/→ invocation recorded-1 {2}502 in /);
    expect(await recorder.stop('SIGINT')).toMatchObject({ status: 0 });
  });

  test('a tool that never answers does not delay its end', async () => {
    const odd = await startPeer('odd');
    await using recorder = await startRecorderHere([odd.url, '--save', file, '--drain', '50ms']);
    await using runtime = await openRuntime();
    const hanging = runtime.invoke(recorder.url, 'ack_hang', {});
    await odd.seen('invocation');
    const { status, stderr } = await recorder.stop();
    expect(status).toBe(0);
    expect(stderr).toMatch(/\n1 call: 1 not acknowledged\. Next: protocol-cli check \S+session\.ndjson\n$/);
    expect((await hanging).ack.status).toBeNull();
    await odd.stop();
  });

  test('a full disk: answers 503, and does not end with 0', async () => {
    const line = shellLine(argv`record ${tool.url} --save ${file}`);
    const child = spawn('bash', ['-c', `trap '' XFSZ; ulimit -f 8; exec ${line}`]);
    const [stdout, stderr] = [child.stdout, child.stderr].map(gathered);
    const url = await eventually('the ready line', () => /"url":"([^"]+)"/.exec(stdout?.() ?? '')?.[1]);
    const body = JSON.stringify({ operation: 'echo', arguments: { text: 'x'.repeat(4_000) }, id: 'c' });
    await eventually('a 503', async () => (await ask(`${url}/invoke`, { body })).status === 503);
    const before = (await tool.log()).length;
    expect(await ask(`${url}/invoke`, { body })).toMatchObject({ status: 503 });
    expect((await tool.log()).length).toBe(before);
    child.kill();
    const [status] = await once(child, 'close');
    expect(status).toBe(2);
    expect(stderr?.()).toMatch(/^error: cannot write .*session\.ndjson: file too large/m);
  });
});

/** What a stream said so far. */
function gathered(stream: Readable): () => string {
  let text = '';
  stream.on('data', chunk => {
    text += chunk;
  });
  return () => text;
}

describe('refusals', () => {
  test('an existing recording is never overwritten', async () => {
    await writeFile(file, '{"kind":"header"}\n');
    const { status, stderr } = await runHere(argv`record ${tool.url} --save ${file}`);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/session\.ndjson: file already exists[\s\S]*another name/),
    });
    expect(await readFile(file, 'utf8')).toBe('{"kind":"header"}\n');
  });

  test('a port in use is an error', async () => {
    const { status, stderr } = await runHere(argv`
      record ${tool.url} --save ${file} --port ${String(tool.port)}
    `);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: port \d+ on 127\.0\.0\.1 is already in use\n/);
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test('TOOL-ACK: an acknowledgement that was read late, because this process could not run, is not late', async () => {
  const endpoint = { answer: '' };
  await using tool = await startServing((response, { url, body }) => {
    if (url !== '/invoke') {
      response.setHeader('content-type', 'application/json').end(toolsetAt(endpoint.answer));
      return;
    }
    response.end();
    const resumeAt = performance.now() + 1_500;
    while (performance.now() < resumeAt); // the recorder is in this process
    void postResult(JSON.parse(body));
  });
  endpoint.answer = `${tool.url}invoke`;
  await using recorder = await startRecorderHere([tool.url, '--save', file]);
  await using runtime = await openRuntime();
  const { endpoint: own } = await runtime.discover(recorder.url);
  await (await runtime.invoke(recorder.url, 'op', {}, { endpoint: own })).result();
  await recorder.stop();
  const { status, stdout } = await runHere(argv`check ${file} --reporter json`);
  const acknowledged = JSON.parse(stdout).checks.find(({ id }: { id: string }) => id === 'TOOL-ACK');
  expect({ status, acknowledged }).toMatchObject({ status: 0, acknowledged: { status: 'pass' } });
});

function toolsetAt(endpoint: string): string {
  const tools = [{ name: 'op', description: 'Does it', inputSchema: { type: 'object' } }];
  return JSON.stringify({ name: 'tools', endpoint, tools });
}

async function postResult({ group_id, id, callback_url }: Record<string, string>): Promise<void> {
  const body = JSON.stringify({ type: 'tool_result', group_id, id, text: 'done' });
  await ask(callback_url ?? '', { body });
}
