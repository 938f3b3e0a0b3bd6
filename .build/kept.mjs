import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const DRAFT = 'draft-';

/**
 * Fills a folder with what is made of these files and folders; where it was made of the same before, it is only copied.
 * @param keep the folder in which what was made at last is kept
 */
export async function madeOnce(outDir, { keep, inputs, make }) {
  const kept = join(keep, await digestOf(inputs));
  if (!(await exists(kept))) await makeInto(kept, keep, make);
  await cp(kept, outDir, { recursive: true });
}

/** Others may do the same meanwhile: whoever is first has made it. */
async function makeInto(kept, keep, make) {
  await mkdir(keep, { recursive: true });
  const former = (await readdir(keep)).filter(name => !name.startsWith(DRAFT));
  const draft = await mkdtemp(join(keep, DRAFT));
  try {
    await make(draft);
    await rename(draft, kept).catch(async error => {
      if (!(await exists(kept))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await Promise.all(former.map(name => rm(join(keep, name), { recursive: true, force: true })));
}

/** Of names and contents, wherever the files are. Generated code tells where it was made; what it declares stands beside it. */
async function digestOf(inputs) {
  const digest = createHash('sha256');
  for (const input of inputs)
    for (const name of await filesIn(input))
      digest.update(`${name}\0`).update(await readFile(join(input, name)));
  return digest.digest('hex');
}

async function filesIn(input) {
  if ((await stat(input)).isFile()) return [''];
  const entries = await readdir(input, { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile() && !entry.name.endsWith('.js'));
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(input.length)).sort();
}

async function exists(path) {
  return stat(path).then(
    () => true,
    () => false,
  );
}
