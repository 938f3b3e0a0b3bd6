import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { run } from '../support/program.js';
import { firstDifference } from '../support/text.js';

/** `mock-tool fixtures -- command`: the command is itself on its streams, and its failure is ours. */
const FIXTURES = 'version: 1\nfixtures:\n  - { id: used, match: { operation: a }, reply: { payload: b } }\n';
const INVOKE = `
import { invokeOnce } from '${new URL('../../peers/runtime.mjs', import.meta.url).href}';
await invokeOnce(process.env.TOOL_URL, 'a', {});
`;

async function mockWith(folder: Folder, command: readonly string[], stdin?: Uint8Array) {
  await folder.write('fixtures.yaml', FIXTURES);
  await folder.write('invoke.mjs', INVOKE);
  const args = ['mock-tool', 'fixtures.yaml', '--', ...command];
  return run(args, { cwd: folder.path, ...(stdin && { stdin }) });
}

/** In this process, whose stdin and stdout the command then has: for those that read and print nothing. */
async function mockHereWith(folder: Folder, command: readonly string[]) {
  return runHere(['mock-tool', await folder.write('fixtures.yaml', FIXTURES), '--', ...command]);
}

describe.concurrent('the command', () => {
  it('has stdin and stdout to itself; our output goes to stderr', async () => {
    await using folder = await temporaryFolder();
    const bytes = randomBytes(300_000);
    const ended = await mockWith(folder, ['sh', '-c', `cat; '${process.execPath}' invoke.mjs`], bytes);
    expect(firstDifference(ended.bytes, bytes)).toBeNull();
    expect(ended.status, ended.stderr).toBe(0);
    expect(ended.stderr).toMatch(/^mock-tool mock at http:\/\/127\.0\.0\.1:\d+ \(seed \w+\)\n/);
    expect(ended.stderr).toMatch(/✓ .*1 call/);
  });

  it('gets its arguments unchanged, and TOOL_URL', async () => {
    await using folder = await temporaryFolder();
    const printed = folder.file('printed');
    const words = ['--port', '1', '-o', '--', '$HOME *', ''];
    const script = `printf '%s\\n' "$@" "$TOOL_URL" > '${printed}'`;
    const { stderr } = await mockHereWith(folder, ['sh', '-c', script, 'sh', ...words]);
    const [, url = ''] = / at (http:\S+) /.exec(stderr) ?? [];
    expect(url).not.toBe('');
    expect((await readFile(printed, 'utf8')).split('\n')).toEqual([...words, url, '']);
  });

  it.each([
    ['an exit status', 'exit 7', 7, mockHereWith],
    ['a signal', 'kill -KILL $$', 137, mockHereWith],
    ['SIGTERM', 'kill -TERM $$', 143, mockWith],
  ])(
    'fails with %s, which becomes our exit status, whatever verification says',
    async (_, script, status, mocked) => {
      await using folder = await temporaryFolder();
      const ended = await mocked(folder, ['sh', '-c', script]);
      expect(ended.status).toBe(status);
      expect(ended.stderr).toMatch(/^✗ fixture used \(\S*fixtures\.yaml:3, \w+\) was not used$/m);
    },
  );

  it('an unknown program is a usage error', async () => {
    await using folder = await temporaryFolder();
    const { status, stderr } = await mockHereWith(folder, ['no-such-program-5e1']);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: the command "no-such-program-5e1" did not start: program not found$/m);
  });

  it('is stopped with us', async () => {
    await using folder = await temporaryFolder();
    const { status, stdout } = await mockWith(folder, [
      'sh',
      '-c',
      "trap 'echo stopped; exit 3' TERM; kill -TERM $PPID; while :; do sleep 0.05; done",
    ]);
    expect({ status, stdout }).toEqual({ status: 3, stdout: 'stopped\n' });
  });
});
