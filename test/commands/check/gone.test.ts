import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { runHere } from '../../e2e/support/in-process.js';
import { servePeer } from '../../e2e/support/serve-peer.js';
import { publishedSchema } from '../../support/published-schema.js';

/** Serves two operations, of which `die` ends the server after its acknowledgement. */
async function serveMortal(...operations: readonly string[]) {
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
    if (call.operation === 'die') return peer.stop();
    const { id, call_id, group_id } = call;
    return fetch(call.callback_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'tool_result', id, call_id, group_id, text: 'done' }),
    });
  });
  return peer;
}

test.each([[['echo', 'die']], [['die', 'echo']], [['die']]])(
  'a tool that stops answering is reported once and first, with its calls in progress: %s',
  async operations => {
    await using folder = await temporaryFolder();
    const { url } = await serveMortal(...operations);
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
