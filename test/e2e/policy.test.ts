import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Folder, temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { type Peer, startPeer } from './support/peers.js';
import { argv } from './support/program.js';
import { invokeJsonHere } from './support/report.js';

let stdlib: Peer;
let folder: Folder;
const paths: Record<string, string> = {};

const POLICIES = {
  denies: 'version: 1\ndeny:\n  - { annotation: destructive, reason: ask ops first }\n',
  allows: 'version: 1\nallow: [delete_all]\n',
  others: 'version: 1\nallow: [read_*]\n',
};

beforeAll(async () => {
  [stdlib, folder] = await Promise.all([startPeer('stdlib'), temporaryFolder()]);
  for (const [name, text] of Object.entries(POLICIES)) paths[name] = await folder.write(`${name}.yaml`, text);
});
afterAll(async () => {
  await stdlib.stop();
  await folder[Symbol.asyncDispose]();
});

const invoke = (id: string, policy: keyof typeof POLICIES, ...more: readonly string[]) =>
  ['invoke', stdlib.url, 'delete_all', '--id', id, '--policy', paths[policy] ?? '', ...more] as const;
const heardOf = async (id: string) => (await stdlib.log()).filter(({ raw }) => raw.includes(id));

describe.concurrent('--policy', () => {
  test('denies before anything is sent: exit 5, and the LLM gets the reason', async () => {
    const { status, stdout, stderr } = await runHere(invoke('denied-1', 'denies', '--yes'));
    expect(stdout).toBe('{"denied":{"tool":"delete_all","reason":"ask ops first"}}');
    expect([status, stderr]).toEqual([
      5,
      'error: delete_all was not called: ask ops first\nhint: Change the rules in the --policy file to allow the call.\n',
    ]);
    expect(await heardOf('denied-1')).toEqual([]);
  });

  test('-o json: an outcome', async () => {
    const { report, status } = await invokeJsonHere(invoke('denied-2', 'others').slice(1));
    expect(status).toBe(5);
    expect(report).toMatchObject({
      outcome: {
        type: 'denied',
        basis: 'ours',
        tool: 'delete_all',
        reason: 'the policy does not allow this tool',
      },
      acknowledgement: null,
      callbacks: [],
      error: { code: 'denied' },
    });
  });

  test('allows a destructive operation by name, without a question', async () => {
    const { status, stdout } = await runHere(invoke('allowed-1', 'allows'));
    expect([status, stdout]).toEqual([0, expect.stringContaining('Deleted all')]);
    expect(await heardOf('allowed-1')).not.toEqual([]);
  });

  test('by annotation needs a toolset: --endpoint alone has none', async () => {
    const { status, stderr } = await runHere(argv`
      invoke ${stdlib.url}/invoke delete_all
      --id blind-1 --endpoint --yes --policy ${paths['denies'] ?? ''}
    `);
    expect(status).toBe(2);
    expect(stderr).toContain('--endpoint loads no toolset, but the policy uses annotations');
    expect(await heardOf('blind-1')).toEqual([]);
  });

  test('--dry-run reports that it would not be sent', async () => {
    const { status, stdout, stderr } = await runHere(invoke('dry-1', 'denies', '--dry-run'));
    expect(status).toBe(5);
    expect(stdout).toMatch(/^POST /);
    expect(stderr).toBe('warning: it would not be sent: ask ops first\n');
    const asObject = await runHere(invoke('dry-2', 'denies', '--dry-run', '-o', 'json'));
    expect(asObject.status).toBe(5);
    expect(JSON.parse(asObject.stdout)).toMatchObject({
      request: { method: 'POST' },
      warnings: [{ message: 'it would not be sent: ask ops first' }],
    });
  });
});
