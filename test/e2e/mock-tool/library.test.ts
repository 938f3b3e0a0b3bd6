import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/folder.js';
import { ROOT } from '../support/program.js';

/** The library as used by a test of another project: plain Node, the built package, no runtime of ours. */
const SCRIPT = `
import assert from 'node:assert/strict';
import { defineTool, payload, readFixtures, startMockTool } from 'protocol-cli';
import { openRuntime } from '${new URL('../../peers/runtime.mjs', import.meta.url).href}';

const fixtures = await readFixtures([{ path: 'f.yaml', text: \`
version: 1
fixtures:
  - match: { operation: count }
    sequence: [{ payload: first }, { payload: second }]
    exhausted: last
  - match: { operation: watch }
    reply:
      - result: { text: subscribed, subscription: true }
      - { event: { text: over, final: true }, on: demand }
\` }]);
const greet = defineTool({ name: 'greet', description: 'Greets', inputSchema: { type: 'object' }, handle: () => payload('hello') });

const mock = await startMockTool({ fixtures, handlers: [greet] });
const runtime = await openRuntime();
try {
  assert.deepEqual(mock.toolset.tools.map(tool => tool.name).sort(), ['count', 'greet', 'watch']);

  const coming = mock.waitForCall('greet');
  await runtime.invoke(mock.url, 'greet', { name: 'Ada' }, { id: 'g', groupId: 't' });
  const call = await coming;
  assert.deepEqual(call.invocation.arguments, { name: 'Ada' });
  const delivered = await mock.waitForDelivery('g');
  assert.equal(delivered.deliveries[0].body.json.value.text, 'hello');

  const count = async id => {
    const invoked = await runtime.invoke(mock.url, 'count', {}, { id, groupId: 't' });
    return (await invoked.result()).body.text;
  };
  assert.deepEqual([await count('c1'), await count('c2')], ['first', 'second']);
  mock.reset('t');
  assert.equal(await count('c3'), 'first');
  assert.equal(mock.calls().length, 4);

  const watching = await runtime.invoke(mock.url, 'watch', {}, { id: 'w' });
  await watching.result();
  assert.equal(mock.fire('w'), 1);
  assert.equal((await watching.waitFor('subscription_event')).body.text, 'over');
  assert.equal((await mock.verified()).ok, true);

  await assert.rejects(mock.waitForCall(() => false, { timeoutMs: 20 }), /timed out after 20 ms waiting for a call that passes the filter/);
  mock.reset();
  assert.deepEqual(mock.calls(), []);
  assert.deepEqual(runtime.verdict(), []);
} finally {
  await mock[Symbol.asyncDispose](); // as \`await using\` does
  runtime.close();
}
await assert.rejects(fetch(mock.url), /fetch failed/);
process.stdout.write('all is well');
`;

it('startMockTool: calls(), waitForCall(), waitForDelivery(), reset(), fire(), verify(), and disposal', async () => {
  await using folder = await temporaryFolder();
  await mkdir(folder.file('node_modules'));
  await symlink(ROOT, folder.file('node_modules/protocol-cli'));
  const script = await folder.write('script.mjs', SCRIPT);
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  expect(stdout).toBe('all is well');
});
