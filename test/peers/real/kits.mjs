import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The languages of the peers: the programs that must be there, and how the peers are installed and built. */

const HERE = fileURLToPath(new URL('.', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/peers/', import.meta.url));

export const inFolder = (...path) => join(HERE, ...path);
/** Far longer than an installation takes with an empty cache. */
const INSTALL_MS = 20 * 60_000;

const inCache = (...path) => join(CACHE, ...path);

/** How a peer is started. */
export const python = script => `'${inCache('python/bin/python')}' '${inFolder('python', script)}'`;
export const node = script => `node '${inFolder('node', script)}'`;
export const go = program => `'${inCache('go', program)}'`;
export const rust = program => `'${inCache('rust/debug', program)}'`;
export const java = (module, main) =>
  `java -cp '${inFolder('java', module, 'target', `${module}-0.jar`)}:${inFolder('java', module, 'target/lib/*')}' ${main}`;

export const KITS = {
  node: { needs: ['node', 'npm'], install: () => run('npm', ['ci', '--ignore-scripts'], inFolder('node')) },
  python: {
    needs: ['python3'],
    async install() {
      await run('python3', ['-m', 'venv', inCache('python')], HERE);
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
      await run(inCache('python/bin/python'), [...pip, '-r', 'requirements.txt'], inFolder('python'));
    },
  },
  go: {
    needs: ['go'],
    async install() {
      await mkdir(inCache('go'), { recursive: true });
      await run('go', ['build', '-o', inCache('go/'), './...'], inFolder('go'));
    },
  },
  rust: {
    needs: ['cargo'],
    install: () =>
      run('cargo', ['build', '--locked', '--quiet', '--target-dir', inCache('rust')], inFolder('rust')),
  },
  java: {
    needs: ['java', 'mvn'],
    install: () => run('mvn', ['--batch-mode', '--quiet', 'package'], inFolder('java')),
  },
};

/** The first program of a kit that is not in the path. */
export async function missingProgram({ needs }) {
  for (const program of needs) {
    const places = (process.env.PATH ?? '').split(delimiter).map(folder => join(folder, program));
    const found = await Promise.all(
      places.map(place =>
        access(place).then(
          () => true,
          () => false,
        ),
      ),
    );
    if (!found.includes(true)) return program;
  }
  return undefined;
}

/** The version that a manifest of this folder pins: the first number in the line that begins with the name. */
export async function pinnedVersion(manifest, name) {
  const lines = (await readFile(inFolder(manifest), 'utf8')).split('\n').map(line => line.trim());
  const line = lines.find(each => each.replace(/^[<"]/, '').startsWith(name));
  const [version] = /\d[\d.]*\d/.exec(line?.slice(name.length) ?? '') ?? [];
  if (!version) throw new Error(`${manifest} does not name a version of ${name}`);
  return version;
}

async function run(program, args, cwd) {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: INSTALL_MS });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', bytes => output.push(bytes));
  const [status] = await once(child, 'close');
  if (status === 0) return;
  const lines = Buffer.concat(output).toString().trim().split('\n').slice(-20).join('\n');
  throw new Error(`"${program} ${args.join(' ')}" exited with status ${status}. Last output:\n${lines}`);
}
