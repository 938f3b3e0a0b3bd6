import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServing } from '../support/serving.js';
import { runHere, startHere } from './support/in-process.js';
import { fieldOf, type Peer, startPeer } from './support/peers.js';
import { argv, run } from './support/program.js';
import { configuredFolder } from './support/rap-json.js';
import { closedPort, silentServer } from './support/sockets.js';

let plain: Peer;
let stdlib: Peer;
beforeAll(async () => {
  [plain, stdlib] = await Promise.all([startPeer('plain'), startPeer('stdlib')]);
});
afterAll(() => Promise.all([plain.stop(), stdlib.stop()]));

const CALL = ['--group-id', 'thread_1', '--id', 'call_1'];
const SENT = { thread_id: 'thread_1', tool_call_id: 'call_1' };

describe.concurrent('cancel', () => {
  it('notifies the tool once and prints its answer', async () => {
    const { status, stdout, stderr } = await run(argv`cancel ${plain.url} ${CALL}`);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^✓ http:\/\/127\.0\.0\.1:\d+\/cancel_tool_call \{"thread_id":"thread_1","tool_call_id":"call_1"\} answered 200 after [\d.]+ms\n$/,
    );
    const { body, headers } = await plain.seen('cancel_tool_call');
    expect(body).toEqual(SENT);
    expect(headers).toMatchObject({ 'content-type': 'application/json' });
    expect((await plain.log()).filter(({ what }) => what === 'cancel_tool_call')).toHaveLength(1);
  });

  it('-o json prints an object', async () => {
    const { status, stdout } = await runHere(argv`cancel ${stdlib.url} ${CALL} -o json`);
    expect(status).toBe(0);
    const url = `${stdlib.url}/cancel_tool_call`;
    expect(JSON.parse(stdout)).toEqual({
      notices: [{ notice: 'cancel', url, sent: SENT, status: 200, ms: expect.any(Number) }],
      warnings: [],
    });
  });

  it('threats, row 12: headers go to the named server', async () => {
    await using server = await startServing(200);
    const { status } = await runHere(argv`cancel ${server.url} ${CALL} -H ${'X-Key: k'} --bearer b`);
    expect(status).toBe(0);
    expect(server.requests[0]?.headers).toMatchObject({ 'x-key': 'k', authorization: 'Bearer b' });
  });

  it('RT-NOTIFY: notifies every configured server once, in parallel; one failure does not stop the others', async () => {
    await using failing = await startServing(500);
    await using mute = await silentServer();
    const dead = await closedPort(); // last, so that none of the others takes it
    const urls = [mute.url, `http://127.0.0.1:${dead}`, failing.url, stdlib.url];
    await using folder = await configuredFolder(urls, ['node never-started.mjs']);
    const args = ['cancel', '--group-id', 'every', '--id', 'one', '--timeout', '1s'];
    const { status, stdout, stderr } = await runHere(args, { cwd: folder.path });
    expect(status).toBe(4);
    expect(stdout.trim().split('\n')).toHaveLength(4);
    expect(stdout).toMatch(/✓ .* answered 200/);
    expect(stdout).toMatch(/✗ .* answered 500 instead of 200 after .*: status 500/);
    expect(stdout).toMatch(/✗ .* not answered after .*: connect ECONNREFUSED/);
    expect(stderr).toMatch(/^warning: not notified: .*never-started.* is not running/);
    expect(stderr).toContain('error: 3 of 4 notices were not answered with 200\n');
    expect(failing.requests).toHaveLength(1);
    await stdlib.seen('cancel_tool_call', ({ raw }) => raw.includes('every'));
  });

  it('threats, row 12: refuses headers for several configured origins', async () => {
    await using folder = await configuredFolder(['http://127.0.0.1:1', 'http://127.0.0.1:2']);
    const { status, stderr } = await runHere(argv`cancel ${CALL} -H ${'X-Key: k'}`, { cwd: folder.path });
    expect([status, stderr]).toEqual([2, expect.stringContaining('headers are for one')]);
  });

  it('fails if only commands are configured', async () => {
    await using folder = await configuredFolder([], ['node x']);
    const { status, stderr } = await runHere(argv`cancel ${CALL}`, { cwd: folder.path });
    expect([status, stderr]).toEqual([2, expect.stringMatching(/no configured server accepts[\s\S]*node x/)]);
  });

  it.each([
    [204, 4, /answered 204 instead of 200/],
    [302, 4, /Redirects are never followed/],
    [404, 4, /Is this the base URL/],
    ['reset' as const, 4, /no answer from/],
  ])('an answer of %s: exit %i', async (reply, expected, says) => {
    await using server = await startServing(reply);
    const { status, stderr } = await runHere(argv`cancel ${server.url} ${CALL}`);
    expect(status).toBe(expected);
    expect(stderr).toMatch(says);
    expect(server.requests).toHaveLength(1);
  });

  it('threats, row 24: control characters in the answer are made visible', async () => {
    await using server = await startServing(response => response.writeHead(500).end('\u001b]0;owned\u0007'));
    const { stdout, stderr } = await runHere(argv`cancel ${server.url} ${CALL}`);
    expect(stdout + stderr).toContain('␛]0;owned␇');
    expect(stdout + stderr).not.toContain('\u001b');
  });

  it('interrupted before an answer: exit 130', async () => {
    await using mute = await silentServer();
    const { interrupt, ended } = startHere(argv`cancel ${mute.url} ${CALL} --timeout 0`);
    await mute.connected();
    interrupt();
    expect((await ended).status).toBe(130);
  });
});

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

const MOVE = ['session_1', 'http://other.example:3001'];
const MOVED = { session_id: 'session_1', destination_url: 'http://other.example:3001' };

describe.concurrent('migrate', () => {
  it('TOOL-MIGRATE: notifies a tool that declares needsMigration', async () => {
    await using plain = await startPeer('plain', { MIGRATION: 'moves' });
    const { status, stdout, stderr } = await run(argv`migrate ${plain.url} ${MOVE}`);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^✓ \S+\/migrate \{"session_id":"session_1",.*\} answered 200 after /);
    expect((await plain.seen('migrate')).body).toEqual(MOVED);
  });

  it('a failure shows the answer of the tool', async () => {
    await using plain = await startPeer('plain', { MIGRATION: 'fails' });
    const { status, stdout, stderr } = await runHere(argv`migrate ${plain.url} ${MOVE} -o json`);
    expect(status).toBe(4);
    const { notices, error } = JSON.parse(stdout);
    expect(notices).toMatchObject([{ notice: 'migrate', sent: MOVED, status: 409 }]);
    expect(notices[0].said).not.toBe('');
    expect(error).toMatchObject({
      code: 'bad-acknowledgement',
      message: expect.stringContaining(notices[0].said),
    });
    expect(stderr).toContain(notices[0].said);
    expect((await plain.log()).filter(({ what }) => what === 'migrate')).toHaveLength(1);
  });

  it('a tool without needsMigration gets no notice, except with --force', async () => {
    await using odd = await startPeer('odd');
    const refused = await runHere(argv`migrate ${odd.url} ${MOVE}`);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toMatch(/does not declare needsMigration[\s\S]*--force/);
    expect((await odd.log()).map(({ what }) => what)).toEqual(['discovery']);
    const forced = await runHere(argv`migrate ${odd.url} ${MOVE} --force`);
    expect(forced.status).toBe(4);
    expect(forced.stderr).toMatch(/^warning: .* sent because of --force \[TOOL-MIGRATE\]\n/);
    expect(forced.stdout).toMatch(/^✗ \S+\/migrate .* answered 404 instead of 200/);
  });

  it('without a URL: every configured server that declares needsMigration; servers without an answer are named', async () => {
    await using moving = await startPeer('plain', { MIGRATION: 'moves' });
    await using still = await startPeer('odd');
    await using both = await configuredFolder([still.url, moving.url]);
    const moved = await runHere(argv`migrate ${MOVE}`, { cwd: both.path });
    expect([moved.status, moved.stderr]).toEqual([0, '']);
    expect(moved.stdout.split('\n')).toHaveLength(2);
    expect((await moving.seen('migrate')).body).toEqual(MOVED);
    await using withDead = await configuredFolder(['http://127.0.0.1:1', moving.url]);
    const incomplete = await runHere(argv`migrate ${MOVE}`, { cwd: withDead.path });
    expect(incomplete.status).toBe(4);
    expect(incomplete.stdout).toMatch(/\/migrate .* answered 200/);
    expect(incomplete.stderr).toMatch(/some configured servers did not answer[\s\S]*127\.0\.0\.1:1/);
    await using none = await configuredFolder([still.url]);
    const refused = await runHere(argv`migrate ${MOVE}`, { cwd: none.path });
    expect(refused.status).toBe(2);
    expect(refused.stderr).toMatch(/no configured toolset declares needsMigration/);
  });

  it('nothing listens there: exit 4, nothing was sent', async () => {
    const { status, stdout, stderr } = await runHere(argv`migrate :1 ${MOVE}`);
    expect([status, stdout]).toEqual([4, '']);
    expect(stderr).toMatch(/ECONNREFUSED[\s\S]*Is the tool running/);
  });
});
