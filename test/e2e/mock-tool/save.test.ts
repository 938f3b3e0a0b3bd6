import { readFile, stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { openRuntime } from '../../peers/runtime.mjs';
import { temporaryFolder } from '../support/folder.js';
import { startMockHere, startMockProcess } from '../support/mock.js';
import { run } from '../support/program.js';

const FIXTURES =
  'version: 1\nfixtures:\n  - { match: { operation: echo }, reply: { payload: "{{arguments.n}}" } }\n';

it('the transcript is complete, whatever --keep drops, has no secret, and can be checked', async () => {
  await using folder = await temporaryFolder();
  await using runtime = await openRuntime();
  const path = folder.file('run.ndjson');
  const fixtures = await folder.write('f.yaml', FIXTURES);
  await using mock = await startMockHere([fixtures, '--save', path, '--keep', '4']);
  const calls = [];
  for (let n = 0; n < 5; n++) calls.push(await runtime.invoke(mock.url, 'echo', { n }));
  await Promise.all(calls.map(call => call.result()));
  expect((await mock.journal()).calls.length).toBeLessThan(5);
  expect((await mock.stop()).status).toBe(0);
  const text = await readFile(path, 'utf8');
  const lines = text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(lines[0]).toMatchObject({ kind: 'header', observer: 'tool' });
  expect(lines.at(-1)).toMatchObject({ kind: 'end', reason: 'done' });
  expect(lines.filter(({ kind, purpose }) => kind === 'request' && purpose === 'callback')).toHaveLength(5);
  for (const { invocation } of calls) expect(text).not.toContain(new URL(invocation.callback_url).pathname);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const { status, stdout } = await run(['check', path, '--reporter', 'json']);
  expect(status, stdout).toBe(0);
});

it('threats, "disk full": what is acknowledged is in the file when the process is killed', async () => {
  await using folder = await temporaryFolder();
  await using runtime = await openRuntime();
  const path = folder.file('run.ndjson');
  await using mock = await startMockProcess([await folder.write('f.yaml', FIXTURES), '--save', path]);
  const call = await runtime.invoke(mock.url, 'echo', { n: 7 });
  expect(call.ack.status).toBe(200);
  await mock.stop('SIGKILL');
  expect(await readFile(path, 'utf8')).toContain(`\\"id\\":\\"${call.invocation.id}\\"`);
});
