import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const pathOf = relative => fileURLToPath(new URL(relative, import.meta.url));

const OURS = pathOf('../../bin/protocol-cli.cjs');
const MINIMAL = fileURLToPath(import.meta.resolve('./minimal-invoke.mjs'));

/** Arguments of `node`: what is measured, and what it is measured against. */
export const nothing = ['-e', '0'];
export const oneLetter = ['-e', 'process.stdout.write("x")'];
export const minimalInvoke = (url, operation, args) => [MINIMAL, url, operation, JSON.stringify(args)];
export const ours = (...words) => [OURS, ...words];

/** Ms from the spawn of `node` with these arguments to its end. @throws where it fails, or prints something else. */
export function wholeProcess(args, expected) {
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const took = performance.now() - start;
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  if (expected !== undefined && stdout !== expected)
    throw new Error(`${args.join(' ')} printed ${JSON.stringify(stdout)}`);
  return took;
}
