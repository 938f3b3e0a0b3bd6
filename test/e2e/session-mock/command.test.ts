import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { type Ended, run } from '../support/program.js';
import { CLIENT_NAMES, clientCommand, readOutcome } from '../support/session-client.js';
import { startScript } from '../support/session-mock.js';
import { firstDifference } from '../support/text.js';

/** `session mock script -- command`: the command finds the platform in its environment, and its failure is ours. */
const lookup = (id: string | null, args: object = {}) => ({ tool_name: 'lookup_order', args, id });
const SESSION = {
  rounds: [
    {
      calls: [lookup('call_1', { order_id: 'A1' }), lookup(null)],
      expect: { call_1: { kind: 'tool_result', result: 'shipped' } },
    },
    { calls: [lookup('call_2')] },
  ],
  answer: '{{results.call_2}}',
};

interface Mocked {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array;
}

/** In this process, whose stdin and stdout the command then has: for those that read and print nothing. */
const mockedHere: typeof mocked = (folder, command, options) => mocked(folder, command, options, runHere);

async function mocked(
  folder: Folder,
  command: readonly string[],
  { args = [], ...options }: Mocked = {},
  runs = run,
): Promise<Ended> {
  const script = await folder.write('script.json', JSON.stringify({ version: 1, session: SESSION }));
  return runs(['session', 'mock', script, ...args, '--', ...command], options);
}

/** Posts this as a body of results, and ends. */
function posting(...bodies: readonly unknown[]): string[] {
  const script = `
    const { SESSION_URL, SESSION_ID, API_KEY } = process.env;
    for (const body of ${JSON.stringify(bodies)}) {
      await fetch(SESSION_URL + '/api/v2/sessions/' + SESSION_ID + '/tool_results', {
        method: 'POST',
        headers: { authorization: 'Bearer ' + API_KEY, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    }`;
  return [process.execPath, '--input-type=module', '-e', script];
}

describe.concurrent('the command', () => {
  it.each(CLIENT_NAMES)('can be the %s client, which runs the script: 0', async name => {
    await using folder = await temporaryFolder();
    const { status, stdout, stderr } = await mocked(folder, clientCommand(name));
    expect(status, stderr).toBe(0);
    expect(readOutcome(stdout)).toMatchObject({ status: 'completed', answer: 'shipped', error: null });
  });

  it('has stdin and stdout to itself, byte for byte', async () => {
    await using folder = await temporaryFolder();
    const bytes = randomBytes(200_000);
    const ended = await mocked(folder, ['cat'], { stdin: bytes });
    expect(firstDifference(ended.bytes, bytes)).toBeNull();
  });

  it('gets SESSION_URL without the path of the API, API_KEY and SESSION_ID', async () => {
    await using folder = await temporaryFolder();
    const shown = async (options?: Mocked) => {
      const file = folder.file(randomUUID());
      const show = `printf '["%s","%s","%s"]' "$SESSION_URL" "$API_KEY" "$SESSION_ID" > '${file}'`;
      const { stderr } = await mockedHere(folder, ['sh', '-c', show], options);
      const [url, key, session] = JSON.parse(await readFile(file, 'utf8'));
      expect(stderr).toContain(`session mock at ${url}, session ${session}`);
      return [url, key, session] as const;
    };
    const env = { API_KEY: 'from-the-env' };
    const [one, other, told, inherited] = await Promise.all([
      shown(),
      shown(),
      shown({ args: ['--key', 'from-the-option'], env }),
      shown({ env }),
    ]);
    expect(one).toEqual([
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      expect.stringMatching(/^\S{16,}$/),
      expect.stringMatching(/^\S+$/),
    ]);
    expect(other[1]).not.toBe(one[1]);
    expect([told[1], inherited[1]]).toEqual(['from-the-option', 'from-the-env']);
  });

  it('the key is printed on stderr only if it is random, and not with -q', async () => {
    await using folder = await temporaryFolder();
    const said = async (options?: Mocked) => (await mockedHere(folder, ['true'], options)).stderr;
    expect(await said()).toMatch(/^session mock at http\S+, session \S+, key \S{32}$/m);
    expect(await said({ args: ['-q'] })).not.toContain('key');
    expect(await said({ env: { API_KEY: 'topsecret' } })).toMatch(/^session mock at http\S+, session \S+$/m);
  });

  it.each([
    ['an exit status', 'exit 7', 7, mockedHere],
    ['SIGTERM', 'kill -TERM $$', 143, mocked],
  ])(
    'fails with %s, which becomes our exit status, whatever verification says',
    async (_, script, status, runs) => {
      await using folder = await temporaryFolder();
      const ended = await runs(folder, ['sh', '-c', script]);
      expect(ended.status).toBe(status);
      expect(ended.stderr).toMatch(/^✗ .*call_1/m);
    },
  );

  it('an unknown program is a usage error', async () => {
    await using folder = await temporaryFolder();
    const { status, stderr } = await mockedHere(folder, ['no-such-program-5e1']);
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^error: the command "no-such-program-5e1" did not start/m),
    ]);
  });
});

describe.concurrent('verification: 1, with the reason on stderr', () => {
  const answered = (call: object, result: unknown = 'shipped') => ({
    kind: 'tool_result',
    tool_req: call,
    result,
  });
  const [first, second] = [lookup('call_1', { order_id: 'A1' }), lookup(null)];

  it.each<[string, unknown[], RegExp[]]>([
    [
      'no one answered',
      [],
      [/^✗ .*call_1.*lookup_order|^✗ .*lookup_order.*call_1/m, /^✗ .*#1/m, /^✗ .*round/m],
    ],
    ['one call was left', [answered(first)], [/^✗ .*#1/m]],
    ['rounds were not reached', [answered(first), answered(second)], [/^✗ .*call_2/m]],
    ['an answer was another one', [answered(first, 'lost')], [/^✗ .*call_1.*\$\.result.*"shipped"/m]],
    [
      'an answer was of another kind',
      [{ kind: 'error_event', error: 'x', origin: 'client', tool_req: first }],
      [/^✗ .*call_1.*\$\.kind/m],
    ],
    [
      'a post was refused, though all went well afterwards',
      [answered(lookup('no one')), answered(first), answered(second), answered(lookup('call_2'))],
      [/^✗ .*422.*tool_req\.id/m],
    ],
  ])('%s', async (_, bodies, says) => {
    await using folder = await temporaryFolder();
    const { status, stderr } = await mockedHere(folder, posting(...bodies));
    for (const each of says) expect(stderr).toMatch(each);
    expect(status).toBe(1);
  });

  it('needs a command or --verify', async () => {
    await using silent = await startScript({ session: SESSION });
    expect(await silent.stop()).toMatchObject({ status: 0 });
    await using verifying = await startScript({ session: SESSION }, '--verify');
    const { status, stderr } = await verifying.stop();
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^✗ .*call_1/m)]);
  });
});
