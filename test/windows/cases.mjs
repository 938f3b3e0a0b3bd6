import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROGRAM, ROOT, runProgram, startProgram, windowsPath } from './wine.mjs';

const shipped = path => windowsPath(join(ROOT, path));
const DEMO = `node ${PROGRAM} mock-tool --demo`;
const LIST = ['list_instances', '-o', 'text'];
/** Wine starts slowly beside other work. */
const PATIENT = ['--ready-timeout', '5m', '--timeout', '5m'];
const INSTANCES = /^\{"instances":/;

/** Checks status and texts. */
async function expectRun(words, options, { status = 0, stdout, stderr }) {
  const ended = await runProgram(words, options);
  const shown = `${words.join(' ')}\nstatus ${ended.status}\n${ended.stdout}\n${ended.stderr}`;
  assert.equal(ended.status, status, shown);
  if (stdout) assert.match(ended.stdout, stdout, shown);
  if (stderr) assert.match(ended.stderr, stderr, shown);
  return ended;
}

const file = async (folder, name, text) => {
  await writeFile(join(folder, name), text);
  return windowsPath(join(folder, name));
};

/** Waits until a text is there. */
async function untilPrinted(read, pattern) {
  for (let tries = 0; tries < 600; tries++) {
    if (pattern.test(await read())) return;
    await sleep(100);
  }
  throw new Error(`not printed: ${pattern}\n${await read()}`);
}

const REPORT = 'console.log(JSON.stringify([Boolean(process.env.TOOL_URL), ...process.argv.slice(2)]))';

/** Each starts the program on Windows, and fails if a process is left. @type {Record<string, (folder: string) => Promise<unknown>>} */
export const CASES = {
  version: cwd => expectRun(['--version'], { cwd }, { stdout: /^\d+\.\d+\.\d+/ }),
  'help of a guide': cwd => expectRun(['help', 'mocks'], { cwd }, { stdout: /mock-tool/ }),
  'invoke --demo': cwd => expectRun(['invoke', '--demo', ...LIST], { cwd }, { stdout: INSTANCES }),
  'toolset --demo': cwd => expectRun(['toolset', '--demo'], { cwd }, { stdout: /list_instances/ }),
  'invoke --command, a plain line': cwd =>
    expectRun(['invoke', '--command', DEMO, ...LIST, ...PATIENT], { cwd }, { stdout: INSTANCES }),
  'invoke --command, a quoted path with spaces': async cwd => {
    const program = JSON.stringify(`file:///${shipped('dist/cli.js').replaceAll('\\', '/')}`);
    const source = `import { main } from ${program};\nmain(['mock-tool', '--demo'], '0.0.0');\n`;
    const command = `node "${await file(cwd, 'my server.mjs', source)}"`;
    await expectRun(['invoke', '--command', command, ...LIST, ...PATIENT], { cwd }, { stdout: INSTANCES });
  },
  /** Wine's taskkill knows no descendants. */
  'invoke --command, a line for cmd (Wine leaves its server running)': cwd =>
    expectRun(
      ['invoke', '--command', `echo starting&& ${DEMO}`, ...LIST, ...PATIENT],
      { cwd },
      { stdout: INSTANCES },
    ),
  'invoke --command, a program that is missing': cwd =>
    expectRun(
      ['invoke', '--command', 'no-such-program --port 0', ...LIST],
      { cwd },
      { status: 4, stderr: /no-such-program/ },
    ),
  'invoke --command --watch': async cwd => {
    const path = await file(cwd, 'tool.yaml', fixtures('one'));
    const command = `node ${PROGRAM} mock-tool "${path}"`;
    const { stdout, stderr, ended, kill } = await startProgram(
      ['invoke', '--command', command, '--watch', 'say', '-o', 'text', ...PATIENT],
      { cwd },
    );
    await untilPrinted(stdout, /one/);
    await untilPrinted(stderr, /waiting for a change/);
    await writeFile(join(cwd, 'tool.yaml'), fixtures('two'));
    await untilPrinted(stdout, /two/);
    kill();
    await ended;
  },
  'a hard end during a call': async cwd => {
    const path = await file(cwd, 'tool.yaml', fixtures('late', '1h'));
    const command = `node ${PROGRAM} mock-tool "${path}"`;
    const { stderr, ended, kill } = await startProgram(
      ['invoke', '--command', command, 'say', '-v', ...PATIENT],
      {
        cwd,
      },
    );
    await untilPrinted(stderr, /say/);
    kill();
    await ended;
  },
  'quotes that cmd does not know': cwd =>
    expectRun(
      ['invoke', '--command', "'node", "server.mjs'", ...LIST],
      { cwd },
      { status: 4, stderr: /hint: cmd takes single quotes for ordinary characters/ },
    ),
  'a name that is a hidden stream': cwd =>
    expectRun(
      ['invoke', '--demo', ...LIST, '--save', 'run:1.ndjson'],
      { cwd },
      { status: 2, stderr: /cannot write run:1\.ndjson: on Windows a name cannot have a colon/ },
    ),
  'a dry run for cmd': cwd =>
    expectRun(
      ['invoke', '--demo', ...LIST.slice(0, 1), 'state=running', '--dry-run'],
      { cwd },
      { stdout: /^curl -X POST \^$[\s\S]*\^"operation\\\^": \\\^"list_instances/m },
    ),
  'check --command': cwd =>
    expectRun(
      [
        'check',
        '--command',
        `node ${shipped('test/peers/plain-tool.mjs')}`,
        '--reporter',
        'json',
        '--ready-timeout',
        '5m',
      ],
      { cwd },
      { stdout: /"checks"|"rules"|"verdict"/ },
    ),
  'check --runtime, every scenario of the sample': cwd =>
    expectRun(
      ['check', '--runtime', `node ${shipped('fixtures/runtimes/node/driver.mjs')}`],
      { cwd },
      { stdout: /passed/ },
    ),
  'toolset --mcp, a command': cwd =>
    expectRun(['toolset', '--mcp', `${DEMO} --mcp stdio`], { cwd }, { stdout: /list_instances/ }),
  'invoke --mcp, a command': cwd =>
    expectRun(['invoke', '--mcp', `${DEMO} --mcp stdio`, ...LIST], { cwd }, { stdout: INSTANCES }),
  'invoke --mcp, a program that is missing': cwd =>
    expectRun(
      ['invoke', '--mcp', 'no-such-program', ...LIST],
      { cwd },
      { status: 4, stderr: /no-such-program/ },
    ),
  'rap.json: a command, and words of an MCP server': async cwd => {
    await mkdir(join(cwd, '.infinity'));
    const entries = [
      { type: 'toolset_command', command: DEMO },
      {
        type: 'mcp_server',
        name: 'files',
        command: ['node', PROGRAM, 'mock-tool', '--demo', '--mcp', 'stdio'],
      },
    ];
    await file(cwd, '.infinity/rap.json', JSON.stringify({ tool_sets: entries }));
    await expectRun(['toolset', '--yes'], { cwd }, { stdout: /list_instances[\s\S]*list_instances/ });
  },
  'mock-tool -- a program': async cwd => {
    const script = await file(cwd, 'test.mjs', REPORT);
    await expectRun(
      ['mock-tool', '--demo', '--', 'node', script, 'a b', '%PATH%', '&x'],
      { cwd },
      { status: 1, stdout: /^\[true,"a b","%PATH%","&x"\]/, stderr: /verification failed/ },
    );
  },
  'mock-tool -- a program that fails': cwd =>
    expectRun(['mock-tool', '--demo', '--', 'node', '-e', 'process.exit(7)'], { cwd }, { status: 7 }),
  'mock-tool -- a script (.cmd)': async cwd => {
    await file(cwd, 'tests.cmd', `@node -e "console.log('tool', Boolean(process.env.TOOL_URL))"\r\n`);
    await expectRun(['mock-tool', '--demo', '--', 'tests'], { cwd }, { status: 1, stdout: /tool true/ });
  },
  'session mock -- a program': cwd =>
    expectRun(
      ['session', 'mock', '--', 'node', '-e', 'console.log(Object.keys(process.env).join())'],
      { cwd },
      { status: 1, stdout: /SESSION_URL/ },
    ),
  'files with CRLF and a drive letter': async cwd => {
    const path = await file(cwd, 'tool.yaml', fixtures('crlf').replaceAll('\n', '\r\n'));
    const saved = windowsPath(join(cwd, 'run.ndjson'));
    const command = `node ${PROGRAM} mock-tool "${path}"`;
    await expectRun(
      ['invoke', '--command', command, 'say', '-o', 'text', '--save', saved, ...PATIENT],
      { cwd },
      { stdout: /^crlf/ },
    );
    assert.match(await readFile(join(cwd, 'run.ndjson'), 'utf8'), /crlf/);
    await expectRun(['render', saved], { cwd }, { stdout: /say/ });
    await expectRun(['check', saved], { cwd }, { stdout: /passed/ });
  },
};

function fixtures(text, delay = '0') {
  return `version: 1\nfixtures:\n  - match: { operation: say }\n    reply: { delay: ${delay}, payload: ${text} }\n`;
}
