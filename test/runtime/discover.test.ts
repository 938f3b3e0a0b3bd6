import { describe, expect, test } from 'vitest';
import { discover } from '../../src/runtime/discover.js';
import { errorOf } from '../support/failing.js';
import { type Reply, startServing } from '../support/serving.js';
import { workbench } from './wire-of.js';

const TOOLSET = {
  name: 'demo',
  endpoint: 'http://127.0.0.1:1/invoke',
  tools: [{ name: 'a', description: '', inputSchema: {} }],
};
const json =
  (body: unknown): Reply =>
  response =>
    response.end(JSON.stringify(body));

test('requests the URL as given, then its origin', async () => {
  await using server = await startServing(404, json(TOOLSET));
  await using bench = workbench();
  const { base, toolset } = await discover(bench.wire, `${server.url}tools/x/`);
  expect(server.requests.map(({ method, url, headers }) => [method, url, headers.accept])).toEqual([
    ['GET', '/tools/x/.well-known/rap-toolset', 'application/json'],
    ['GET', '/.well-known/rap-toolset', 'application/json'],
  ]);
  expect([`${base}/`, toolset.name]).toEqual([server.url, 'demo']);
  expect(bench.history.toolsets).toMatchObject([{ name: 'demo', operations: ['a'] }]);
});

describe('an error contains the URL and a hint', () => {
  test.each<[string, Reply, string, RegExp]>([
    ['no document', 404, 'no-discovery', /answered 404.*answered 404/],
    ['row 11: a redirect is not followed', 302, 'no-discovery', /answered 302/],
    ['not JSON', response => response.end('<html>'), 'invalid-toolset', /is not valid$/],
    ['an invalid toolset', json({ ...TOOLSET, name: '' }), 'invalid-toolset', /is not valid$/],
    ['no answer', 'reset', 'unreachable', /\/x\/\.well-known\/rap-toolset: /],
  ])('%s', async (_, reply, code, message) => {
    await using server = await startServing(reply);
    await using bench = workbench();
    await expect(discover(bench.wire, `${server.url}x`)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/./),
    });
  });

  test('hints for library callers name no command-line option', async () => {
    await using server = await startServing(404);
    await using bench = workbench();
    const error = await errorOf(() => discover(bench.wire, `${server.url}x`));
    expect(error.hint).toMatch(/base URL/);
    expect(error.hint).not.toMatch(/--endpoint/);
  });

  test('reports every error of an invalid toolset, safe to print', async () => {
    await using server = await startServing(json({ ...TOOLSET, name: '', tools: [{ name: '\u001b[2J' }] }));
    await using bench = workbench();
    const faults = await discover(bench.wire, server.url).catch(error => error.faults);
    expect(faults.length).toBeGreaterThanOrEqual(4);
    for (const fault of faults) expect(fault).not.toMatch(/\p{Cc}/u);
  });

  test('row 10, row 9: does not connect to a metadata address', async () => {
    await using bench = workbench();
    await expect(discover(bench.wire, 'http://169.254.169.254/')).rejects.toMatchObject({
      code: 'refused-address',
    });
  });
});

test('a server that requires a key and one without a document have their own hints for the command', async () => {
  const hints = { locked: 'give --tool-bearer', missing: 'give the base' };
  for (const [status, hint] of [
    [401, hints.locked],
    [404, hints.missing],
  ] as const) {
    await using server = await startServing(status);
    await using bench = workbench();
    await expect(discover(bench.wire, server.url, hints)).rejects.toMatchObject({ hint });
  }
});
