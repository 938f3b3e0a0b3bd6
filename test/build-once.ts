import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';

/** What the build makes; the second is a part of the source that tests import. */
const OUTPUTS = ['dist/cli.js', 'src/json-schema/generated/meta-2020-12.js'];
const INPUTS = ['src', '.build', 'fixtures', 'package.json', 'package-lock.json'];

/** Tests that start the program must meet today's source. */
export default function build(): void {
  if (isCurrent()) return;
  execFileSync(process.execPath, ['.build/build.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Whether all outputs are there and the program is younger than everything that it is made of; a folder changes with its files. */
function isCurrent(): boolean {
  if (!OUTPUTS.every(path => existsSync(path))) return false;
  const built = statSync('dist/cli.js').mtimeMs;
  const below = INPUTS.flatMap(path =>
    path.includes('.json')
      ? []
      : readdirSync(path, { recursive: true, encoding: 'utf8' }).map(each => `${path}/${each}`),
  );
  return [...INPUTS, ...below].every(path => statSync(path).mtimeMs < built);
}
