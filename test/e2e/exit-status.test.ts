import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere, startHere } from './support/in-process.js';
import { type Entry, fieldOf, type Peer, startPeer } from './support/peers.js';
import { argv, run, start } from './support/program.js';
import { silentServer } from './support/sockets.js';

let plain: Peer;
let odd: Peer;
let stdlib: Peer;

beforeAll(async () => {
  [plain, odd, stdlib] = await Promise.all([startPeer('plain'), startPeer('odd'), startPeer('stdlib')]);
});
afterAll(() => Promise.all([plain, odd, stdlib].map(peer => peer.stop())));

describe.concurrent('exit status (contract)', () => {
  it.each<[number, string, () => readonly string[]]>([
    [0, 'a result', () => ['invoke', plain.url, 'echo', 'text=a']],
    [0, '--version', () => ['--version']],
    [2, 'an unknown option', () => ['invoke', '--demos']],
    [7, 'no result in time', () => ['invoke', odd.url, 'silent', '--timeout', '500ms']],
  ])('%i: %s', async (status, _, args) => {
    const ended = await run(args());
    expect(ended.status, ended.stderr.slice(0, 500)).toBe(status);
  });

  it.each<[number, string, () => readonly string[]]>([
    [0, '--help', () => ['invoke', '--help']],
    [0, '--dry-run', () => ['invoke', odd.url, 'silent', '--dry-run']],
    [0, 'a toolset', () => ['toolset', plain.url]],
    [2, 'an unknown command', () => ['invok']],
    [2, 'the help of an unknown command', () => ['invok', '--help']],
    [2, 'an output that does not exist', () => ['invoke', plain.url, 'echo', '-o', 'xml']],
    [0, 'a destructive tool with --yes', () => ['invoke', stdlib.url, 'delete_all', '--yes']],
  ])('%i: %s, without a process', async (status, _, args) => {
    const ended = await runHere(args());
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
    const { interrupt, ended } = startHere(argv`invoke ${server.url} echo`);
    await server.connected();
    interrupt();
    const { status, stderr } = await ended;
    expect(status).toBe(130);
    expect(stderr).toContain('interrupted before the tool was called');
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
  const { interrupt, ended } = startHere(argv`${waiting(operation, id)} ${more}`);
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
