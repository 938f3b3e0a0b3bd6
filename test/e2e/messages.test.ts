import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { resultFor, startTool } from './support/own-tool.js';
import { type Peer, startPeer } from './support/peers.js';
import { invokeJsonHere, warningIds, warningsOf } from './support/report.js';
import { closedPort, silentServer } from './support/sockets.js';
import { STACK_LINE, unsafeIn } from './support/text.js';

/** Every message that a user can meet on the way: what failed, where, and what to do. */
const TOOLSETS = [
  'missing',
  'invalid',
  'notjson',
  'html',
  'gzip',
  'redirect',
  'hidden_draft',
  'origin_only',
] as const;
type ToolsetName = (typeof TOOLSETS)[number];

let plain: Peer;
let odd: Peer;
const variants = new Map<ToolsetName, Peer>();
const at = (name: ToolsetName) => variants.get(name)?.url ?? '';

beforeAll(async () => {
  [plain, odd] = await Promise.all([startPeer('plain'), startPeer('odd')]);
  await Promise.all(
    TOOLSETS.map(async name => variants.set(name, await startPeer('odd', { TOOLSET: name }))),
  );
});
afterAll(() => Promise.all([plain, odd, ...variants.values()].map(peer => peer.stop())));

interface Case {
  readonly of: string;
  readonly args: () => readonly string[];
  readonly status: number;
  readonly code: string;
  readonly says: readonly (string | RegExp)[];
}

/** What a call reports on stderr and in `-o json`, once it has found its way to `invoke`. */
const CALLS: readonly Case[] = [
  {
    of: 'no discovery document: both URLs that were asked',
    args: () => [`${at('missing')}/tools/x`, 'echo'],
    status: 4,
    code: 'no-discovery',
    says: [
      /\/tools\/x\/\.well-known\/rap-toolset answered 404, http:\/\/127\.0\.0\.1:\d+\/\.well-known\/rap-toolset answered 404/,
      '--endpoint',
    ],
  },
  {
    of: 'row 11: discovery that redirects',
    args: () => [at('redirect'), 'echo'],
    status: 4,
    code: 'no-discovery',
    says: ['/.well-known/rap-toolset answered 302'],
  },
  {
    of: 'RT-TOOLSET: every fault of an invalid toolset, with its path',
    args: () => [at('invalid'), 'twin'],
    status: 2,
    code: 'invalid-toolset',
    says: [
      /^ {2}\$\.name: /m,
      /^ {2}\$\.endpoint: must be an http or https URL$/m,
      /^ {2}\$\.tools\[1\]\.name: "twin" is already the name of \$\.tools\[0\]$/m,
      /^ {2}\$\.tools\[2\]\.name: may hold only letters, digits, _ and -$/m,
      /^ {2}\$\.tools\[3\]\.inputSchema\.type: /m,
      'RT-TOOLSET',
    ],
  },
  {
    of: 'a toolset that is not JSON',
    args: () => [at('notjson'), 'echo'],
    status: 2,
    code: 'invalid-toolset',
    says: [/\$: not valid JSON: /, '/.well-known/rap-toolset'],
  },
  {
    of: 'a toolset that is a web page',
    args: () => [at('html'), 'echo'],
    status: 2,
    code: 'invalid-toolset',
    says: [/\$: not valid JSON: /],
  },
  {
    of: 'row 16: a compressed toolset',
    args: () => [at('gzip'), 'echo'],
    status: 4,
    code: 'unreachable',
    says: ['the answer is encoded, though identity was asked for', 'Switch compression off'],
  },
  {
    of: 'RT-OP: an unknown operation, with the nearest names',
    args: () => [plain.url, 'edit_fil'],
    status: 2,
    code: 'unknown-operation',
    says: [
      'no operation "edit_fil" in the toolset plain-tool',
      'Did you mean "edit_file"?',
      'edit_file, echo, big, slow',
    ],
  },
  {
    of: 'RT-OP: names are case-sensitive',
    args: () => [plain.url, 'Echo'],
    status: 2,
    code: 'unknown-operation',
    says: ['Did you mean "echo"'],
  },
  {
    of: 'RT-ARGS: a missing argument',
    args: () => [plain.url, 'echo'],
    status: 2,
    code: 'invalid-arguments',
    says: [/^ {2}\$\.text: is required$/m, '--no-validate'],
  },
  {
    of: 'RT-ARGS: every argument that is wrong, with path and rule',
    args: () => [plain.url, 'big', 'bytes=-1', 'kind=other', 'more=1'],
    status: 2,
    code: 'invalid-arguments',
    says: [
      /^ {2}\$\.bytes: must be >= 0 \(minimum\)$/m,
      /^ {2}\$\.kind: must be one of "ascii", "mixed"$/m,
      /^ {2}\$\.more: is not an allowed property$/m,
    ],
  },
  {
    of: 'RT-ARGS: a word that does not fit its type',
    args: () => [plain.url, 'big', 'bytes=many'],
    status: 2,
    code: 'invalid-arguments',
    says: [/^ {2}\$\.bytes: must be integer \(type\)$/m],
  },
  {
    of: 'an unreadable @file',
    args: () => [plain.url, 'echo', 'text=@/nowhere/at/all.txt'],
    status: 2,
    code: 'unreadable-file',
    says: ['cannot read /nowhere/at/all.txt: no such file'],
  },
  {
    of: 'an unreadable --args @file',
    args: () => [plain.url, 'echo', '--args', '@/nowhere/at/all.json'],
    status: 2,
    code: 'unreadable-file',
    says: ['cannot read /nowhere/at/all.json'],
  },
  {
    of: '--args that is not JSON',
    args: () => [plain.url, 'echo', '--args', '{text:1}'],
    status: 2,
    code: 'usage',
    says: ['--args: not valid JSON'],
  },
  {
    of: 'an argument without =',
    args: () => [plain.url, 'echo', 'hello'],
    status: 2,
    code: 'usage',
    says: ['unexpected argument "hello"', 'key=value'],
  },
  {
    of: 'a duplicate argument',
    args: () => [plain.url, 'echo', 'text=a', 'text=b'],
    status: 2,
    code: 'usage',
    says: ['duplicate argument "text"'],
  },
  {
    of: ':= without JSON',
    args: () => [plain.url, 'echo', 'text:=Ada'],
    status: 2,
    code: 'usage',
    says: ['text:=Ada: not valid JSON', 'For plain text write'],
  },
  {
    of: 'a port in use',
    args: () => [odd.url, 'silent', '--callback-port', String(plain.port)],
    status: 2,
    code: 'port-in-use',
    says: [/port \d+ on 127\.0\.0\.1 is already in use/],
  },
  {
    of: 'row 9: a link-local address',
    args: () => ['http://169.254.169.254', 'echo'],
    status: 4,
    code: 'refused-address',
    says: ['169.254.169.254', 'link-local'],
  },
  {
    of: 'a name that does not resolve',
    args: () => ['http://no-such-host.invalid', 'echo'],
    status: 4,
    code: 'unreachable',
    says: ['no-such-host.invalid', /does not resolve|spelt right/],
  },
];

describe.concurrent('before and during the call', () => {
  it.each(CALLS)('$of', async ({ args, status, code, says }) => {
    const ended = await invokeJsonHere(args());
    expect({ status: ended.status, code: ended.report.error?.code }).toEqual({ status, code });
    expect(ended.stderr).toMatch(/^error: /m);
    for (const saying of says)
      expect(ended.stderr).toMatch(saying instanceof RegExp ? saying : literally(saying));
    expect(ended.stderr).toContain(ended.report.error?.message);
    expect(ended.stderr).not.toMatch(STACK_LINE);
    expect(unsafeIn(ended.stderr)).toEqual([]);
  });

  it('a refused connection: the error names the address and the next step', async () => {
    const port = await closedPort();
    const { status, report } = await invokeJsonHere([`http://127.0.0.1:${port}`, 'echo']);
    expect(status).toBe(4);
    expect(report.error).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(`127.0.0.1:${port}`),
      hint: expect.stringContaining('Nothing listens there'),
    });
  });

  it('-q silences warnings, never errors', async () => {
    const { stderr } = await runHere(['invoke', plain.url, 'edit_fil', '-q']);
    expect(stderr).toMatch(/^error: /);
  });
});

describe.concurrent('usage errors of commander and of plans', () => {
  it.each<[string, string[], RegExp]>([
    [
      'a scheme that is not http',
      ['invoke', 'ftp://127.0.0.1', 'echo'],
      /unsupported URL: ftp:\/\/127\.0\.0\.1; use http or https/,
    ],
    ['a URL that is invalid', ['invoke', 'http://', 'echo'], /invalid URL: http:\/\//],
    ['no operation for an endpoint', ['invoke', ':3001', '--endpoint'], /no operation given.*\n.*toolset/],
    [
      '--json of gh',
      ['invoke', ':3001', 'echo', '--json'],
      /unknown option '--json'\n\(Did you mean -o json\?\)/,
    ],
    ['-d of curl', ['invoke', ':3001', 'echo', '-d{}'], /unknown option '-d\{\}'\n\(Did you mean --args\?\)/],
    ['--json of check', ['check', ':3001', '--json'], /\(Did you mean --reporter json\?\)/],
    ['--json of toolset', ['toolset', ':3001', '--json'], /\(Did you mean -o json\?\)/],
    [
      '-d where no arguments are taken',
      ['toolset', ':3001', '-d'],
      /^error: unknown option '-d'\n\(add --help/,
    ],
    ['mock', ['mock', 'x.yaml'], /unknown command 'mock'\n\(Did you mean mock-tool\?\)/],
    ['call', ['call', ':3001'], /unknown command 'call'\n\(Did you mean invoke\?\)/],
    ['help mock', ['help', 'mock'], /\(Did you mean mock-tool\?\)/],
    ['an argument where the operation should be', ['invoke', ':3001', 'text=a'], /"text=a" is an argument/],
    ['nothing at all', ['invoke'], /no tool server given.*\n.*--demo/],
    ['--demo with --command', ['invoke', '--demo', '--command', 'x'], /exclude each other/],
    ['--endpoint without a URL', ['invoke', '--endpoint', 'echo'], /--endpoint needs the URL/],
    [
      'a duration that is invalid',
      ['invoke', '--demo', '--timeout', 'soon'],
      /--timeout.*\n?.*500ms, 2s, 5m, 1h/,
    ],
    ['a port that is invalid', ['invoke', '--demo', '--callback-port', '70000'], /0 to 65535/],
    [
      'a segment type that cannot be drawn',
      ['invoke', '--demo', '--supports', 'hologram'],
      /hologram.*diff, text/,
    ],
    ['a header that is invalid', ['invoke', '--demo', '-H', 'oops'], /--header.*"Name: value"/],
    [
      'a header that is the connection’s',
      ['invoke', '--demo', '-H', 'Host: a'],
      /Host belongs to the connection/,
    ],
    [
      'a bearer from nowhere',
      ['invoke', '--demo', '--bearer', 'env:NO_SUCH_NAME'],
      /environment variable NO_SUCH_NAME is not set/,
    ],
    ['--callback-url with a query', ['invoke', '--demo', '--callback-url', 'http://a/?b'], /Give a base URL/],
    ['an unknown option', ['invoke', '--demos'], /unknown option '--demos'/],
    ['-o ui without a terminal', ['invoke', '--demo', '-o', 'ui'], /-o ui needs a terminal.*\n.*-o plain/],
    [
      '--save into nowhere',
      ['invoke', '--demo', '--save', '/nowhere/x'],
      /cannot write \/nowhere\/x.*\n.*folder/,
    ],
    [
      'both kinds of arguments',
      ['invoke', '--demo', 'edit_file', 'path=a', '--args', '{}'],
      /--args and key=value exclude each other/,
    ],
  ])('%s: exit 2', async (_, args, says) => {
    const { status, stderr, stdout } = await runHere(args);
    expect(status, stderr.slice(0, 300)).toBe(2);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(STACK_LINE);
    expect(stdout).toBe('');
  });

  it.each([
    ['a URL that is invalid', ['htp://127.0.0.1', 'echo'], 'usage'],
    ['a file that cannot be written', ['--demo', '--save', '/nowhere/x'], 'unwritable-file'],
  ])('-o json: %s is an object with `error` too', async (_, args, code) => {
    const { status, report } = await invokeJsonHere(args);
    expect(status).toBe(2);
    expect(report.error?.code).toBe(code);
  });
});

describe.concurrent('difficult schemas', () => {
  it('row 22: a catastrophic pattern is interrupted and reported, and the call goes on', async () => {
    await using peer = await startPeer('odd', { TOOLSET: 'evil_pattern' });
    const { status, report } = await invokeJsonHere([peer.url, 'evil', `s=${'a'.repeat(40)}!`]);
    expect(status).toBe(0);
    expect(warningIds(report)).toEqual(['RT-ARGS']);
    expect(warningsOf(report)[0]?.message).toMatch(/not checked.*evil.*250 ms.*pattern/);
  });

  it('an unknown draft is a warning, and arguments are not checked', async () => {
    const { status, report } = await invokeJsonHere([at('hidden_draft'), 'hidden']);
    expect(status).toBe(0);
    expect(warningIds(report)).toEqual(['TOOL-DISCOVER', 'RT-ARGS']);
    expect(warningsOf(report)[1]?.message).toMatch(/not checked.*names the draft/);
  });

  it('row 22: uniqueItems over 20,000 objects is interrupted', async () => {
    await using tool = await startTool({
      unique: {
        inputSchema: { type: 'object', properties: { list: { type: 'array', uniqueItems: true } } },
        callbacks: call => [resultFor(call, 'done')],
      },
    });
    await using folder = await temporaryFolder();
    const list = Array.from({ length: 20_000 }, (_, number) => ({ number }));
    const args = await folder.write('args.json', JSON.stringify({ list }));
    const { status, report } = await invokeJsonHere([tool.url, 'unique', '--args', `@${args}`]);
    expect(status).toBe(0);
    expect(warningsOf(report)[0]).toMatchObject({
      id: 'RT-ARGS',
      message: expect.stringContaining('uniqueItems'),
    });
  });

  it('row 23: a remote $ref is reported and never fetched', async () => {
    await using canary = await silentServer();
    await using tool = await startTool({
      remote: {
        inputSchema: { type: 'object', properties: { value: { $ref: `${canary.url}/x.json` } } },
        callbacks: call => [resultFor(call, 'done')],
      },
    });
    const { status, report } = await invokeJsonHere([tool.url, 'remote', 'value=1']);
    expect(status).toBe(0);
    expect(warningsOf(report)[0]).toMatchObject({
      id: 'RT-ARGS',
      message: expect.stringContaining('/x.json'),
    });
    expect(canary.connections()).toBe(0);
  });

  it('row 23: a $ref that never ends is reported, not an overflow', async () => {
    await using tool = await startTool({
      endless: {
        inputSchema: {
          $defs: { a: { $ref: '#/$defs/a' } },
          type: 'object',
          properties: { value: { $ref: '#/$defs/a' } },
        },
        callbacks: call => [resultFor(call, 'done')],
      },
    });
    const { status, report, stderr } = await invokeJsonHere([tool.url, 'endless', 'value=1']);
    expect(status).toBe(0);
    expect(warningIds(report)).toEqual(['RT-ARGS']);
    expect(stderr).not.toMatch(/Maximum call stack/);
  });

  it('draft-07 is validated by its own rules', async () => {
    await using peer = await startPeer('odd', { TOOLSET: 'draft07' });
    const [good, bad] = await Promise.all([
      invokeJsonHere([peer.url, 'draft07', 'name=Ada']),
      invokeJsonHere([peer.url, 'draft07', 'name=']),
    ]);
    expect([good.status, bad.status]).toEqual([0, 2]);
    expect(warningIds(good.report)).toEqual([]);
    expect(bad.report.error?.faults).toEqual(['$.name: must NOT have fewer than 1 characters (minLength)']);
  });
});

describe.concurrent('without a base URL', () => {
  it('RT-OP: --endpoint posts without discovery, lists what it cannot check, and sends no notice', async () => {
    const thread = ['--id', 'straight-away'];
    const { status, report } = await invokeJsonHere([
      `${odd.url}/invoke`,
      'no_display',
      '--endpoint',
      ...thread,
    ]);
    expect(status).toBe(0);
    expect(report.endpoint).toBe(`${odd.url}/invoke`);
    expect(warningIds(report)).toEqual(['RT-OP']);
    const log = await odd.log();
    const ours = log.findIndex(({ raw }) => raw.includes('straight-away'));
    expect(log[ours]).toMatchObject({ what: 'invocation' });
    expect(
      log.filter(({ raw }) => raw.includes(report.invocation?.group_id ?? '')).map(({ what }) => what),
    ).toEqual(['invocation', 'delivery']);
  });

  it('a toolset found at the origin is used, and its origin gets the notices', async () => {
    const { status, report } = await invokeJsonHere([`${at('origin_only')}/tools/x`, 'no_display']);
    expect(status).toBe(0);
    expect(report.endpoint).toBe(`${at('origin_only')}/tools/x/invoke`);
    const log = await variants.get('origin_only')?.log();
    expect(
      log?.map(({ what, url }) => `${what} ${url}`).filter(line => !line.startsWith('delivery')),
    ).toEqual([
      'discovery /tools/x/.well-known/rap-toolset',
      'discovery /.well-known/rap-toolset',
      'invocation /tools/x/invoke',
      'close_thread /close_thread',
    ]);
  });
});

function literally(text: string): RegExp {
  return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
}
