import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { runHere } from '../../e2e/support/in-process.js';
import { servePeer } from '../../e2e/support/serve-peer.js';
import { publishedSchema } from '../../support/published-schema.js';

/**
 * Serves operations, of which `die` ends the server after its acknowledgement.
 * @param onDeath receives its port
 * @param fault members of each result that are wrong
 */
async function serveMortal(
  operations: readonly string[],
  onDeath: (port: number) => unknown = () => {},
  port = 0,
  fault: object = {},
) {
  const inputSchema = { type: 'object' };
  const tools = operations.map(name => ({
    ...{ name, description: '', inputSchema, annotations: { readOnly: true } },
  }));
  const peer = await servePeer(async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'GET') {
      const endpoint = `http://${request.headers.host}/invoke`;
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ name: 'mortal', endpoint, tools }));
    }
    const call = Object(await json(request));
    response.end();
    if (call.operation === 'die') return peer.stop().then(() => onDeath(peer.port));
    const { id, call_id, group_id } = call;
    return fetch(call.callback_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'tool_result', id, call_id, group_id, text: 'done', ...fault }),
    });
  }, port);
  return peer;
}

/** How long a supervisor waits before it starts a server again, in ms: longer than a probe waits between two requests. */
const RESTART_MS = 500;

test.each([[['echo', 'die']], [['die', 'echo']], [['die']]])(
  'a tool that stops answering is reported once and first, with its calls in progress: %s',
  async operations => {
    await using folder = await temporaryFolder();
    const { url } = await serveMortal(operations);
    const files = ['github', 'junit', 'json'].map(format => [format, folder.file(format)] as const);
    const { status, stdout, stderr } = await runHere([
      ...['check', url, '--probe-timeout', '1500ms', '--reporter', 'human'],
      ...files.flatMap(([format, file]) => ['--reporter', `${format}:${file}`]),
    ]);
    const [github = '', junit = '', data = ''] = await Promise.all(
      files.map(([, file]) => readFile(file, 'utf8')),
    );
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^.*\n\n✗ the tool stopped answering \(ECONNREFUSED\) (?:during `die`|with \d+ calls in)/,
    );
    expect(stdout).toMatch(/^ {4}(?:call {6}|calls {5}| {10})die · call_/m);
    expect(stdout).toMatch(/^ {4}to do {5}Read the log of the tool, and start it again\. .*--command/m);
    expect(stdout + stderr).not.toMatch(/no callback came|^Notes$|^Could not run$/m);
    const report = JSON.parse(data);
    expect(publishedSchema('check-report').faultsOf(report)).toEqual([]);
    const { calls } = report.exit;
    expect(calls.length).toBe(Number(/with (\d+) calls/.exec(report.exit.message)?.[1] ?? 1));
    expect(github.match(/^::(?:error|warning) .*/gm)).toHaveLength(1);
    expect(junit).toContain('failures="1" errors="0"');
  },
);

interface JsonReport {
  readonly exit: { readonly message: string; readonly returned?: string };
  readonly checks: readonly { readonly id: string; readonly standing: string; readonly byExit?: true }[];
}

/** Checks a tool that dies during `die`, and whose port `next` takes over a little later. */
async function checkReplaced(next: (port: number) => Promise<{ stop(): Promise<void> }>, fault: object = {}) {
  await using folder = await temporaryFolder();
  const others: Promise<{ stop(): Promise<void> }>[] = [];
  const replace = async (port: number) => {
    await sleep(RESTART_MS);
    others.push(next(port));
  };
  const { url } = await serveMortal(['echo', 'die'], replace, 0, fault);
  const [saved, data] = [folder.file('check.ndjson'), folder.file('json')];
  const args = ['--probe-timeout', '2s', '--reporter', 'human', '--reporter', `json:${data}`];
  const { status, stdout } = await runHere(['check', url, ...args, '--save', saved]);
  for (const other of others) await (await other).stop();
  const report: JsonReport = JSON.parse(await readFile(data, 'utf8'));
  expect(publishedSchema('check-report').faultsOf(report)).toEqual([]);
  const later = await runHere(['check', saved, '--side', 'tool']);
  expect(later.status).toBe(status);
  expect(later.stdout.split('\n')[2]).toBe(stdout.split('\n')[2]);
  return { status, stdout, report };
}

test('a tool that a supervisor starts again: the report begins with its end, and accuses no later call', async () => {
  const { status, stdout, report } = await checkReplaced(port =>
    serveMortal(['echo', 'die'], undefined, port),
  );
  expect(status).toBe(1);
  expect(stdout).toMatch(
    /^.*\n\n✗ the tool stopped answering \(ECONNREFUSED\) (?:during `die`|with \d+ calls in progress); it answers again now\n/,
  );
  expect(stdout).toMatch(/^ {4}to do {5}Read what the log of the tool says before it was started again\./m);
  const open = report.checks.filter(
    ({ standing, byExit }) => !/^(?:passed|not-app)/.test(standing) && !byExit,
  );
  expect(open).toEqual([]);
  expect(report.exit.returned).toBe('same');
});

test.each<[string, (request: IncomingMessage, response: ServerResponse) => unknown]>([
  ['without a toolset', (_, response) => response.writeHead(404).end('no such page')],
  [
    'with another toolset',
    (request, response) =>
      response.end(
        JSON.stringify({
          name: 'other',
          endpoint: `http://${request.headers.host}/`,
          tools: [{ name: 'pay', description: '', inputSchema: { type: 'object' } }],
        }),
      ),
  ],
])('another program that takes over the port of a tool is not judged: one %s', async (_, answer) => {
  const { status, stdout, report } = await checkReplaced(port =>
    servePeer(async (request, response) => void answer(request, response), port),
  );
  expect(status).toBe(1);
  expect(stdout).toMatch(
    /^.*\n\n✗ the tool stopped answering .*; another program answers at its address now\n/,
  );
  expect(stdout).toMatch(/^ {4}to do {5}Stop the other program, or start the tool on another port\./m);
  const open = report.checks.filter(
    ({ standing, byExit }) => !/^(?:passed|not-app)/.test(standing) && !byExit,
  );
  expect(open).toEqual([]);
  expect(report.exit.returned).toBe('other');
});

test('what a tool did wrong is not tried again on another program at its address', async () => {
  const methods: (string | undefined)[] = [];
  const tool = { name: 'echo', description: '', inputSchema: { type: 'object' } };
  const { report } = await checkReplaced(
    port =>
      servePeer(async (request, response) => {
        methods.push(request.method);
        const endpoint = `http://${request.headers.host}/invoke`;
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({ name: 'other', endpoint, tools: [{ ...tool, annotations: { readOnly: true } }] }),
        );
      }, port),
    { call_id: 'call_0' },
  );
  expect(report.exit.returned).toBe('other');
  expect(report.checks.find(({ id }) => id === 'TOOL-CALLID')?.standing).toMatch(/^failed|^flaky/);
  expect(new Set(methods)).toEqual(new Set(['GET']));
});
