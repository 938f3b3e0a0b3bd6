import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import type { Ended } from '../support/program.js';
import { startScript, startSessionMock, startSessionMockHere } from '../support/session-mock.js';
import { success } from '../support/session-wire.js';

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
}

/** In this process, whose stdin and stdout the command then has: for commands that read and print nothing. */
async function mocked(
  folder: Folder,
  command: readonly string[],
  { args = [], ...options }: Mocked = {},
): Promise<Ended> {
  const script = await folder.write('script.json', JSON.stringify({ version: 1, session: SESSION }));
  return runHere(['session', 'mock', script, ...args, '--', ...command], options);
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
  it('gets SESSION_URL without the path of the API, API_KEY and SESSION_ID', async () => {
    await using folder = await temporaryFolder();
    const shown = async (options?: Mocked) => {
      const file = folder.file(randomUUID());
      const show = `printf '["%s","%s","%s"]' "$SESSION_URL" "$API_KEY" "$SESSION_ID" > '${file}'`;
      const { stderr } = await mocked(folder, ['sh', '-c', show], options);
      const [url, key, session] = JSON.parse(await readFile(file, 'utf8'));
      expect(stderr).toContain(`session mock at ${url}, session ${session}`);
      return [url, key, session] as const;
    };
    const env = { API_KEY: 'from-the-env' };
    const [one, other, given, inherited] = await Promise.all([
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
    expect([given[1], inherited[1]]).toEqual(['from-the-option', 'from-the-env']);
  });

  it('the key is printed on stderr only if it is random, and not with -q', async () => {
    await using folder = await temporaryFolder();
    const said = async (options?: Mocked) => (await mocked(folder, ['true'], options)).stderr;
    expect(await said()).toMatch(/^session mock at http\S+, session \S+, key \S{32}$/m);
    expect(await said({ args: ['-q'] })).not.toContain('key');
    expect(await said({ env: { API_KEY: 'topsecret' } })).toMatch(/^session mock at http\S+, session \S+$/m);
  });

  it('fails: its exit status is ours, whatever verification says', async () => {
    await using folder = await temporaryFolder();
    const ended = await mocked(folder, ['sh', '-c', 'exit 7']);
    expect(ended.status).toBe(7);
    expect(ended.stderr).toMatch(/^✗ .*call_1/m);
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
    const { status, stderr } = await mocked(folder, posting(...bodies));
    for (const each of says) expect(stderr).toMatch(each);
    expect(status).toBe(1);
  });

  it('reports: the command is a test of its own, and the key is in none of them', async () => {
    await using folder = await temporaryFolder();
    const words = ['junit', 'json'].flatMap(name => ['--reporter', `${name}:${folder.file(name)}`]);
    const args = [...words, '--key', 'KEY-CANARY-4711'];
    const body = answered(lookup('KEY-CANARY-4711'));
    const exit = ['sh', '-c', '"$@"; kill -9 $$', 'sh', ...posting(body)];
    expect((await mocked(folder, exit, { args })).status).toBe(137);
    const [junit, json] = await Promise.all(
      ['junit', 'json'].map(name => readFile(folder.file(name), 'utf8')),
    );
    expect(junit).toMatch(
      /<testcase classname="session mock\.command" name="the command succeeds" time="\d\.\d+">\s*<failure type="exit" message="the command exited with status 137">/,
    );
    expect(JSON.parse(json ?? '')).toMatchObject({
      ok: false,
      command: { status: 137 },
      problems: { examples: expect.arrayContaining([expect.objectContaining({ kind: 'refused' })]) },
    });
    expect(`${junit}${json}`).not.toContain('KEY-CANARY');
  });

  it('needs a command or --verify', async () => {
    await using silent = await startScript({ session: SESSION });
    expect(await silent.stop()).toMatchObject({ status: 0 });
    await using verifying = await startScript({ session: SESSION }, '--verify');
    const { status, stderr } = await verifying.stop();
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^✗ .*call_1/m)]);
  });
});

describe('start and end', () => {
  /** `session mock` comes up, says where, and ends as a server does. */
  const A1 = { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' };

  describe.concurrent('the ready line', () => {
    it('comes first: port, url without the path of the API, key and session; it ends with 0', async () => {
      await using mock = await startSessionMock();
      const { port, url, key, session } = mock;
      expect(url).toBe(`http://127.0.0.1:${port}`);
      expect((await mock.known().results(success(A1))).status).toBe(202);
      const { status, stdout } = await mock.stop();
      expect(status).toBe(0);
      expect(stdout.split('\n')[0]).toBe(JSON.stringify({ port, url, key, session }));
    });

    it('a signal is a normal end, also while clients wait for news', async () => {
      await using mock = await startScript({ session: { rounds: [{ calls: [A1] }] } });
      const { length } = (await mock.known().changes()).new_events;
      const polls = [1, 2, 3].map(() =>
        mock.known().ask(`/changes?from_index=${length}&wait_for_seconds=25`),
      );
      const { json } = await mock.ask('');
      expect(json).toMatchObject({ total: 1 });
      const before = performance.now();
      const [{ status }, ...answers] = await Promise.all([mock.stop(), ...polls]);
      expect([status, ...answers.map(answer => answer.status)]).toEqual([0, 204, 204, 204]);
      expect(performance.now() - before).toBeLessThan(10_000);
    });
  });

  it('every error of a script is reported with its place', async () => {
    await using folder = await temporaryFolder();
    const { status, stderr } = await runHere(['session', 'mock', await folder.write('script.yaml', BROKEN)]);
    expect(status).toBe(2);
    for (const says of [
      /script\.yaml:6:.*\$\.session\.rounds\[0\]\.calls\[0\]\.tool_nam\b.*tool_name/,
      /script\.yaml:8:.*\$\.session\.rounds\[1\]\.calls\[0\]\.args\.x.*call_7/,
      /script\.yaml:9:.*\$\.session\.rounds\[1\]\.expect\.call_8/,
      /script\.yaml:10:.*\$\.switches\.settled/,
    ])
      expect(stderr).toMatch(says);
  });

  const BROKEN = `version: 1
session:
  tools: [{ name: a }]
  rounds:
    - calls:
        - { tool_nam: a, id: call_1 }
    - calls:
        - { tool_name: a, id: call_2, args: { x: "{{results.call_7}}" } }
      expect: { call_8: { kind: tool_result } }
switches: { settled: 404 }
`;

  describe.concurrent('row 25: the key', () => {
    const KEY = 'KEY-CANARY-4711';

    it.each([['plain'], ['ndjson']])(
      'is only in the ready line, with -o %s --save, also if a client sends it',
      async output => {
        await using folder = await temporaryFolder();
        const saved = folder.file('transcript');
        await using mock = await startSessionMockHere(['-o', output, '--save', saved], {
          env: { API_KEY: KEY },
        });
        expect(mock.key).toBe(KEY);
        expect((await mock.known().results(success(A1, `my key is ${KEY}`))).status).toBe(202);
        const { stdout, stderr, status } = await mock.stop();
        expect(status).toBe(0);
        expect(stdout.split('\n').slice(1).join('\n')).not.toContain(KEY);
        expect(stderr).not.toContain(KEY);
        const transcript = await readFile(saved, 'utf8');
        expect(transcript).not.toContain(KEY);
        expect(transcript).toContain('"purpose":"tool_results"');
        expect(transcript).toContain('my key is [redacted]');
      },
    );
  });
});
