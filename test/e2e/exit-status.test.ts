import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere, startHere } from './support/in-process.js';
import { type Entry, fieldOf, type Peer, startPeer } from './support/peers.js';
import { run, start } from './support/program.js';
import { steady } from './support/report.js';
import { closedPort, silentServer } from './support/sockets.js';

let plain: Peer;
let odd: Peer;
let stdlib: Peer;
let missing: Peer;

beforeAll(async () => {
  [plain, odd, stdlib, missing] = await Promise.all([
    startPeer('plain'),
    startPeer('odd'),
    startPeer('stdlib'),
    startPeer('odd', { TOOLSET: 'missing' }),
  ]);
});
afterAll(() => Promise.all([plain, odd, stdlib, missing].map(peer => peer.stop())));

describe.concurrent('exit status (contract)', () => {
  it.each<[number, string, () => readonly string[]]>([
    [0, 'a result', () => ['invoke', plain.url, 'echo', 'text=a']],
    [0, '--version', () => ['--version']],
    [2, 'an unknown option', () => ['invoke', '--demos']],
    [7, 'no result in time', () => ['invoke', odd.url, 'silent', '--timeout', '200ms']],
  ])('%i: %s', async (status, _, args) => {
    const ended = await run(args());
    expect(ended.status, ended.stderr.slice(0, 500)).toBe(status);
  });

  it.each<[number, string, () => readonly string[] | Promise<readonly string[]>]>([
    [0, '--help', () => ['invoke', '--help']],
    [0, '--dry-run', () => ['invoke', odd.url, 'silent', '--dry-run']],
    [0, 'a toolset', () => ['toolset', plain.url]],
    [2, 'an unknown command', () => ['invok']],
    [2, 'the help of an unknown command', () => ['invok', '--help']],
    [2, 'an output that does not exist', () => ['invoke', plain.url, 'echo', '-o', 'xml']],
    [2, 'arguments against the schema', () => ['invoke', plain.url, 'echo']],
    [2, 'an unknown operation', () => ['invoke', plain.url, 'echos']],
    [2, 'an unreadable @file', () => ['invoke', plain.url, 'echo', 'text=@/nowhere/at/all']],
    [2, 'a URL that is invalid', () => ['invoke', 'http://', 'echo']],
    [2, 'a port in use', () => ['invoke', odd.url, 'silent', '--callback-port', String(plain.port)]],
    [
      2,
      'a file that cannot be written',
      () => ['invoke', plain.url, 'echo', 'text=a', '--save', '/nowhere/at/all'],
    ],
    [4, 'no discovery document', () => ['invoke', missing.url, 'echo']],
    [4, 'nothing listens', async () => ['invoke', `http://127.0.0.1:${await closedPort()}`, 'echo']],
    [4, 'an acknowledgement of 204', () => ['invoke', odd.url, 'ack_204']],
    [5, 'the tool says that it failed', () => ['invoke', plain.url, 'fail']],
    [5, 'the tool says denied', () => ['invoke', plain.url, 'lmkit', 'kind=denied']],
    [5, 'the tool says canceled', () => ['invoke', plain.url, 'lmkit', 'kind=canceled']],
    [5, 'the tool says timeout', () => ['invoke', plain.url, 'lmkit', 'kind=timeout']],
    [6, 'a choice, and no one is there', () => ['invoke', stdlib.url, 'ask']],
    [6, 'a destructive tool, and no one is there', () => ['invoke', stdlib.url, 'delete_all']],
    [0, 'a destructive tool with --yes', () => ['invoke', stdlib.url, 'delete_all', '--yes']],
  ])('%i: %s, without a process', async (status, _, args) => {
    const ended = await runHere(await args());
    expect(ended.status, ended.stderr.slice(0, 500)).toBe(status);
  });
});

describe.concurrent('signals: the tool is notified, and our own thread is closed (RT-NOTIFY)', () => {
  describe.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s', (signal, status) => {
    it('while waiting for the result: sends cancel and close notices, then exits', async () => {
      const { ended, invocation } = await interrupted('silent', signal);
      const { status: came, stderr, stdout } = await ended;
      expect(came).toBe(status);
      expect(stderr).toContain('interrupted');
      expect(stdout).toBe('{"canceled":{"by":"user"}}');
      const notices = await noticesAbout(fieldOf(invocation, 'group_id'));
      expect(notices.map(({ what, body }) => ({ what, body }))).toEqual([
        {
          what: 'cancel_tool_call',
          body: { thread_id: fieldOf(invocation, 'group_id'), tool_call_id: fieldOf(invocation, 'id') },
        },
        { what: 'close_thread', body: { thread_id: fieldOf(invocation, 'group_id') } },
      ]);
    });
  });

  it('a given thread stays open; the call is canceled', async () => {
    const { ended } = await interruptedHere('silent', '--group-id', 'their-thread');
    expect((await ended).status).toBe(130);
    expect((await noticesAbout('their-thread')).map(({ what }) => what)).toEqual(['cancel_tool_call']);
  });

  it('while waiting for the acknowledgement', async () => {
    const { ended, invocation } = await interruptedHere('ack_hang');
    expect((await ended).status).toBe(130);
    const notices = await noticesAbout(fieldOf(invocation, 'group_id'));
    expect(notices.map(({ what }) => what)).toEqual(['cancel_tool_call', 'close_thread']);
  });

  it('before the call', async () => {
    await using server = await silentServer();
    const { interrupt, ended } = startHere(['invoke', server.url, 'echo']);
    await server.connected();
    interrupt();
    const { status, stderr } = await ended;
    expect(status).toBe(130);
    expect(stderr).toContain('interrupted before the tool was called');
  });
});

describe.concurrent('close_thread', () => {
  it('is sent once after a call in our own thread', async () => {
    const { stderr } = await runHere(['invoke', odd.url, 'no_display', '--id', 'in-our-thread']);
    const invocation = await odd.seen('invocation', entry => fieldOf(entry, 'id') === 'in-our-thread');
    const notices = await noticesAbout(fieldOf(invocation, 'group_id'));
    expect(notices.map(({ what, url }) => `${what} ${url}`)).toEqual(['close_thread /close_thread']);
    expect(steady(stderr)).toBe('');
  });

  it('is not sent for a given thread', async () => {
    await runHere(['invoke', odd.url, 'no_display', '--group-id', 'a-given-thread']);
    expect(await noticesAbout('a-given-thread')).toEqual([]);
  });
});

/** A process that is sent a signal as soon as the tool has its call. */
async function interrupted(operation: string, signal: NodeJS.Signals) {
  const id = `${operation}-${signal}`;
  const { child, ended } = start(waiting(operation, id));
  const invocation = await calledAs(id);
  child.kill(signal);
  return { ended, invocation };
}

async function interruptedHere(operation: string, ...more: readonly string[]) {
  const id = `${operation}-here`;
  const { interrupt, ended } = startHere([...waiting(operation, id), ...more]);
  const invocation = await calledAs(id);
  interrupt();
  return { ended, invocation };
}

const waiting = (operation: string, id: string) => [
  'invoke',
  odd.url,
  operation,
  '--id',
  id,
  '--timeout',
  '0',
];
const calledAs = (id: string) => odd.seen('invocation', entry => fieldOf(entry, 'id') === id);

async function noticesAbout(thread: string): Promise<Entry[]> {
  const log = await odd.log();
  return log.filter(entry => fieldOf(entry, 'thread_id') === thread);
}
