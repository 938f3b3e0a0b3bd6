import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundle } from './bundle.mjs';
import { generateMetaSchema } from './meta-schema.mjs';
import { writeNotices } from './notices.mjs';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const run = promisify(execFile);

/** Builds beside `dist` and swaps at the end: whoever runs the program meanwhile meets the old one, or the new one, whole. */
process.chdir(ROOT);
await generateMetaSchema();
const draft = await mkdtemp('dist-');
await chmod(draft, 0o755);
try {
  const inputs = await bundle(draft);
  await writeNotices(inputs, draft);
  if (!process.argv.includes('--no-types')) await emitTypes(`${draft}/types`);
  await rm('dist', { recursive: true, force: true });
  await rename(draft, 'dist');
} finally {
  await rm(draft, { recursive: true, force: true });
}

/** What is wrong with types, `npm run typecheck` says. */
async function emitTypes(outDir) {
  const flags = [
    '--noEmit',
    'false',
    '--noCheck',
    '--declaration',
    '--emitDeclarationOnly',
    '--rootDir',
    'src',
    '--outDir',
    outDir,
  ];
  const tsc = fileURLToPath(import.meta.resolve('typescript/lib/tsc.js'));
  await run(process.execPath, [tsc, '-p', '.build/types.json', ...flags]).catch(({ stdout }) => {
    throw new Error(stdout);
  });
}
