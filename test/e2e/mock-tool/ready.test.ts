import { describe, expect, it } from 'vitest';
import { openRuntime } from '../../peers/runtime.mjs';
import { runHere } from '../support/in-process.js';
import { startMockHere, startMockProcess } from '../support/mock.js';
import { closedPort, silentServer } from '../support/sockets.js';

/** `mock-tool` comes up, says where, and ends as a server does. */
describe.concurrent('without arguments', () => {
  it('serves the demo toolset; the ready line names the URL, and it ends with 0', async () => {
    await using mock = await startMockProcess([]);
    await using runtime = await openRuntime();
    expect(mock.url).toBe(`http://127.0.0.1:${mock.port}`);
    const { name, tools } = await runtime.discover(mock.url);
    expect({ name, tools: tools.map(tool => tool.name) }).toEqual({
      name: 'demo',
      tools: expect.arrayContaining(['edit_file', 'watch', 'rate_limited']),
    });
    const call = await runtime.invoke(mock.url, 'edit_file', { path: 'a.txt' });
    expect((await call.result()).body).toMatchObject({ text: 'Replaced text in a.txt' });
    expect(runtime.verdict()).toEqual([]);
    const { status, stdout } = await mock.stop();
    expect(status).toBe(0);
    expect(stdout).toBe(`${JSON.stringify({ port: mock.port, url: mock.url, seed: mock.seed })}\n`);
  });

  it.each(['SIGINT', 'SIGHUP'] as const)('%s is a normal end', async signal => {
    await using mock = await startMockProcess([]);
    expect(await mock.stop(signal)).toMatchObject({ status: 0, stderr: '' });
  });
});

describe.concurrent('a port', () => {
  it('in use is an error, and no other port is used', async () => {
    await using taken = await silentServer();
    expect(await runHere(['mock-tool', '--port', String(taken.port)])).toEqual({
      status: 2,
      bytes: Buffer.alloc(0),
      stdout: '',
      stderr: `error: port ${taken.port} on 127.0.0.1 is already in use\nhint: Stop the process that listens there, or choose another port (0: any free port).\n`,
    });
  });

  it('that is free is used', async () => {
    const port = await closedPort();
    await using mock = await startMockHere(['--port', String(port)]);
    expect(mock.port).toBe(port);
  });
});
