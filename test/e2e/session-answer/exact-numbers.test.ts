import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/folder.js';
import { startMockHere } from '../support/mock.js';
import { answer, KEY, pendingCall } from '../support/session-answer.js';
import { startPlatform } from '../support/session-platform.js';

const EXACT = '9007199254740993';
const AS_TEXT = '"9007199254740993n"';

/** Peers parse JSON as we do, so that they get and send the number as a text; this proxy writes it as a number for us. */
async function exactProxy(target: string) {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    received.push(body);
    const { host: _, 'content-length': __, ...headers } = request.headers as Record<string, string>;
    const answered = await fetch(target + request.url, {
      method: request.method ?? 'GET',
      headers,
      ...(body !== '' && { body: body.replaceAll(EXACT, AS_TEXT) }),
    });
    response.writeHead(answered.status, { 'content-type': 'application/json' });
    response.end((await answered.text()).replaceAll(AS_TEXT, EXACT).replaceAll(target, url));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test('a number that cannot be held goes to the tool and back to the platform as it came', async () => {
  await using folder = await temporaryFolder();
  const fixtures = await folder.write(
    'f.yaml',
    'version: 1\nfixtures:\n  - { match: { operation: pay }, reply: { payload: paid } }\n',
  );
  await using tool = await startMockHere([fixtures, '-q']);
  const calls = [pendingCall('pay', { n: AS_TEXT.slice(1, -1) }, 'c1')];
  await using platform = await startPlatform({ key: KEY, rounds: [{ calls }] });
  await using toPlatform = await exactProxy(platform.url);
  await using toTool = await exactProxy(tool.url);
  const { status, stdout, stderr } = await answer(toPlatform, ['--tool', toTool.url, '-o', 'plain']);
  expect(status, stdout + stderr).toBe(0);
  expect(stdout).toContain(EXACT);
  expect(stdout).not.toContain('9007199254740992');
  expect(toTool.received.join()).toContain(`"n":${EXACT}`);
  expect(toPlatform.received.join()).toContain(`"n":${EXACT}`);
  const [settled] = (await platform.session()).settled;
  expect(settled?.tool_req).toEqual(calls[0]);
});
