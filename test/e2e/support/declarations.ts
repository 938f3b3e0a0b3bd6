import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './program.js';

/** The path of the library's types. A build of the program, as tests make it, does not write them. */
export async function declarations(): Promise<string> {
  const path = join(ROOT, 'dist/index.d.ts');
  if (!existsSync(path))
    await promisify(execFile)(process.execPath, ['.build/declarations.mjs'], { cwd: ROOT });
  return path;
}
