import { expect, test } from 'vitest';
import { temporaryFolder } from '../e2e/support/folder.js';
import { openProgram } from './support/screen.js';

/** Its operation `die` throws after the acknowledgement. */
const tool = (text: string) => `
import { createServer } from 'node:http';
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  if (request.method === 'GET') {
    const endpoint = 'http://' + request.headers.host + '/invoke';
    const tools = [{ name: 'die', description: '', inputSchema: { type: 'object' } }];
    return response.end(JSON.stringify({ name: 'crash', endpoint, tools }));
  }
  response.end();
  if (request.url === '/invoke') setTimeout(() => { throw new TypeError(${JSON.stringify(text)}); }, 50);
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
`;

test('a crash is shown with its last output; r says so, R restarts the server, and a restart by --watch is said', async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write('crash.mjs', tool('no user'));
  const command = `node ${file}`;
  await using screen = openProgram(['invoke', '-i', '--command', command, 'die', '--watch'], {
    columns: 140,
  });
  await screen.shows('Form die');
  screen.type('\u0012');
  await screen.shows('the server exited with status 1 during `die`');
  await screen.shows('TypeError: no user');
  screen.type('r');
  await screen.shows(`${command} exited with status 1 · R restarts it`);
  screen.type('R');
  await screen.shows(`${command} was restarted.`);
  screen.type('r');
  await screen.shows('Calls 2/2');
  await screen.shows('R restart ');
  await folder.write('crash.mjs', tool('no account'));
  await screen.shows(`${command} was restarted: its files changed.`);
  screen.type('q');
  expect(await screen.ended).toBe(0);
});
