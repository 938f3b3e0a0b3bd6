import { describe, expect, it } from 'vitest';
import { startServing } from '../support/serving.js';
import { runHere } from './support/in-process.js';
import { fieldOf, startPeer } from './support/peers.js';
import { argv, run } from './support/program.js';
import { configuredFolder } from './support/rap-json.js';

describe.concurrent('close-thread', () => {
  it('notifies the tool once for each thread', async () => {
    await using stdlib = await startPeer('stdlib');
    const args = ['close-thread', stdlib.url, 't1', 't2', '--group-id', 'a.b:1', '--group-id', 't1'];
    const { status, stdout, stderr } = await run(args);
    expect([status, stderr]).toEqual([0, '']);
    expect(
      stdout.match(/^✓ \S+\/close_thread \{"thread_id":"[^"]+"\} answered 200 after \S+$/gm),
    ).toHaveLength(3);
    const closed = (await stdlib.log()).filter(({ what }) => what === 'close_thread');
    expect(closed.map(entry => fieldOf(entry, 'thread_id')).sort()).toEqual(['a.b:1', 't1', 't2']);
  });

  it('RT-NOTIFY: without a URL, notifies every configured server', async () => {
    await using first = await startServing(200);
    await using second = await startServing(200);
    await using folder = await configuredFolder([first.url, second.url]);
    const { status, stdout } = await runHere(argv`close-thread t -o json`, { cwd: folder.path });
    expect(status).toBe(0);
    expect(JSON.parse(stdout).notices).toMatchObject([{ status: 200 }, { status: 200 }]);
    for (const { requests } of [first, second])
      expect(requests).toMatchObject([{ url: '/close_thread', body: '{"thread_id":"t"}' }]);
  });

  it('TOOL-CLOSE: a body in the answer is a warning', async () => {
    await using server = await startServing(response =>
      response.writeHead(200, { 'content-length': 2 }).end('ok'),
    );
    const { status, stderr } = await runHere(argv`close-thread ${server.url} t`);
    expect(status).toBe(0);
    expect(stderr).toBe(
      'warning: the answer to /close_thread has a body of 2 bytes; it must be empty [TOOL-CLOSE]\n',
    );
  });

  it('-o json prints an object after every error', async () => {
    const { status, stdout } = await runHere(argv`close-thread :1 -o json`);
    expect(status).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ notices: [], error: { code: 'usage' } });
  });
});
