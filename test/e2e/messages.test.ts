import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from './support/in-process.js';
import { resultFor, startTool } from './support/own-tool.js';
import { type Peer, startPeer } from './support/peers.js';
import { argv, run } from './support/program.js';
import { invokeJsonHere, warningIds, warningsOf } from './support/report.js';
import { closedPort, silentServer } from './support/sockets.js';
import { STACK_LINE, unsafeIn } from './support/text.js';

/** Every message that a user can meet on the way: what failed, where, and what to do. */
const TOOLSETS = 'missing invalid notjson html gzip redirect hidden_draft origin_only'.split(' ');

let plain: Peer;
let odd: Peer;
const servers = new Map<string, Peer>();
const at = (name: string) => servers.get(name)?.url ?? name;

beforeAll(async () => {
  [plain, odd] = await Promise.all([startPeer('plain'), startPeer('odd')]);
  servers.set('plain', plain).set('odd', odd);
  await Promise.all(TOOLSETS.map(async TOOLSET => servers.set(TOOLSET, await startPeer('odd', { TOOLSET }))));
});
afterAll(() => Promise.all([...servers.values()].map(peer => peer.stop())));

/** The error of a call, on stderr and in `-o json`; the first word of the line begins with the name of a server. */
const CALLS: readonly [
  string,
  line: string,
  status: number,
  code: string,
  says: readonly (string | RegExp)[],
][] = [
  [
    'no discovery document: both URLs that were asked',
    'missing/tools/x echo',
    4,
    'no-discovery',
    [
      /\/tools\/x\/\.well-known\/rap-toolset answered 404, http:\/\/127\.0\.0\.1:\d+\/\.well-known\/rap-toolset answered 404/,
      '--endpoint',
    ],
  ],
  [
    'row 11: discovery that redirects',
    'redirect echo',
    4,
    'no-discovery',
    ['/.well-known/rap-toolset answered 302'],
  ],
  [
    'RT-TOOLSET: every fault of an invalid toolset, with its path',
    'invalid twin',
    2,
    'invalid-toolset',
    [
      /^ {2}\$\.name: /m,
      /^ {2}\$\.endpoint: must be an http or https URL$/m,
      /^ {2}\$\.tools\[1\]\.name: "twin" is already the name of \$\.tools\[0\]$/m,
      /^ {2}\$\.tools\[2\]\.name: may hold only letters, digits, _ and -$/m,
      /^ {2}\$\.tools\[3\]\.inputSchema\.type: /m,
      'RT-TOOLSET',
    ],
  ],
  [
    'a toolset that is not JSON',
    'notjson echo',
    2,
    'invalid-toolset',
    ['$: not valid JSON: ', '/.well-known/rap-toolset'],
  ],
  ['a toolset that is a web page', 'html echo', 4, 'no-discovery', ['This is a web page, not a RAP tool.']],
  [
    'row 16: a compressed toolset',
    'gzip echo',
    4,
    'unreachable',
    ['the answer is encoded, though identity was asked for', 'Switch compression off'],
  ],
  [
    'RT-OP: an unknown operation, with the nearest names',
    'plain edit_fil',
    2,
    'unknown-operation',
    [
      'no operation "edit_fil" in the toolset plain-tool',
      'Did you mean "edit_file"?',
      'edit_file, echo, big, slow',
    ],
  ],
  ['RT-OP: names are case-sensitive', 'plain Echo', 2, 'unknown-operation', ['Did you mean "echo"']],
  [
    'RT-ARGS: a missing argument',
    'plain echo',
    2,
    'invalid-arguments',
    [/^ {2}\$\.text: is required$/m, '--no-validate'],
  ],
  [
    'RT-ARGS: every argument that is wrong, with path and rule',
    'plain big bytes=-1 kind=other more=1',
    2,
    'invalid-arguments',
    [
      /^ {2}\$\.bytes: must be >= 0 \(minimum\)$/m,
      /^ {2}\$\.kind: must be one of "ascii", "mixed"$/m,
      /^ {2}\$\.more: is not an allowed property$/m,
    ],
  ],
  [
    'RT-ARGS: a word that does not fit its type',
    'plain big bytes=many',
    2,
    'invalid-arguments',
    [/^ {2}\$\.bytes: must be integer \(type\)$/m],
  ],
  [
    'an unreadable @file',
    'plain echo text=@/nowhere/at/all.txt',
    2,
    'unreadable-file',
    ['cannot read /nowhere/at/all.txt', 'no such file or directory'],
  ],
  [
    'an unreadable --args @file',
    'plain echo --args @/nowhere/at/all.json',
    2,
    'unreadable-file',
    ['cannot read /nowhere/at/all.json'],
  ],
  ['--args that is not JSON', 'plain echo --args {text:1}', 2, 'usage', ['--args: not valid JSON']],
  ['an argument without =', 'plain echo hello', 2, 'usage', ['unexpected argument "hello"', 'key=value']],
  ['a duplicate argument', 'plain echo text=a text=b', 2, 'usage', ['duplicate argument "text"']],
  [
    ':= without JSON',
    'plain echo text:=Ada',
    2,
    'usage',
    ['text:=Ada: not valid JSON', 'For plain text write'],
  ],
  [
    'a port in use',
    'odd silent --callback-port PLAIN_PORT',
    2,
    'port-in-use',
    [/port \d+ on 127\.0\.0\.1 is already in use/],
  ],
  [
    'row 9: a link-local address',
    'http://169.254.169.254 echo',
    4,
    'refused-address',
    ['169.254.169.254', 'link-local'],
  ],
  [
    'a name that does not resolve',
    'http://no-such-host.invalid echo',
    4,
    'unreachable',
    ['no-such-host.invalid', /does not resolve|spelt right/],
  ],
];

describe.concurrent('before and during the call', () => {
  it.each(CALLS)('%s', async (_, line, status, code, says) => {
    const [first = '', ...rest] = line.replace('PLAIN_PORT', String(plain.port)).split(' ');
    const ended = await invokeJsonHere([first.replace(/^\w+(?=$|\/)/, at), ...rest]);
    expect({ status: ended.status, code: ended.report.error?.code }).toEqual({ status, code });
    expect(ended.stderr).toMatch(/^error: /m);
    for (const saying of says)
      expect(ended.stderr).toEqual(
        saying instanceof RegExp ? expect.stringMatching(saying) : expect.stringContaining(saying),
      );
    expect(ended.stderr).toContain(ended.report.error?.message);
    expect(ended.stderr).not.toMatch(STACK_LINE);
    expect(unsafeIn(ended.stderr)).toEqual([]);
  });

  it('a refused connection: the error names the address and the next step', async () => {
    const port = await closedPort();
    const { status, report } = await invokeJsonHere(argv`http://127.0.0.1:${port} echo`);
    expect(status).toBe(4);
    expect(report.error).toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(`127.0.0.1:${port}`),
      hint: expect.stringContaining('Nothing listens there'),
    });
  });

  it('-q silences warnings, never errors', async () => {
    const { stderr } = await runHere(argv`invoke ${plain.url} edit_fil -q`);
    expect(stderr).toMatch(/^error: /);
  });
});

const CALL = ['--group-id', 'thread_1', '--id', 'call_1'];
const PATCH = '--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-const a = 1;\n+const a = 2;\n';

describe.concurrent('usage errors of commander and of plans: exit 2', () => {
  it.each<[string[], RegExp, stdin?: string]>([
    [argv`invoke ftp://127.0.0.1 echo`, /unsupported URL: ftp:\/\/127\.0\.0\.1; use http or https/],
    [argv`invoke http:// echo`, /invalid URL: http:\/\//],
    [argv`invoke :3001 --endpoint`, /no operation given.*\n.*toolset/],
    [argv`invoke :3001 text=a`, /"text=a" is an argument/],
    [argv`invoke`, /no tool server given.*\n.*--demo/],
    [argv`invoke --demo --command x`, /exclude each other/],
    [argv`invoke --endpoint echo`, /--endpoint needs the URL/],
    [argv`invoke --demo --timeout soon`, /--timeout.*\n?.*500ms, 2s, 5m, 1h/],
    [argv`invoke --demo --callback-port 70000`, /0 to 65535/],
    [argv`invoke --demo --supports hologram`, /hologram.*diff, text/],
    [argv`invoke --demo -H oops`, /--header.*"Name: value"/],
    [argv`invoke --demo -H ${'Host: a'}`, /Host belongs to the connection/],
    [argv`invoke --demo --bearer env:NO_SUCH_NAME`, /environment variable NO_SUCH_NAME is not set/],
    [argv`invoke --demo -o ui`, /-o ui needs a terminal.*\n.*-o plain/],
    [argv`invoke --demo --save /nowhere/x`, /cannot write \/nowhere\/x.*\n.*folder/],
    [argv`invoke --demo edit_file path=a --args {}`, /--args and key=value exclude each other/],
    [argv`invoke --demo --repeat 2 -o text`, /Use -o plain \(a line for each call\)/],
    [argv`invoke --demo --repeat 10001`, /Give a whole number from 1 to /],
    [argv`invoke --demo --concurrency 0`, /Give a whole number from 1 to /],
    [argv`invoke --demo --dialect mcp -o text`, /--dialect and -o text exclude each other/],
    [argv`invoke --demo --dialect mcp --repeat 2`, /--dialect and --repeat exclude each other/],
    [argv`invoke :1 echo --watch`, /--watch needs --command/],
    [argv`invoke --command true echo --watch`, /no file in the command: true/],
    [
      argv`toolset`,
      /no tool server given\nhint: Give its URL \(http:\/\/127\.0\.0\.1:3001\), --command, or --demo/,
    ],
    [argv`toolset http://127.0.0.1:1 --mcp true`, /--mcp and http:\/\/127\.0\.0\.1:1/],
    [argv`toolset --mcp true --bearer x`, /does not receive --bearer/],
    [argv`listen --save /nonexistent/x`, /cannot|write|exist/],
    [argv`cancel :1 --group-id x`, /--id/],
    [argv`cancel :1 --group-id ${''} --id x`, /cannot be empty/],
    [argv`cancel x ${CALL}`, /invalid URL: x/],
    [argv`cancel ${CALL}`, /no tool server given[\s\S]*Give its URL/],
    [argv`cancel :1 ${CALL} -H nonsense`, /--header/],
    [argv`close-thread :1`, /no thread given/],
    [argv`close-thread :1 ${''}`, /cannot be empty/],
    [argv`close-thread t`, /no tool server given/],
    [argv`close-thread t :1`, /The URL comes first: protocol-cli close-thread :1 t\./],
    [argv`close-thread t http://a.b/`, /unexpected URL: http:\/\/a\.b\/; expected a thread/],
    [argv`migrate s`, /expected a session and a destination, got: s/],
    [argv`migrate :1 s`, /invalid destination: s/],
    [argv`migrate :1 ${''} http://a.example`, /cannot be empty/],
    [argv`migrate :1 s :3002`, /invalid destination: :3002[\s\S]*\$\.destination_url/],
    [argv`migrate x s http://a.example`, /invalid URL: x/],
    [argv`render - --as lmkit -o json`, /exclude each other/, PATCH],
    [argv`render /no/such/file`, /^error: cannot read \/no\/such\/file: no such file or directory/],
    [argv`render - --as svg --save /no/such/x`, /cannot write/, PATCH],
  ])('%j', async (args, says, stdin = '') => {
    const { status, stderr, stdout } = await runHere(args, { stdin });
    expect(status, stderr.slice(0, 300)).toBe(2);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(STACK_LINE);
    expect(unsafeIn(stderr)).toEqual([]);
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
    const { status, report } = await invokeJsonHere(argv`${peer.url} evil s=${'a'.repeat(40)}!`);
    expect(status).toBe(0);
    expect(warningIds(report)).toEqual(['RT-ARGS']);
    expect(warningsOf(report)[0]?.message).toMatch(/not checked.*evil.*250 ms.*pattern/);
  });

  it('an unknown draft is a warning, and arguments are not checked', async () => {
    const { status, report } = await invokeJsonHere(argv`${at('hidden_draft')} hidden`);
    expect(status).toBe(0);
    expect(warningIds(report)).toEqual(['TOOL-DISCOVER', 'RT-ARGS']);
    expect(warningsOf(report)[1]?.message).toMatch(/not checked.*names the draft/);
  });

  it('row 23: a remote $ref is reported and never fetched', async () => {
    await using canary = await silentServer();
    await using tool = await startTool({
      remote: {
        inputSchema: { type: 'object', properties: { value: { $ref: `${canary.url}/x.json` } } },
        callbacks: call => [resultFor(call, 'done')],
      },
    });
    const { status, report } = await invokeJsonHere(argv`${tool.url} remote value=1`);
    expect(status).toBe(0);
    expect(warningsOf(report)[0]).toMatchObject({
      id: 'RT-ARGS',
      message: expect.stringContaining('/x.json'),
    });
    expect(canary.connections()).toBe(0);
  });
});

describe.concurrent('without a base URL', () => {
  it('RT-OP: --endpoint posts without discovery, lists what it cannot check, and sends no notice', async () => {
    const thread = ['--id', 'straight-away'];
    const { status, report } = await invokeJsonHere(argv`${odd.url}/invoke no_display --endpoint ${thread}`);
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
    const { status, report } = await invokeJsonHere(argv`${at('origin_only')}/tools/x no_display`);
    expect(status).toBe(0);
    expect(report.endpoint).toBe(`${at('origin_only')}/tools/x/invoke`);
    const log = await servers.get('origin_only')?.log();
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

it.each([
  [
    'before a run',
    'check',
    'Give the base URL of a tool server (npx protocol-cli check http://127.0.0.1:3001)',
  ],
  ['in a run', 'invoke plain edit_file', 'npx protocol-cli toolset <url> edit_file'],
])('a hint names npx, if the program was started with it: %s', async (_, line, says) => {
  const { stderr } = await run(argv`${line.split(' ').map(at)}`, { env: { npm_lifecycle_event: 'npx' } });
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/(?<!npx )protocol-cli [a-z]/);
});
