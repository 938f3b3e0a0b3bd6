import { expect, test } from 'vitest';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { runHere, startHere } from '../../e2e/support/in-process.js';

/** Serves its toolset, and exits at the first invocation. */
const FALLS_OVER = `
import { createServer } from 'node:http';
const operation = { name: 'op', description: '', inputSchema: { type: 'object' }, annotations: { readOnly: true } };
const server = createServer((request, response) => {
  if (request.method !== 'GET') { console.error('boom at line 5'); process.exit(3); }
  const endpoint = 'http://127.0.0.1:' + server.address().port + '/invoke';
  response.end(JSON.stringify({ name: 'falls-over', endpoint, tools: [operation] }));
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
`;

test('row 25: a server that exits during the check is named as it was given, without secrets', async () => {
  await using folder = await temporaryFolder();
  const script = await folder.write('tool.mjs', FALLS_OVER);
  const command = ['--command', `TOKEN="s3cr3t 1" node '${script}' --key s3cr3t`];
  const { status, stdout, stderr } = await runHere([
    ...['check', ...command, '--only', 'TOOL-ACK', '--probe-timeout', '400ms'],
  ]);
  expect(status).not.toBe(0);
  const ended = 'the server exited with status 3 during `op`. Last output: boom at line 5';
  expect(stderr).toContain(`warning: ${ended}\n`);
  expect(stdout).toContain(ended);
  expect(stdout).toContain(`check --command TOKEN=[redacted] node '${script}' --key [redacted]\n`);
  expect(stdout).not.toContain('s3cr3t');
});

/** Works, but exits on input that it cannot parse. */
const FALLS_OVER_JUNK = FALLS_OVER.replace(
  /if \(request.method !== 'GET'\) .*/,
  `let body = '';
  if (request.method !== 'GET')
    return request.on('data', data => (body += data)).on('end', () => {
      if (request.url === '/invoke') JSON.parse(body).operation.trim();
      response.end();
    });`,
);

test('a tool that exits on a malformed payload fails instead of only causing a warning', async () => {
  await using folder = await temporaryFolder();
  const script = await folder.write('tool.mjs', FALLS_OVER_JUNK);
  const { status, stdout } = await runHere([
    ...['check', '--command', `node ${script}`, '--only', 'TOOL-MALFORMED', '--probe-timeout', '400ms'],
  ]);
  expect(stdout).toContain('Failed\n✗ TOOL-MALFORMED  SHOULD');
  expect(stdout).toContain('the tool stopped responding after a malformed payload');
  expect(status).toBe(1);
});

test('the crash is blamed on the message that caused it, though it was acknowledged', async () => {
  await using folder = await temporaryFolder();
  const late = FALLS_OVER_JUNK.replace(
    "if (request.url === '/invoke') JSON.parse(body).operation.trim();",
    "if (body === 'null') setImmediate(() => process.exit(3));",
  );
  const script = await folder.write('tool.mjs', late);
  const { stdout } = await runHere([
    ...['check', '--command', `node ${script}`, '--only', 'TOOL-MALFORMED', '--probe-timeout', '400ms'],
  ]);
  expect(stdout).toMatch(
    /after a malformed payload\n {4}runs {6}3 of 3 failed\n.*POST \S+ → 200 after \S+\n +│ +null\n/,
  );
});

/** Serves its toolset, answers nothing, and writes to stderr. */
const NOISY = FALLS_OVER.replace(
  /if \(request.method !== 'GET'\) .*/,
  `if (request.method !== 'GET') {
    console.error('got a ' + request.method);
    return response.end();
  }`,
);
const ONE_RULE = ['--only', 'TOOL-ACK', '--probe-timeout', '200ms'];

test('-v shows the messages and the server’s stderr', async () => {
  await using folder = await temporaryFolder();
  const command = `node ${await folder.write('tool.mjs', NOISY)}`;
  const { stderr } = await runHere(['check', '--command', command, ...ONE_RULE, '-v']);
  expect(stderr).toContain('server: got a POST\n');
  expect(stderr).toMatch(/^> POST http:\/\/127\.0\.0\.1:\d+\/invoke$/m);
  const quiet = await runHere(['check', '--command', command, ...ONE_RULE]);
  expect(quiet.stderr).not.toContain('got a POST');
});

test('--watch checks again with a new server when its file changes', async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write('tool.mjs', NOISY);
  const check = startHere(['check', '--command', `node ${file}`, ...ONE_RULE, '--watch']);
  await check.says(/waiting for a change of the files of --command/);
  await folder.write('tool.mjs', NOISY.replace('falls-over', 'changed'));
  await check.says(/waiting for a change[\s\S]*waiting for a change/);
  check.interrupt();
  const { status } = await check.ended;
  expect(status).toBe(130);
});
