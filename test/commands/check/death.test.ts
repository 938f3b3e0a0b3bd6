import { expect, test } from 'vitest';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { runHere } from '../../e2e/support/in-process.js';

/** Gives its toolset, and falls over at the first invocation. */
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

test('that the server of --command ended during the check is said, with its last words', async () => {
  await using folder = await temporaryFolder();
  const script = await folder.write('tool.mjs', FALLS_OVER);
  const command = ['--command', `node ${script} --key s3cr3t`];
  const { status, stdout, stderr } = await runHere([
    ...['check', ...command, '--only', 'TOOL-ACK', '--probe-timeout', '400ms'],
  ]);
  expect(status).not.toBe(0);
  const death = 'the server exited with status 3. Last output: boom at line 5';
  expect(stderr).toContain(`warning: ${death}\n`);
  expect(stdout).toContain(death);
  expect(stdout).toMatch(/^check --command node tool\.mjs\n/);
  expect(stdout).not.toContain('s3cr3t');
});

/** Works, and falls over whatever it cannot read. */
const FALLS_OVER_JUNK = FALLS_OVER.replace(
  /if \(request.method !== 'GET'\) .*/,
  `let body = '';
  if (request.method !== 'GET')
    return request.on('data', data => (body += data)).on('end', () => {
      if (request.url === '/invoke') JSON.parse(body).operation.trim();
      response.end();
    });`,
);

test('a tool that dies of a malformed payload fails by that alone, and is not only warned of', async () => {
  await using folder = await temporaryFolder();
  const script = await folder.write('tool.mjs', FALLS_OVER_JUNK);
  const { status, stdout } = await runHere([
    ...['check', '--command', `node ${script}`, '--only', 'TOOL-MALFORMED', '--probe-timeout', '400ms'],
  ]);
  expect(stdout).toContain('Failed\n✗ TOOL-MALFORMED  SHOULD');
  expect(stdout).toContain('the tool stopped responding after a malformed payload');
  expect(status).toBe(1);
});
