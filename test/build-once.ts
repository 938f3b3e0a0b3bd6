import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';

const INPUTS = ['src', '.build', 'fixtures', 'package.json', 'package-lock.json'];

/** Tests that start the program must meet today's source. */
export default function build(): void {
  if (isCurrent()) return;
  execFileSync(process.execPath, ['.build/build.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Whether `dist` is younger than everything that it is made of; a folder changes with its files. */
function isCurrent(): boolean {
  const built = statSync('dist/cli.js', { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const below = INPUTS.flatMap(path =>
    path.includes('.json')
      ? []
      : readdirSync(path, { recursive: true, encoding: 'utf8' }).map(each => `${path}/${each}`),
  );
  return [...INPUTS, ...below].every(path => statSync(path).mtimeMs < built);
}
