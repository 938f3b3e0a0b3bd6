import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from './support/folder.js';
import { GOCACHE } from './support/go.js';
import { runHere } from './support/in-process.js';
import { argv, ROOT, run, runShell, shellLine } from './support/program.js';

const WORKFLOW = '.github/workflows/protocol-cli.yml';

/** All files below a folder, by path. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => !entry.isDirectory());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).toSorted();
}

/** The commands that init prints as the next ones. */
function nextIn(stdout: string): string[] {
  return [...stdout.matchAll(/^ {2}protocol-cli (.*)$/gm)].map(([, words = '']) => words);
}

/** A line of the program for a shell in the folder; the tool takes any port. */
const inFolder = (folder: string, words: string) =>
  runShell(`cd '${folder}' && PORT=0 GOCACHE='${GOCACHE}' ${shellLine([])} ${words}`);

/** What `check` says depends on how fast the tool acknowledges: on a busy machine it runs again. */
const AGAIN = { retry: 2 };

const isMissing = (language: string) => language === 'go' && GOCACHE === null;

const TOOLS = [
  { language: 'node', files: ['tool.mjs'] },
  { language: 'python', files: ['tool.py'] },
  { language: 'go', files: ['go.mod', 'tool.go'] },
];

describe.each(TOOLS)('init tool --language $language', ({ language, files }) => {
  test('writes a tool with cases, fixtures and a workflow, and says so', async () => {
    await using folder = await temporaryFolder();
    const { status, stdout } = await runHere(argv`init tool --language ${language}`, { cwd: folder.path });
    expect(status).toBe(0);
    const all = [WORKFLOW, 'cases.yaml', 'fixtures.yaml', ...files].toSorted();
    expect(await filesIn(folder.path)).toEqual(all);
    expect([...stdout.matchAll(/^wrote (.*)$/gm)].map(([, path]) => path).toSorted()).toEqual(all);
    expect(nextIn(stdout)).toHaveLength(2);
  });

  test('names npx in the next commands, if it was started with it', async () => {
    await using folder = await temporaryFolder();
    const env = { npm_lifecycle_event: 'npx' };
    const { stdout } = await runHere(argv`init tool --language ${language}`, { cwd: folder.path, env });
    expect(stdout.match(/^ {2}npx protocol-cli (?:check|invoke) /gm)).toHaveLength(2);
  });

  test.skipIf(isMissing(language))('the commands it names and its workflow pass', AGAIN, async () => {
    await using folder = await temporaryFolder();
    const { stdout } = await runHere(argv`init tool --language ${language}`, { cwd: folder.path });
    const [check = '', invoke = ''] = nextIn(stdout);
    expect(await commandIn(folder.file(WORKFLOW))).toContain(check);
    const checked = await inFolder(folder.path, `${check} --strict`);
    expect(checked.stdout).toMatch(
      /^✓ passed · \d+ rules: 2\d passed, \d not applicable · 2 of 2 cases passed$/m,
    );
    expect(checked.status).toBe(0);
    expect(await inFolder(folder.path, invoke)).toMatchObject({ status: 0, stdout: 'HI' });
  });
});

/** The last command of a workflow. */
async function commandIn(path: string): Promise<string> {
  return parse(await readFile(path, 'utf8')).jobs.check.steps.at(-1).run;
}

test('the mock of the fixtures passes the cases of the tool', AGAIN, async () => {
  await using folder = await temporaryFolder();
  await runHere(['init', 'tool'], { cwd: folder.path });
  const mock = shellLine(['mock-tool', folder.file('fixtures.yaml')]);
  const check = ['check', '--command', mock, '--cases', folder.file('cases.yaml'), '--strict'];
  const { status, stdout } = await runHere([...check, '-q']);
  expect(stdout).toContain('2 of 2 cases passed');
  expect(status).toBe(0);
});

const AGENTS = [
  { language: 'node', files: ['driver.mjs', 'messages.mjs', 'runtime.mjs'] },
  { language: 'python', files: ['driver.py', 'messages.py', 'runtime.py'] },
  { language: 'go', files: ['driver.go', 'go.mod', 'messages.go', 'runtime.go'] },
];

describe.each(AGENTS)('init agent --language $language', ({ language, files }) => {
  test('writes the runtime of the package with its driver', async () => {
    await using folder = await temporaryFolder();
    const { stdout } = await runHere(argv`init agent --language ${language}`, { cwd: folder.path });
    expect(await filesIn(folder.path)).toEqual([WORKFLOW, 'fixtures.yaml', ...files].toSorted());
    for (const name of files) // test/e2e/check/right-runtimes.test.ts runs all scenarios with these
      expect(await readFile(folder.file(name), 'utf8')).toBe(
        await readFile(join(ROOT, 'fixtures/runtimes', language, name), 'utf8'),
      );
    const [check = '', mock = ''] = nextIn(stdout);
    expect(await commandIn(folder.file(WORKFLOW))).toContain(check.replace(/ --scenario.*/, ''));
    expect(mock).toBe('mock-tool fixtures.yaml');
  });

  test.skipIf(isMissing(language))('the check that it names passes', AGAIN, async () => {
    await using folder = await temporaryFolder();
    const { stdout } = await runHere(argv`init agent --language ${language}`, { cwd: folder.path });
    const [check = ''] = nextIn(stdout);
    const checked = await inFolder(
      folder.path,
      `${check} --scenario duplicates --scenario refusals --strict`,
    );
    expect(checked.stdout).toMatch(/^✓ passed · 3 scenarios · /m);
    expect(checked.status).toBe(0);
  });
});

describe('init never writes over a file', () => {
  test('names every file that is there, and writes nothing', async () => {
    await using folder = await temporaryFolder();
    await folder.write('tool.mjs', 'mine');
    await mkdir(dirname(folder.file(WORKFLOW)), { recursive: true });
    await symlink('nowhere', folder.file(WORKFLOW));
    const { status, stdout, stderr } = await runHere(['init', 'tool'], { cwd: folder.path });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toBe(
      `error: nothing was written: init would overwrite\n  tool.mjs\n  ${WORKFLOW}\nhint: Give another folder: protocol-cli init tool my-tool.\n`,
    );
    expect(await filesIn(folder.path)).toEqual([WORKFLOW, 'tool.mjs']);
    expect(await readFile(folder.file('tool.mjs'), 'utf8')).toBe('mine');
  });

  test('a second init fails', async () => {
    await using folder = await temporaryFolder();
    for (const status of [0, 2])
      expect((await run(['init', 'agent', 'new/my agent'], { cwd: folder.path })).status).toBe(status);
    expect(await filesIn(folder.path)).toContain('new/my agent/driver.mjs');
  });

  test('a folder that is a file is an error', async () => {
    await using folder = await temporaryFolder();
    await folder.write('taken', '');
    const { status, stderr } = await runHere(['init', 'tool', 'taken'], { cwd: folder.path });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: cannot write .*taken/);
  });
});

test.each([
  [
    argv`init server`,
    "error: command-argument value 'server' is invalid for argument 'what'. Allowed choices are tool, agent.",
  ],
  [argv`init tool --language rust`, 'Allowed choices are node, python, go.'],
])('%j is a usage error', async (words, message) => {
  await using folder = await temporaryFolder();
  const { status, stderr } = await runHere(words, { cwd: folder.path });
  expect(status).toBe(2);
  expect(stderr).toContain(message);
  expect(await filesIn(folder.path)).toEqual([]);
});

test('a new folder is named in the next commands, quoted for a shell', async () => {
  await using folder = await temporaryFolder();
  const { stdout } = await runHere(['init', 'tool', 'my tool'], { cwd: folder.path });
  expect(stdout).toContain('wrote my tool/tool.mjs\n');
  expect(stdout).toContain("\nNext:\n  cd 'my tool'\n  protocol-cli check ");
});
