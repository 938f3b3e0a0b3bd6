import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRunning } from '../support/is-running.js';
import { startServing } from '../support/serving.js';
import { eventually } from './support/eventually.js';
import { temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { freePort, logOf, MCP_PEER, startMcpPeer, startSdkPeer } from './support/mcp.js';
import { type Peer, peerCommand, startPeer } from './support/peers.js';
import { argv, run, start } from './support/program.js';
import { invokeJsonHere, warningsOf } from './support/report.js';

/** The ways to say which tool is meant. */
let plain: Peer;
let stdlib: Peer;

beforeAll(async () => {
  [plain, stdlib] = await Promise.all([startPeer('plain'), startPeer('stdlib')]);
});
afterAll(() => Promise.all([plain.stop(), stdlib.stop()]));

it.concurrent('a URL may have a query', async () => {
  const ended = await runHere(argv`invoke ${plain.url}/?a=b#c echo text=found`);
  expect(ended).toMatchObject({ status: 0, stdout: 'found' });
});

describe.concurrent('a URL that is not a RAP tool', () => {
  const page = (status: number) => (response: ServerResponse) =>
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end('<!doctype html><h1>Hi');

  it.each([200, 404])('a web page that is answered with %i', async status => {
    await using server = await startServing(page(status));
    for (const command of [
      ['invoke', server.url, 'echo'],
      ['toolset', server.url],
      ['check', server.url],
    ]) {
      const ended = await runHere(command);
      expect([ended.status, ended.stdout]).toEqual([4, '']);
      expect(ended.stderr).toContain(
        `error: no discovery document: ${server.url}.well-known/rap-toolset answered ${status} with text/html\n` +
          'hint: This is a web page, not a RAP tool. ',
      );
    }
  });

  it('--timeout limits discovery', async () => {
    await using server = await startServing(() => {});
    const { port } = new URL(server.url);
    for (const command of [
      ['invoke', `:${port}`, 'echo'],
      ['migrate', `:${port}`, 'session_1', 'http://127.0.0.1:1'],
      ['session', 'answer', 'http://127.0.0.1:1', 'session_1', '--tool', server.url],
    ]) {
      const { status, stderr } = await runHere([...command, '--timeout', '150ms'], { env: { API_KEY: 'k' } });
      const said = /: no answer within 150 ms\nhint: The tool accepted the connection but did not answer\.$/m;
      expect([status, stderr]).toEqual([4, expect.stringMatching(said)]);
    }
  });

  it.each([502, 503, 504])('the proxy before the tool answers %i', async status => {
    await using server = await startServing(status);
    const { stderr } = await runHere(['toolset', server.url]);
    expect(stderr).toMatch(/\nhint: A proxy or recorder at this address cannot reach the tool\. /);
  });

  it('its transcript shows what was asked and answered', async () => {
    await using server = await startServing(page(200));
    await using folder = await temporaryFolder();
    const file = folder.file('wrong.ndjson');
    await runHere(['invoke', server.url, 'echo', '--save', file]);
    const { status, stdout } = await runHere(['render', file]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/MESSAGES\n.*→ GET \S+rap-toolset discovery {2}answered 200 21\s+bytes/);
    expect(stdout).toContain('<!doctype html>');
  });
});

describe.concurrent('--demo', () => {
  it('alone shows a diff, in this process', async () => {
    const { report, status } = await invokeJsonHere(['--demo']);
    expect(status).toBe(0);
    expect(report).toMatchObject({
      invocation: { operation: 'edit_file' },
      llm: { text: 'Replaced text in src/main.rs' },
      display: { chosen: 0, type: 'diff' },
    });
    expect(warningsOf(report)).toEqual([]);
  });

  it('has readOnly operations only', async () => {
    const { stdout } = await runHere(argv`toolset --demo -o json`);
    const tools: { annotations?: { readOnly?: boolean } }[] = JSON.parse(stdout).tools;
    expect(tools.map(({ annotations }) => annotations?.readOnly)).toEqual(Array(8).fill(true));
  });
});

describe.concurrent('--command', () => {
  it.each(['plain', 'odd', 'stdlib'] as const)(
    '%s: is started with RAP_EMBEDDED=1 and stopped afterwards',
    async name => {
      await using folder = await temporaryFolder();
      const command = `echo "$RAP_EMBEDDED $$" > '${folder.file('seen')}'; exec ${peerCommand(name)}`;
      const call = name === 'odd' ? ['no_display'] : ['echo', 'text=a'];
      const { status, stderr } = await runHere(argv`invoke --command ${command} ${call}`, pathToPython());
      expect(status, stderr.slice(0, 300)).toBe(0);
      const [embedded, pid] = (await readFile(folder.file('seen'), 'utf8')).trim().split(' ');
      expect(embedded).toBe('1');
      expect(isRunning(Number(pid))).toBe(false);
    },
  );

  it('what the command started is stopped too, also after an interruption', async () => {
    await using folder = await temporaryFolder();
    const command = `echo $$ > '${folder.file('shell')}'; ${peerCommand('odd')} & echo $! > '${folder.file('tool')}'; wait`;
    const { child, ended } = start(argv`invoke --command ${command} silent --timeout 0 -v`);
    const sent = new Promise(resolve =>
      child.stderr.on('data', text => /^> POST/m.test(String(text)) && resolve(0)),
    );
    await sent;
    child.kill('SIGINT');
    expect((await ended).status).toBe(130);
    for (const name of ['shell', 'tool']) {
      const pid = Number(await readFile(folder.file(name), 'utf8'));
      await eventually(`${name} is gone`, () => !isRunning(pid));
    }
  });

  it.each([
    ['toolset', []],
    ['invoke', ['silent', '--dry-run']],
  ] as const)('%s %j: is stopped also if interrupted before it is ready', async (name, rest) => {
    await using folder = await temporaryFolder();
    const command = `echo $$ > '${folder.file('pid')}'; exec sleep 60`;
    const { child, ended } = start(argv`${name} --command ${command} ${rest}`);
    const pid = await eventually('it is started', async () => {
      const text = await readFile(folder.file('pid'), 'utf8').catch(() => '');
      return Number(text) || undefined;
    });
    child.kill('SIGINT');
    expect((await ended).status).toBe(130);
    expect(isRunning(pid)).toBe(false);
  });

  it('with the URL of its server: waits until it answers there, whatever it prints', async () => {
    const port = await freePort();
    const serve = `require("http").createServer((_, response) => response.end()).listen(${port}, "127.0.0.1")`;
    const other = `echo banner; sleep 0.2; '${process.execPath}' -e '${serve}'`;
    const { stderr } = await runHere(argv`toolset :${port} --command ${other}`);
    expect(stderr).toContain(`http://127.0.0.1:${port}`); // it answered, and its empty answer is no toolset
    expect(stderr).not.toContain('did not start');
  });

  it('with the URL of a server that runs already: exit 2, since that one would be called', async () => {
    const { status, stderr } = await runHere(argv`toolset ${plain.url} --command ${peerCommand('plain')}`);
    expect(stderr).toContain(`${plain.url} answers before --command was started`);
    expect(status).toBe(2);
  });

  it.each([
    ['that ends', 'echo broken >&2; exit 3', [/did not start/, /status 3/, /broken/]],
    ['that says no port', 'echo hello', [/the line "hello"/, /\{"port":3001\}/]],
    ['that cannot be found', 'no-such-program-anywhere', [/Its program or a file of it was not found/]],
  ])('%s: exit 4, with its output', async (_, command, says) => {
    const { status, report } = await invokeJsonHere(argv`--command ${command} echo`);
    expect(status).toBe(4);
    expect(report.error?.code).toBe('command-failed');
    const { message, hint, faults = [] } = report.error ?? {};
    for (const saying of says) expect([message, hint, ...faults].join('\n')).toMatch(saying);
  });
});

describe.concurrent('.infinity/rap.json', () => {
  const server = (peer: Peer) => ({ type: 'toolset_server', server_url: peer.url });

  async function configured(tool_sets: readonly object[]) {
    const folder = await temporaryFolder();
    await mkdir(folder.file('.infinity'));
    await writeFile(join(folder.path, '.infinity', 'rap.json'), JSON.stringify({ tool_sets }));
    return folder;
  }

  it("the project's servers are listed", async () => {
    await using project = await configured([server(plain), server(stdlib)]);
    const here = { cwd: project.path };
    const [fromPlain, fromStdlib] = await Promise.all([
      runHere(argv`invoke slow ms=1`, here),
      runHere(argv`invoke view`, here),
    ]);
    expect(fromPlain).toMatchObject({ status: 0, stdout: 'Finished after 1 ms' });
    expect(fromStdlib).toMatchObject({ status: 0, stdout: 'View updated' });
  });

  it('without one, those of the home folder', async () => {
    await using home = await configured([server(plain)]);
    await using project = await temporaryFolder();
    const ended = await run(argv`invoke echo text=home`, { cwd: project.path, env: { HOME: home.path } });
    expect(ended).toMatchObject({ status: 0, stdout: 'home' });
  });

  it('a toolset_command is started in the .infinity folder, and stopped', async () => {
    await using folder = await temporaryFolder();
    const command = `pwd > '${folder.file('pwd')}'; echo $$ > '${folder.file('pid')}'; exec ${peerCommand('plain')}`;
    await using project = await configured([{ type: 'toolset_command', command }]);
    const ended = await runHere(argv`invoke echo text=a --yes`, { cwd: project.path });
    expect(ended).toMatchObject({ status: 0, stdout: 'a' });
    const pwd = (await readFile(folder.file('pwd'), 'utf8')).trim();
    expect(pwd).toBe(join(await realpath(project.path), '.infinity'));
    expect(isRunning(Number(await readFile(folder.file('pid'), 'utf8')))).toBe(false);
  });

  it.each([['invoke', 'echo', 'text=a'], ['toolset']])(
    'a toolset_command is not started without a question: %s',
    async (...args) => {
      await using folder = await temporaryFolder();
      const command = `touch '${folder.file('started')}'`;
      await using project = await configured([{ type: 'toolset_command', command }]);
      const { status, stderr } = await runHere(args, { cwd: project.path });
      expect([status, stderr]).toEqual([6, expect.stringContaining('--yes')]);
      await expect(readFile(folder.file('started'))).rejects.toThrow('ENOENT');
    },
  );

  it('RT-TOOLSET: an operation of two toolsets is not available', async () => {
    await using project = await configured([server(plain), server(stdlib)]);
    const { status, report } = await invokeJsonHere(argv`echo text=a`, { cwd: project.path });
    expect(status).toBe(2);
    expect(report.error).toMatchObject({
      code: 'unknown-operation',
      message: expect.stringMatching(/"echo" is defined by 2 toolsets, so neither is used/),
    });
  });

  it('without an operation, lists all of them', async () => {
    await using project = await configured([server(plain), server(stdlib)]);
    const { status, stderr } = await runHere(['invoke'], { cwd: project.path });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: no operation given\. Available: .*slow.*delete_all/);
    const one = await runHere(argv`invoke ${plain.url}`);
    expect([one.status, one.stderr]).toEqual([
      2,
      expect.stringMatching(/no operation given\. Available: .*slow/),
    ]);
    expect(one.stderr).not.toContain('delete_all');
  });

  it('an empty list: toolset says so, invoke fails', async () => {
    await using project = await configured([]);
    const here = { cwd: project.path };
    const listed = await runHere(['toolset'], here);
    expect([listed.status, listed.stdout]).toEqual([0, '']);
    expect(listed.stderr).toMatch(/^no tool servers are configured in .*rap\.json$/m);
    const { status, stderr } = await runHere(argv`invoke echo`, here);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: no tool servers are configured/);
  });

  it('toolset lists the reachable servers, then fails', async () => {
    const dead = { type: 'toolset_server', server_url: 'http://127.0.0.1:1' };
    await using project = await configured([dead, server(plain)]);
    const { stdout, stderr, status } = await runHere(['toolset'], { cwd: project.path });
    expect(stdout).toMatch(/^plain-tool/m);
    expect(stderr).toContain('http://127.0.0.1:1');
    expect(status).toBe(4);
  });

  describe('MCP servers are offered as toolsets', () => {
    const stdio = (log: string) => ({
      type: 'mcp_server',
      name: 'files',
      command: [process.execPath, MCP_PEER, '--log', log],
    });

    it('over stdio: listed, called, stopped', async () => {
      await using folder = await temporaryFolder();
      await using project = await configured([stdio(folder.file('log')), server(plain)]);
      const here = { cwd: project.path };
      const listed = await runHere(argv`toolset --yes`, here);
      expect(listed.stdout).toMatch(/^files/m);
      expect(listed.stdout).toMatch(/^plain-tool/m);
      expect(listed.stdout).toMatch(/^structured/m);
      const called = await runHere(argv`invoke structured --yes`, here);
      expect(called).toMatchObject({ status: 0, stdout: '{"count":2,"names":["a","b"]}' });
      const failed = await runHere(argv`invoke fails --yes -o json`, here);
      expect(failed.status).toBe(5);
      expect(JSON.parse(failed.stdout).llm.text).toBe('Error: the disk is full');
      const pids = (await logOf(folder.file('log'))).flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
      expect(pids.filter(pid => isRunning(Number(pid)))).toEqual([]);
    });

    it('over HTTP, with the headers of its entry', async () => {
      await using folder = await temporaryFolder();
      await using mcp = await startMcpPeer('--log', folder.file('log'));
      const headers = { authorization: 'Bearer canary-1234' };
      const entry = { type: 'http_mcp_server', name: 'web', url: mcp.url, headers };
      await using project = await configured([entry]);
      const called = await runHere(argv`invoke echo text=hi -v`, { cwd: project.path });
      expect(called).toMatchObject({ status: 0, stdout: 'hi' });
      expect(called.stderr).not.toContain('canary');
      expect(JSON.stringify(await logOf(folder.file('log')))).toContain('canary-1234');
    });

    it('the tools of each server have the names of the reference runtime too, so that a name may come twice', async () => {
      const entry = (name: string) => ({ ...stdio('/dev/null'), name });
      const other = { ...entry('other'), env: { A: '1' } };
      await using project = await configured([entry('files'), entry('same'), other]);
      const here = { cwd: project.path };
      const twice = await runHere(argv`invoke echo text=a --yes`, here);
      expect(twice.status).toBe(2);
      expect(twice.stderr).toContain('"echo" is defined by 2 toolsets, so neither is used (RT-TOOLSET)');
      expect(twice.stderr).toMatch(/hint: Name the server: --mcp '.*mcp-server\.mjs.*, or --mcp '/);
      const listed = await runHere(argv`invoke files_list_tools --yes`, here);
      expect(JSON.parse(listed.stdout)).toContainEqual(expect.objectContaining({ name: 'echo' }));
      const args = '{"tool_name":"echo","arguments":{"text":"b"}}';
      const called = await runHere(argv`invoke other_invoke_tool --args ${args} --yes`, here);
      expect(called).toMatchObject({ status: 0, stdout: 'b' });
      const unknown = await runHere(argv`invoke other_invoke_tool tool_name=ech --yes`, here);
      expect(unknown.stdout).toMatch(/^Error: no tool "ech"; the tools are: echo, fails/);
    });

    it('a server that speaks MCP, and not RAP: the hints name --mcp', async () => {
      const started = await runHere(argv`invoke --command ${[process.execPath, MCP_PEER].join(' ')} echo`);
      expect(started.stderr).toMatch(/^hint: .*For an MCP server, use invoke --mcp\.$/m);
      await using mcp = await startMcpPeer();
      for (const args of [argv`invoke ${mcp.url} echo`, argv`toolset ${mcp.url}`])
        expect((await runHere(args)).stderr).toMatch(/^hint: .*For an MCP server, use --mcp\.$/m);
    });

    it('questions of a server are asked', async () => {
      await using sdk = await startSdkPeer();
      await using project = await configured([{ type: 'http_mcp_server', name: 'sdk', url: sdk.url }]);
      for (const [operation, options, expected, says] of [
        ['pick', ['--choose', 'Large'], 0, /"action":"accept".*"size":"l"/],
        ['pick', ['--choose', 'decline'], 0, /"action":"decline"/],
        ['pick', [], 6, /Answer with --choose <index, label or default>: 0 Small/],
        ['form', ['--choose', '{"name":"Ada"}'], 5, /needs name: .*Call the tool with invoke --mcp/],
      ] as const) {
        const { status, stdout, stderr } = await runHere(argv`invoke ${operation} ${options}`, {
          cwd: project.path,
        });
        expect([status, stdout + stderr]).toEqual([expected, expect.stringMatching(says)]);
      }
    });

    it('a command is not started without a question', async () => {
      await using project = await configured([stdio('/dev/null')]);
      const { status, stderr } = await runHere(['toolset'], { cwd: project.path });
      expect([status, stderr]).toEqual([6, expect.stringContaining('--yes')]);
    });
  });
});

/** A shim of pyenv looks for its home. */
function pathToPython() {
  return { env: { HOME: process.env['HOME'] ?? '' } };
}
