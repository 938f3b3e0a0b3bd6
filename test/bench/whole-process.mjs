import { spawnSync } from 'node:child_process';

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
