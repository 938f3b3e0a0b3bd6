import { access, lstat, mkdir, readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { parseJson } from '../util/json.js';
import type { Terminal } from './terminal.js';

/** The folders of the XDG base directory specification, below the home folder. */
const FOLDERS = { XDG_STATE_HOME: '.local/state', XDG_CACHE_HOME: '.cache' } as const;

/** A JSON file that only its user may read, in a folder that the environment may name. */
export class UserFile {
  readonly #path: string;
  /** This folder is not created. */
  readonly #root: string;

  constructor(variable: keyof typeof FOLDERS, name: string, { env, home }: Pick<Terminal, 'env' | 'home'>) {
    const given = env[variable] ?? '';
    const folder = isAbsolute(given) ? given : join(home, FOLDERS[variable]);
    this.#root = isAbsolute(given) ? '/' : home;
    this.#path = join(folder, 'protocol-cli', name);
  }

  /** Returns undefined for a file that is missing, broken, larger than `maxBytes`, or not a file. */
  async read(maxBytes: number): Promise<unknown> {
    const found = await lstat(this.#path).catch(() => null);
    if (!found?.isFile() || found.size > maxBytes) return undefined;
    const reading = parseJson(await readFile(this.#path, 'utf8').catch(() => ''));
    return reading.ok ? reading.value : undefined;
  }

  /** @throws an error of the system, or ProtocolCliError `unwritable-file` */
  async write(value: unknown): Promise<void> {
    const { createPrivateFile } = await import('../system/atomic-file.js');
    await access(this.#root);
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const file = await createPrivateFile(this.#path);
    await file.write(JSON.stringify(value));
    await file.commit();
  }
}
