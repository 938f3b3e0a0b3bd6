import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { ROOT } from '../e2e/support/program.js';

/** What a process said on stdout, line by line, and how it ended. */
export interface Ended {
  readonly said: readonly string[];
  readonly code: number | null;
  readonly signal: string | null;
}

/** A program that imports modules as `./src/…`, for `node -e`. */
export async function bundled(contents: string): Promise<string> {
  const stdin = { contents, resolveDir: ROOT, loader: 'ts' } as const;
  const { outputFiles } = await build({ stdin, bundle: true, write: false, platform: 'node', format: 'cjs' });
  return outputFiles[0]?.text ?? '';
}

/** Modules of ours in processes of their own, where signals and uncaught errors hit no one else. @param exports as `./src/…` has them */
export async function ownProgram(exports: string): Promise<(body: string) => Promise<Ended>> {
  const modules = `(() => { const module = { exports: {} }; ${await bundled(exports)}; return module.exports; })()`;
  return async body => {
    const script = `
      const ours = ${modules};
      const say = word => require('node:fs').writeSync(1, word + '\\n');
      ${body}`;
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const said = text(child.stdout);
    const [code, signal] = await once(child, 'exit');
    return { said: (await said).trimEnd().split('\n'), code, signal };
  };
}
