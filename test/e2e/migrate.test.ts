import { describe, expect, it } from 'vitest';
import { runHere } from './support/in-process.js';
import { startPeer } from './support/peers.js';
import { argv, run } from './support/program.js';
import { configuredFolder } from './support/rap-json.js';

const MOVE = ['session_1', 'http://other.example:3001'];
const SENT = { session_id: 'session_1', destination_url: 'http://other.example:3001' };

describe.concurrent('migrate', () => {
  it('TOOL-MIGRATE: notifies a tool that declares needsMigration', async () => {
    await using plain = await startPeer('plain', { MIGRATION: 'moves' });
    const { status, stdout, stderr } = await run(argv`migrate ${plain.url} ${MOVE}`);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^✓ \S+\/migrate \{"session_id":"session_1",.*\} answered 200 after /);
    expect((await plain.seen('migrate')).body).toEqual(SENT);
  });

  it('a failure shows the answer of the tool', async () => {
    await using plain = await startPeer('plain', { MIGRATION: 'fails' });
    const { status, stdout, stderr } = await runHere(argv`migrate ${plain.url} ${MOVE} -o json`);
    expect(status).toBe(4);
    const { notices, error } = JSON.parse(stdout);
    expect(notices).toMatchObject([{ notice: 'migrate', sent: SENT, status: 409 }]);
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
    expect((await moving.seen('migrate')).body).toEqual(SENT);
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
