import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServing } from '../support/serving.js';
import { runHere, startHere } from './support/in-process.js';
import { type Peer, startPeer } from './support/peers.js';
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
    const dead = await closedPort();
    await using failing = await startServing(500);
    await using mute = await silentServer();
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
