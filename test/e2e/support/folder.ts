import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Folder extends AsyncDisposable {
  readonly path: string;
  file(name: string): string;
  /** Writes a file and gives its path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
}

/** An empty folder for one test. */
export async function temporaryFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'protocol-cli-e2e-'));
  const file = (name: string) => join(path, name);
  return {
    path,
    file,
    async write(name, content) {
      await writeFile(file(name), content);
      return file(name);
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
