import { execFileSync } from 'node:child_process';

/** Tests that start the program must meet today's source. */
export default function build(): void {
  execFileSync(process.execPath, ['.build/build.mjs'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
