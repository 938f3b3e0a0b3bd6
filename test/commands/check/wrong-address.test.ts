import { readFile } from 'node:fs/promises';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { runHere } from '../../e2e/support/in-process.js';
import { servePeer } from '../../e2e/support/serve-peer.js';

/** Posts each result to `/callback` of the runtime. */
const serveMisdirected = () =>
  servePeer(async (request, response) => {
    if (request.method === 'GET') {
      const endpoint = `http://${request.headers.host}/invoke`;
      const tools = [{ name: 'echo', description: '', inputSchema: { type: 'object' } }];
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ name: 'misdirected', endpoint, tools }));
    }
    const { callback_url: url, id, call_id, group_id } = Object(await json(request).catch(() => null));
    response.end();
    if (typeof url !== 'string') return;
    const body = JSON.stringify({ type: 'tool_result', id, call_id, group_id, text: 'done' });
    const headers = { 'content-type': 'application/json' };
    return fetch(new URL('/callback', url), { method: 'POST', headers, body });
  });

test('a tool that posts to a wrong address fails TOOL-OPAQUE alone, which names the address, a call and a body', async () => {
  await using folder = await temporaryFolder();
  const { url, stop } = await serveMisdirected();
  const files = ['github', 'junit', 'json', 'markdown'].map(format => [format, folder.file(format)] as const);
  const { status, stdout, stderr } = await runHere([
    ...['check', url, '--operation', 'echo', '--probe-timeout', '1500ms', '--reporter', 'human'],
    ...files.flatMap(([format, file]) => ['--reporter', `${format}:${file}`]),
  ]);
  await stop();
  const [github = '', junit = '', data = '', markdown = ''] = await Promise.all(
    files.map(([, file]) => readFile(file, 'utf8')),
  );
  expect(status).toBe(1);
  const finding = /✗ TOOL-OPAQUE .*\n {4}\d+ callbacks were posted to a wrong address: \/callback\n/;
  expect(stdout).toMatch(finding);
  expect(stdout).toMatch(/^ {4}calls {5}echo · call_/m);
  expect(stdout).toMatch(/^ {4}expected {2}\/callback\/<token>\n {4}actual {4}\/callback$/m);
  expect(stdout).toMatch(/│ POST \/callback → 404 .*\n *│ +\{"type":"tool_result"/);
  const { checks } = JSON.parse(data);
  const failed = checks.filter(({ standing }: { standing: string }) => standing === 'failed');
  expect(failed.map(({ id }: { id: string }) => id)).toEqual(['TOOL-OPAQUE']);
  for (const text of [github, junit]) {
    expect(text).toContain('posted to a wrong address: /callback');
    expect(text).toContain('tool_result');
  }
  for (const text of [stdout, github, junit, markdown])
    expect(text).not.toMatch(/no callback came(?! to a callback URL)/);
  expect(github.match(/^::\w+ title=[^:]+/gm)).toEqual([
    '::error title=TOOL-OPAQUE (MUST)',
    '::notice title=could not run because TOOL-OPAQUE failed',
    '::warning title=protocol-cli check',
    expect.stringContaining('::notice title=check http'),
  ]);
  expect(junit).toMatch(/ failures="1" errors="0" /);
  expect(junit).toContain('<skipped message="no verdict: TOOL-OPAQUE failed"/>');
  expect(markdown).toMatch(/\|---\|\n\| TOOL-OPAQUE .*<br>to do: POST to callback_url/);
  expect(stderr).toContain('each further call was awaited for 1s');
});
