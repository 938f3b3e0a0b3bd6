import { chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { madeOnce } from './kept.mjs';
import { generateMetaSchema } from './meta-schema.mjs';
import { writeNotices } from './notices.mjs';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** What declarations are made of; the lock file knows the types of others. */
const OF_TYPES = ['src', '.build', 'tsconfig.json', 'package-lock.json'];

/** Builds beside `dist` and swaps at the end: whoever runs the program meanwhile meets the old one, or the new one, whole. */
process.chdir(ROOT);
await generateMetaSchema();
const draft = await mkdtemp('dist-');
await chmod(draft, 0o755);
try {
  const inputs = await bundle(draft);
  await writeNotices(inputs, draft);
  if (!process.argv.includes('--no-types')) await emitTypesInto(`${draft}/types`);
  await rm('dist', { recursive: true, force: true });
  await rename(draft, 'dist');
} finally {
  await rm(draft, { recursive: true, force: true });
}

/** The compiler is large, and slow: it is loaded where something is new. */
async function emitTypesInto(folder) {
  await madeOnce(folder, {
    keep: 'node_modules/.cache/types',
    inputs: OF_TYPES,
    make: async draft => (await import('./types.mjs')).emitTypes(draft),
  });
}
