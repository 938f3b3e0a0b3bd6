import { describe, expect, it } from 'vitest';
import { openSink, SINKS } from '../../peers/callback-sink.mjs';
import { openRuntime } from '../../peers/runtime.mjs';
import { eventually } from '../support/eventually.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { type MockHere, type MockProcess, startMockHere, startMockProcess } from '../support/mock.js';
import { run } from '../support/program.js';

/** INT and TERM are a server's normal end: what is pending goes out at once. */
const COUNT = 50;
const FIXTURES =
  'version: 1\nfixtures:\n  - { id: late, match: { operation: late }, reply: { delay: 1h, payload: "{{arguments.n}}" } }\n';

async function lateMock(folder: Folder, ...args: string[]): Promise<MockProcess> {
  return startMockProcess([await folder.write('late.yaml', FIXTURES), '-q', ...args]);
}

/** One in this process, for one signal. */
async function lateMockHere(folder: Folder, ...args: string[]): Promise<MockHere> {
  return startMockHere([await folder.write('late.yaml', FIXTURES), ...args]);
}

describe.concurrent('pending callbacks at the end', () => {
  it.each([
    ['SIGTERM', lateMock],
    ['SIGINT', lateMockHere],
  ] as const)(
    '%s: 50 callbacks that are due in an hour are delivered, and it ends with 0',
    async (signal, started) => {
      await using folder = await temporaryFolder();
      await using mock = await started(folder, '--verify', '--drain', '15s');
      await using runtime = await openRuntime();
      const calls = await Promise.all(
        Array.from({ length: COUNT }, (_, n) => runtime.invoke(mock.url, 'late', { n })),
      );
      expect(calls.map(({ ack }) => ack.status)).toEqual(calls.map(() => 200));
      const { status, stderr } = await mock.stop(signal);
      expect(status, stderr).toBe(0);
      const texts = calls.map(({ callbacks }) => callbacks.map(({ body }) => body?.['text']));
      expect(texts).toEqual(calls.map((_, n) => [String(n)]));
      expect(runtime.verdict()).toEqual([]);
    },
  );

  it('a refused delivery gets one more attempt', async () => {
    await using folder = await temporaryFolder();
    await using mock = await lateMockHere(folder, '--verify', '-q');
    await using runtime = await openRuntime();
    const call = await runtime.invoke(mock.url, 'late', { n: 1 }, { answers: [503] });
    expect((await mock.stop()).status).toBe(0);
    expect(call.callbacks.map(({ status }) => status)).toEqual([503, 200]);
  });

  it('a hanging receiver does not delay the end beyond --drain; lost callbacks are reported', async () => {
    await using folder = await temporaryFolder();
    await using hanging = await openSink(SINKS.hang);
    await using mock = await lateMockHere(folder, '--drain', '300ms');
    await using runtime = await openRuntime();
    await runtime.invoke(mock.url, 'late', { n: 1 }, { id: 'lost', callbackUrl: hanging.url });
    const { status, stderr } = await mock.stop();
    expect(status).toBe(0);
    expect(stderr).toMatch(/✗ late lost .* not delivered: the tool was stopped before it was delivered/);
  });

  it('--drain 0 does not wait, and reports lost callbacks', async () => {
    await using folder = await temporaryFolder();
    await using mock = await lateMockHere(folder, '--drain', '0', '--verify', '-q');
    await using hanging = await openSink(SINKS.hang);
    await using runtime = await openRuntime();
    await runtime.invoke(mock.url, 'late', { n: 1 }, { id: 'lost', callbackUrl: hanging.url });
    const { status, stderr } = await mock.stop();
    expect(stderr).toMatch(/^✗ undelivered callback: .*late \(lost\)/m);
    expect(status).toBe(1);
  });

  it('a waiting handler does not delay the end; pending callbacks are reported first', async () => {
    await using folder = await temporaryFolder();
    const deaf = `export default { name: 'op', description: 'Waits', inputSchema: {},
      handle: () => new Promise(resolve => setTimeout(resolve, 3_600_000)) };`;
    const handlers = await folder.write('deaf.mjs', deaf);
    await using mock = await startMockProcess(['--handlers', handlers, '--drain', '300ms', '--verify', '-q']);
    await using runtime = await openRuntime();
    await runtime.invoke(mock.url, 'op', {}, { id: 'lost' });
    const { status, stderr } = await mock.stop();
    expect(stderr).toMatch(/^✗ undelivered callback: .*op \(lost\)/m);
    expect(status).toBe(1);
  });

  it('new invocations are refused meanwhile, and a second signal ends it at once', async () => {
    await using folder = await temporaryFolder();
    await using hanging = await openSink(SINKS.hang);
    await using mock = await lateMock(folder, '--drain', '1h');
    await using runtime = await openRuntime();
    const { endpoint } = await runtime.discover(mock.url);
    await runtime.invoke(mock.url, 'late', { n: 1 }, { callbackUrl: hanging.url });
    process.kill(mock.pid, 'SIGTERM');
    await eventually('the callback is under way', () => hanging.requests.length > 0);
    const call = await runtime.invoke(mock.url, 'late', { n: 2 }, { endpoint });
    expect(call.ack.error).toMatch(/ECONNREFUSED|ECONNRESET|socket hang up/);
    process.kill(mock.pid, 'SIGTERM');
    expect((await mock.ended).status).toBeNull(); // ended by the signal itself
  });
});

/** Loaded while the mock starts: it sends the signal as soon as there is a listener, before the server starts. */
const IMPATIENT = `
process.on('newListener', name => {
  if (name === 'SIGTERM') process.nextTick(() => process.kill(process.pid, 'SIGTERM'));
});
export default { name: 'op', description: 'Does it', inputSchema: {}, handle: () => 'done' };
`;

describe.concurrent('a signal during the start', () => {
  it('ends it in good order, with 0', async () => {
    await using folder = await temporaryFolder();
    const handlers = await folder.write('impatient.mjs', IMPATIENT);
    const { status, stderr } = await run(['mock-tool', '--handlers', handlers, '-q']);
    expect(status, stderr).toBe(0);
  });

  it('the command is not run, and the signal is the status', async () => {
    await using folder = await temporaryFolder();
    const handlers = await folder.write('impatient.mjs', IMPATIENT);
    const command = [process.execPath, '-e', 'console.log("it ran")'];
    const { status, stdout, stderr } = await run(['mock-tool', '--handlers', handlers, '--', ...command]);
    expect(status, stderr).toBe(143);
    expect(stdout).toBe('');
  });
});
