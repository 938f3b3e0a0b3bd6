import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS, GUIDES } from '../../src/commands/command-line.js';
import { REQUIREMENT_IDS } from '../../src/protocol/requirements.js';
import { LIMITS } from '../../src/util/limits.js';
import { type Folder, temporaryFolder } from '../e2e/support/folder.js';
import { runHere } from '../e2e/support/in-process.js';
import { type OwnTool, resultFor, startTool } from '../e2e/support/own-tool.js';
import { shellLine } from '../e2e/support/program.js';

/** What the scripts of the shells ask for; test/screen/completion.test.ts presses the tab key in real shells. */

const FILE = 'protocol-cli/operations.json';

let cache: Folder;
let tool: OwnTool;

beforeAll(async () => {
  cache = await temporaryFolder();
  tool = await startTool({
    edit_file: {
      inputSchema: { properties: { path: {}, mode: {}, 'a b': {}, '$(x)': {} } },
      callbacks: invocation => [resultFor(invocation, 'done')],
    },
    '--yes': { inputSchema: {} },
  });
  const { status } = await runHere(['toolset', `${tool.url}/base`], environment(cache));
  expect(status).toBe(0);
  expect((await runHere(['toolset', '--demo'], environment(cache))).status).toBe(0);
  const mcp = ['toolset', '--mcp', shellLine(['mock-tool', '--mcp', 'stdio'])];
  expect(await runHere(mcp, environment(cache))).toMatchObject({ status: 0 });
});

afterAll(() => Promise.all([cache[Symbol.asyncDispose](), tool[Symbol.asyncDispose]()]));

const environment = (folder: Folder) => ({ env: { XDG_CACHE_HOME: folder.path } });

/** The candidates at the end of a line. */
async function candidates(line: string): Promise<string[]> {
  const words = ['completion', 'bash', '--line', line];
  const { status, stdout } = await runHere(words, { ...environment(cache), cwd: process.cwd() });
  expect(status).toBe(0);
  const rows = stdout.split('\n').slice(0, -1);
  for (const row of rows) expect(row).toMatch(/^[^\t]+\t[^\t]*$/);
  return rows.map(row => row.split('\t')[0] ?? '');
}

describe('completion', () => {
  test('names commands, and what help is about', async () => {
    const commands = COMMANDS.map(({ name }) => name);
    expect(await candidates('protocol-cli ')).toEqual([...commands, 'help']);
    expect(await candidates('protocol-cli help ')).toEqual([...commands, ...GUIDES.map(({ name }) => name)]);
    expect(await candidates('protocol-cli session ')).toEqual(['mock', 'answer']);
  });

  test('names the rules', async () => {
    for (const option of ['--only', '--skip', '--spec'])
      expect((await candidates(`protocol-cli check ${option} `)).toSorted()).toEqual(
        REQUIREMENT_IDS.toSorted(),
      );
  });

  test.each([
    ['protocol-cli che', ['check']],
    ['FOO=1 env ./bin/protocol-cli rec', ['record']],
    ['protocol-cli check --prob', ['--probe-timeout']],
    ['protocol-cli check -q --no-color --scenario status-', ['status-500', 'status-503']],
    ['protocol-cli check --only TOOL-ACK --only tool', []],
    ['protocol-cli check --reporter=m', ['--reporter=markdown']],
    ['protocol-cli check --model ', ['anthropic', 'openai']],
    ['protocol-cli check --runtime --mod', ['--model']],
    [
      'protocol-cli mock-tool fixtures/examples/o',
      ['fixtures/examples/oauth.yaml', 'fixtures/examples/outcomes.yaml'],
    ],
    ['protocol-cli check --cases fixtures/cas', ['fixtures/cases/', 'fixtures/cases.schema.json']],
    ['protocol-cli session mock -o nd', ['ndjson']],
    ['protocol-cli init tool --language ', ['node', 'python', 'go']],
    ['protocol-cli mock-tool -- che', []],
    ['protocol-cli no-such-command ', []],
    ['protocol-cli help check ', []],
    ['protocol-cli invoke http:// ', []],
  ])('%s', async (line, expected) => {
    expect((await candidates(line)).toSorted()).toEqual(expected.toSorted());
  });

  test('names operations and arguments of the server on the line, without those that a shell could run', async () => {
    const { host } = new URL(tool.url);
    for (const server of [tool.url, host, `"${tool.url}/else?x=y"`, `'${host}'`]) {
      expect(await candidates(`protocol-cli invoke ${server} `)).toEqual(['edit_file']);
      expect(await candidates(`protocol-cli invoke -o json ${server} edit_file `)).toEqual([
        'path=',
        'mode=',
      ]);
      expect(await candidates(`protocol-cli invoke ${server} edit_file path='a b' `)).toEqual(['mode=']);
    }
    expect(await candidates(`protocol-cli check ${host} --operation `)).toEqual(['edit_file']);
    expect(await candidates(`protocol-cli toolset ${host} edit_file `)).toEqual([]);
    expect(await candidates('protocol-cli invoke --demo edit_file ')).toEqual(['path=']);
    const mcp = `--mcp "${shellLine(['mock-tool', '--mcp', 'stdio'])}"`;
    expect(await candidates(`protocol-cli invoke ${mcp} edit_file `)).toEqual(['path=']);
    expect(await candidates('protocol-cli invoke :1 ')).toEqual([]);
    expect(await candidates('protocol-cli record http')).toEqual([tool.url]);
  });
});

describe('the names that are kept', () => {
  test('are private, and have no path of a URL, no values and no commands', async () => {
    await using folder = await temporaryFolder();
    const call = ['invoke', `${tool.url}/base`, 'edit_file', 'path=secret.txt'];
    expect(await runHere([...call, '--bearer', 'mode'], environment(folder))).toMatchObject({ status: 0 });
    const command = `node ${join(process.cwd(), 'fixtures/init/tool/node/tool.mjs')}`;
    const options = { env: { XDG_CACHE_HOME: folder.path, PORT: '0' } };
    expect((await runHere(['toolset', '--command', command], options)).status).toBe(0);
    const only = ['--only', 'TOOL-DISCOVER'];
    await runHere(['check', '--command', `PORT=0 ${command}`, ...only], options);
    expect((await stat(folder.file(FILE))).mode & 0o777).toBe(0o600);
    expect((await stat(folder.file('protocol-cli'))).mode & 0o777).toBe(0o700);
    const digest = expect.stringMatching(/^command [\da-f]{16}$/);
    expect(JSON.parse(await readFile(folder.file(FILE), 'utf8'))).toEqual([
      [digest, [['shout', ['text']]]],
      [digest, [['shout', ['text']]]],
      [tool.url, [['edit_file', ['path']]]], // `mode` is the token, which a server may repeat
    ]);
  });

  test('are bounded: so many of a server, and 20 servers', async () => {
    await using folder = await temporaryFolder();
    const { value } = LIMITS.keptNames;
    const args = Array.from({ length: 10 }, (_, index) => [`arg${index}`, {}]);
    const operations = Array.from({ length: value }, (_, index) => [
      `operation_${index}`,
      { inputSchema: { properties: Object.fromEntries(args) } },
    ]);
    await using large = await startTool(Object.fromEntries(operations));
    const others = Array.from({ length: 25 }, (_, index) => [`http://127.0.0.1:${index}`, []]);
    await mkdir(folder.file('protocol-cli'));
    await folder.write(FILE, JSON.stringify(others));
    await runHere(['toolset', large.url], environment(folder));
    const saved: [string, [string, string[]][]][] = JSON.parse(await readFile(folder.file(FILE), 'utf8'));
    expect(saved).toHaveLength(20);
    const [[url, names] = ['', []]] = saved;
    expect(url).toBe(large.url);
    expect(names.flat(2)).toHaveLength(value);
  });

  test.each([
    ['broken', (folder: Folder) => folder.write(FILE, '{"x":')],
    ['of another shape', (folder: Folder) => folder.write(FILE, '[["http://x",[["y",5]]]]')],
    ['a link to another file', (folder: Folder) => symlink(folder.file('target'), folder.file(FILE))],
  ])('replace a file that is %s', async (_, plant) => {
    await using folder = await temporaryFolder();
    await mkdir(folder.file('protocol-cli'));
    await folder.write('target', 'untouched');
    await plant(folder);
    expect(await runHere(['toolset', tool.url], environment(folder))).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(await readFile(folder.file(FILE), 'utf8')).toContain('edit_file');
    expect(await readFile(folder.file('target'), 'utf8')).toBe('untouched');
  });

  test('are not written again if they are the same; a folder that cannot be made fails nothing', async () => {
    await using folder = await temporaryFolder();
    await runHere(['toolset', tool.url], environment(folder));
    await chmod(folder.file(FILE), 0o640);
    await runHere(['toolset', tool.url], environment(folder));
    expect((await stat(folder.file(FILE))).mode & 0o777).toBe(0o640);
    await writeFile(folder.file('taken'), '');
    const taken = { env: { XDG_CACHE_HOME: folder.file('taken') } };
    expect(await runHere(['toolset', tool.url], taken)).toMatchObject({ status: 0, stderr: '' });
    expect(await readdir(folder.path)).toEqual(['protocol-cli', 'taken']);
  });
});
