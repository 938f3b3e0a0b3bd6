import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { everythingCommand, logOf, type McpServer, startEverything, startMcpPeer } from '../support/mcp.js';
import { argv } from '../support/program.js';

let folder: Folder;
let open: McpServer;
let locked: McpServer;

beforeAll(async () => {
  folder = await temporaryFolder();
  [open, locked] = await Promise.all([startMcpPeer('--log', folder.file('open')), startMcpPeer('--locked')]);
});
afterAll(() => Promise.all([open, locked, folder].map(each => each[Symbol.asyncDispose]())));

const invoke = (url: string, ...words: string[]) => runHere(argv`invoke --mcp ${url} ${words}`);

describe('a server at a URL, plain Node', () => {
  test('is called; headers go with every request and into no transcript', async () => {
    const file = folder.file('call.ndjson');
    const words = ['echo', 'text=hi', '-H', 'X-Key: opensecret', '-v', '--save', file];
    const { status, stdout, stderr } = await invoke(open.url, ...words);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'hi' });
    expect(stderr).toMatch(/^> \{.*"method":"tools\/call"/m);
    expect(stderr + (await runHere(argv`render ${file}`)).stdout).not.toContain('opensecret');
    const requests = (await logOf(folder.file('open'))).filter(({ http }) => http === 'POST');
    expect(requests.length).toBeGreaterThanOrEqual(4);
    for (const { headers } of requests) expect(headers).toHaveProperty('x-key', 'opensecret');
  });

  test.each(['exact', 'exact-event'])('a number that cannot be held is kept: %s', async tool => {
    const { stdout, stderr } = await invoke(open.url, tool, '-v');
    expect(stdout).toBe('{"n":9007199254740993}');
    expect(stderr).not.toContain('9007199254740992');
  });

  test('a server that wants a token: the error names it, and --bearer works', async () => {
    const { status, stderr } = await invoke(locked.url, 'silent');
    expect(status).toBe(4);
    expect(stderr).toMatch(/answered server\/discover with 401[\s\S]*--bearer/);
    expect((await invoke(locked.url, 'silent', '--bearer', 'open-sesame')).status).toBe(0);
  });

  test.each([
    ['another path', () => open.url.replace('/mcp', '/'), 'often ends in /mcp'],
    [
      'a redirect to another origin, which is not followed',
      () => open.url.replace('/mcp', '/elsewhere'),
      '307',
    ],
    ['a port that fetch does not call', () => 'http://127.0.0.1:9/mcp', 'fetch blocks it'],
    ['a metadata address', () => 'http://169.254.169.254/mcp', 'link-local'],
  ])('%s is unreachable', async (_, url, words) => {
    const { status, stderr } = await invoke(url(), 'echo', 'text=a');
    expect(status).toBe(4);
    expect(stderr).toContain(words);
  });

  test('a stream that ends without an answer, and a call answered 500, have no result', async () => {
    const ended = await invoke(open.url, 'dies');
    expect(ended.status).toBe(4);
    expect(ended.stderr).toContain('the answer ended before it was complete');
    const failed = await invoke(open.url, 'chatter', '-o', 'json');
    expect(failed.status).toBe(4);
    expect(JSON.parse(failed.stdout)).toMatchObject({
      acknowledgement: null,
      error: { code: 'bad-acknowledgement' },
    });
  });

  test('too slow: the server is notified', async () => {
    expect((await invoke(open.url, 'slow', '--timeout', '200ms')).status).toBe(7);
    const lines = await logOf(folder.file('open'));
    expect(lines).toContainEqual(expect.objectContaining({ method: 'notifications/cancelled' }));
  });
});

let http: McpServer;
beforeAll(async () => {
  http = await startEverything();
});
afterAll(() => http[Symbol.asyncDispose]());

test.each([
  ['over stdio', everythingCommand],
  ['over Streamable HTTP', () => http.url],
])('the reference server %s adds numbers', async (_, server) => {
  const { status, stdout } = await runHere(argv`invoke --mcp ${server()} get-sum a=1 b=2`);
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'The sum of 1 and 2 is 3.' });
});

/** Over stdio each call would start the server anew. */
describe('the reference server over Streamable HTTP', () => {
  const words = (...call: string[]) => ['invoke', '--mcp', http.url, ...call];

  test('returns structured content, shown to the human', async () => {
    const { stdout } = await runHere(words('get-structured-content', 'location=Chicago', '-o', 'plain'));
    expect(stdout).toMatch(/HUMAN content, 1 block, and structured content[\s\S]*"temperature": /);
  });

  test('lists its tools; a tool that requires a task is refused', async () => {
    const { status, stdout } = await runHere(argv`toolset --mcp ${http.url}`);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^mcp-servers\/everything/);
    const task = await runHere(words('simulate-research-query', 'topic=rain'));
    expect(task.status).toBe(2);
    expect(task.stderr).toContain(
      'simulate-research-query can only be called as a task (taskSupport: required)',
    );
  });

  test('returns a resource: its text for the LLM, its URI for the human too', async () => {
    const call = words('get-resource-reference', 'resourceType=Text', 'resourceId=1');
    expect((await runHere(call)).stdout).toMatch(/Resource 1: This is a plaintext resource/);
    expect((await runHere(argv`${call} -o plain`)).stdout).toContain(
      '[resource "demo://resource/dynamic/text/1"',
    );
  });

  test('reports progress', async () => {
    const call = words('trigger-long-running-operation', 'duration=0.2', 'steps=2', '-o', 'plain');
    expect((await runHere(call)).stdout).toMatch(/progress 1 of 2[\s\S]*✓ result/);
  });

  test('asks for a form, which --choose fills in', async () => {
    const asked = await runHere(words('trigger-elicitation-request', '--choose', '{"name":"Ada"}'));
    expect(asked.status).toBe(0);
    expect(asked.stdout).toContain('- Name: Ada');
    expect(asked.stdout).toContain('- Favorite Integer: 42');
  });

  test('returns an image, drawn as a line', async () => {
    const { status, stdout } = await runHere(words('get-tiny-image'));
    expect(status).toBe(0);
    expect(stdout).toMatch(/\[image: image\/png, \d+ bytes\]/);
  });
});
