import { lstat, mkdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { shippedFile } from '../../package-root.js';
import { writePublicFile } from '../../system/atomic-file.js';
import { writeError } from '../../system/file-system-errors.js';
import { writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { shellWord } from '../../util/shell-word.js';
import { visibleLine } from '../../util/visible.js';
import { type ExitStatus, type Terminal, withOwnCommand } from '../terminal.js';

type Kind = 'tool' | 'agent';
type Language = 'node' | 'python' | 'go';

interface Template {
  /** Files of the package, relative to `fixtures/`, by the name that each gets. */
  readonly files: Readonly<Record<string, string>>;
  /** Command lines to try first. */
  readonly next: readonly string[];
}

/** @param start the options that start it */
function toolTemplate(language: Language, start: string, sources: readonly string[]): Template {
  const from = `init/tool/${language}`;
  return {
    files: {
      ...Object.fromEntries(sources.map(name => [name, `${from}/${name}`])),
      'cases.yaml': 'init/tool/cases.yaml',
      'fixtures.yaml': 'init/tool/fixtures.yaml',
      '.github/workflows/protocol-cli.yml': `${from}/workflow.yml`,
    },
    next: [`protocol-cli check ${start} --cases cases.yaml`, `protocol-cli invoke ${start} shout text=hi`],
  };
}

/** The runtimes of `fixtures/runtimes`, which pass every scenario. @param start the options that start it */
function agentTemplate(language: Language, start: string, sources: readonly string[]): Template {
  return {
    files: {
      ...Object.fromEntries(sources.map(name => [name, `runtimes/${language}/${name}`])),
      'fixtures.yaml': 'init/tool/fixtures.yaml',
      '.github/workflows/protocol-cli.yml': `init/agent/${language}/workflow.yml`,
    },
    next: [`protocol-cli check ${start} --scenario result`, 'protocol-cli mock-tool fixtures.yaml'],
  };
}

/** The first start of Go compiles the standard library. */
const SLOW_START = '--ready-timeout 2m';

const TEMPLATES: Readonly<Record<Kind, Readonly<Record<Language, Template>>>> = {
  tool: {
    node: toolTemplate('node', '--command "node tool.mjs"', ['tool.mjs']),
    python: toolTemplate('python', '--command "python3 tool.py"', ['tool.py']),
    go: toolTemplate('go', `--command "go run ." ${SLOW_START}`, ['tool.go', 'go.mod']),
  },
  agent: {
    node: agentTemplate('node', '--runtime "node driver.mjs"', ['driver.mjs', 'runtime.mjs', 'messages.mjs']),
    python: agentTemplate('python', '--runtime "python3 driver.py"', [
      'driver.py',
      'runtime.py',
      'messages.py',
    ]),
    go: agentTemplate('go', `--runtime "go run ." ${SLOW_START}`, [
      'driver.go',
      'runtime.go',
      'messages.go',
      'go.mod',
    ]),
  },
};

/**
 * Runs `init`: writes the files of a template, all or none.
 * @throws ProtocolCliError `usage`, `unwritable-file` if one of the files exists.
 */
export async function runInit(
  kind: Kind,
  folder: string,
  language: Language,
  { stdout, cwd, env }: Pick<Terminal, 'stdout' | 'cwd' | 'env'>,
): Promise<ExitStatus> {
  const { files, next: commands } = TEMPLATES[kind][language];
  const pathOf = (name: string) => join(folder, name);
  const names = Object.keys(files);
  await requireFree(names.map(pathOf), cwd);
  for (const [name, source] of Object.entries(files)) {
    const path = resolve(cwd, pathOf(name));
    const text = await readFile(shippedFile(`fixtures/${source}`), 'utf8');
    await createFolder(dirname(path));
    await writePublicFile(path, text, { replaces: () => false });
  }
  const written = names.map(name => `wrote ${visibleLine(pathOf(name))}\n`).join('');
  const lines = [...(folder === '.' ? [] : [`cd ${shellWord(folder, process.platform)}`]), ...commands];
  const next = lines.map(line => `  ${visibleLine(line)}\n`).join('');
  await writeOut(stdout, `${written}\nNext:\n${withOwnCommand(next, env)}`);
  return 0;
}

/** @throws ProtocolCliError `unwritable-file`, with every path at which something is. */
async function requireFree(paths: readonly string[], cwd: string): Promise<void> {
  const isThere = (path: string) =>
    lstat(resolve(cwd, path)).then(
      () => true,
      () => false,
    );
  const found = await Promise.all(paths.map(isThere));
  const taken = paths.filter((_, index) => found[index]);
  if (taken.length === 0) return;
  throw new ProtocolCliError('unwritable-file', 'nothing was written: init would overwrite', {
    faults: taken,
    hint: 'Give another folder: protocol-cli init tool my-tool.',
  });
}

/** @throws ProtocolCliError `unwritable-file` */
async function createFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch(cause => {
    throw writeError(path, cause);
  });
}
