import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { openHere } from '../screen/support/screen-here.js';
import { temporaryFolder } from './support/folder.js';
import { runHere, startHere } from './support/in-process.js';
import { resultFor, startTool } from './support/own-tool.js';
import { argv, runShell, shellLine } from './support/program.js';

/** What new users meet in their first hour: wrong URLs, missing tokens, long outputs. */

async function serving(listener: RequestListener, host = '127.0.0.1') {
  const server = createServer(listener).listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

/** The tool of every test that needs one; `late` answers, and sends a second result after that. */
const openTool = () =>
  startTool({
    shout: { callbacks: call => [resultFor(call, 'HI')] },
    silent: {},
    late: { callbacks: call => [resultFor(call, 'one'), resultFor(call, 'two')] },
    long: { callbacks: call => [resultFor(call, `${'x'.repeat(10_000)}\n`)] },
    throttled: { status: 429, headers: { 'retry-after': '30' }, body: 'slow down' },
    locked: { status: 401 },
    moved: { status: 308, headers: { location: '/invoke/' } },
  });

describe.concurrent('messages', () => {
  test('a URL that answers 200 with an empty body may be the endpoint', async () => {
    await using server = await serving((_, response) => response.end());
    const { status, stderr } = await runHere(argv`invoke ${server.url}/invoke shout text=hi`);
    expect(status).toBe(4);
    expect(stderr).toContain('/invoke/.well-known/rap-toolset answered 200 with an empty body');
    expect(stderr).toMatch(/^hint: This may be the endpoint: give the base URL .* or add --endpoint\.$/m);
  });

  test.each([
    ['locked', /^hint: Give a token with --bearer/m],
    ['moved', /it redirects to \/invoke\/, with a slash at the end/],
    ['throttled', /Retry-After: 30; slow down[\s\S]*hint: The tool limits the rate of calls; wait/],
  ])('the refusal of %s says what to do', async (operation, said) => {
    await using tool = await openTool();
    const { status, stderr } = await runHere(argv`invoke ${tool.url} ${operation}`);
    expect(status).toBe(4);
    expect(stderr).toMatch(said);
  });

  test('a token with a line break is an error of usage', async () => {
    const { status, stderr } = await runHere(['invoke', ':1', 'shout', '--bearer', 'secret\n']);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: --bearer: the token contains characters .*line break\n/);
    expect(stderr).not.toContain('secret');
  });

  test('--timeout also limits the start of a server', async () => {
    const command = `'${process.execPath}' -e 'setTimeout(() => {}, 60000)'`;
    const { status, stderr } = await runHere(['invoke', '--command', command, 'shout', '--timeout', '200ms']);
    expect(status).toBe(4);
    expect(stderr).toContain('it was not ready within 200ms');
  });

  test('localhost reaches a server that listens on ::1 only', async () => {
    await using server = await serving((_, response) => response.writeHead(404).end(), '::1');
    const { stderr } = await runHere(['toolset', `http://localhost:${server.port}`]);
    expect(stderr).toContain('answered 404');
  });

  test('an unknown file gets a short hint', async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write('x.json', '{"a":1}');
    const { status, stderr } = await runHere(['render', file]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/unrecognized format/);
    expect(stderr.length).toBeLessThan(400);
  });
});

describe.concurrent('what is printed', () => {
  test('an acknowledgement with OK is no warning; -v notes it', async () => {
    await using tool = await startTool({
      ok: { body: 'OK', callbacks: call => [resultFor(call, '⚠\uFE0F done')] },
    });
    expect((await runHere(argv`invoke ${tool.url} ok`)).stderr).not.toMatch(/body|invisible/);
    const { stderr } = await runHere(argv`invoke ${tool.url} ok -v`);
    expect(stderr).toContain('* note: no runtime reads the body of an acknowledgement\n');
  });

  test('render cuts long lines in a pipe, unless --full', async () => {
    await using tool = await openTool();
    await using folder = await temporaryFolder();
    const file = folder.file('run.ndjson');
    await runHere(argv`invoke ${tool.url} long --save ${file} -q`);
    const longest = ({ stdout }: { readonly stdout: string }) =>
      Math.max(...stdout.split('\n').map(line => line.length));
    expect(longest(await runHere(['render', file]))).toBeLessThan(4_100);
    expect(longest(await runHere(['render', file, '--full']))).toBe(10_000);
  });

  test('a second result is seen on a terminal without --linger', async () => {
    await using tool = await openTool();
    await using screen = openHere(['invoke', tool.url, 'late', '-o', 'plain']);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/second|duplicate|another/i);
  });

  test('2>&1: the error begins a new line', async () => {
    await using tool = await openTool();
    const { stdout } = await runShell(`${shellLine(['invoke', tool.url, 'silent', '--timeout', '3s'])} 2>&1`);
    expect(stdout).toMatch(/\n(?:warning|error): /);
    expect(stdout).not.toMatch(/[^\n](?:warning|error): timed out/);
  });

  test('toolset of one operation shows its arguments, and a call to paste', async () => {
    const { status, stdout } = await runHere(['toolset', '--demo', 'deploy']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^deploy {2}/);
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^protocol-cli invoke --demo deploy \w+=/);
    expect((await runHere(['toolset', '--demo', 'deplo'])).stderr).toContain('Did you mean "deploy"?');
    const json = await runHere(['toolset', '--demo', 'deploy', '-o', 'json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ name: 'deploy' });
  });

  test('lines of the mock are printed when the command has ended; with -o plain at once', async () => {
    await using folder = await temporaryFolder();
    const marker = folder.file('goes-on');
    // The command ends when the marker exists.
    const waiting = `${shellLine(['invoke'])} $TOOL_URL edit_file path=a -q >&2; until test -e ${marker}; do sleep 0.1; done`;
    const command = ['--', 'sh', '-c', waiting];
    const [held, live] = [[], ['-o', 'plain']].map(options =>
      startHere(['mock-tool', '--demo', ...options, ...command]),
    );
    await live?.prints(/edit_file .*tool_result delivered/);
    await writeFile(marker, '');
    await Promise.all([held?.ended, live?.ended]);
    expect(held?.stderr()).toMatch(/edit_file .*tool_result delivered[\s\S]*verification failed/);
  });
});

describe.concurrent('help', () => {
  test('a guide on a terminal is styled and fits its width; in a pipe it is Markdown', async () => {
    await using screen = openHere(['help', 'protocol'], { columns: 60, rows: 600 });
    await screen.shows('What the runtime sends later');
    expect(screen.text()).not.toContain('```');
    expect(screen.text()).not.toMatch(/^#/m);
    expect((await runHere(['help', 'protocol'])).stdout).toMatch(/^# .*\n[\s\S]*```/);
  });

  test('help of a subcommand', async () => {
    const { stdout } = await runHere(['help', 'session', 'mock']);
    expect(stdout).toMatch(/^Usage: protocol-cli session mock /);
  });
});
