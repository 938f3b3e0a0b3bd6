import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { temporaryFolder } from './folder.js';
import { ROOT, run } from './program.js';

const coverageSchema = z.object({ result: z.array(z.object({ url: z.string() })) });

/** The files of the built program that a start really loads, by name, with their text: Node itself tells which. */
export async function loadedBy(args: readonly string[]): Promise<ReadonlyMap<string, string>> {
  await using folder = await temporaryFolder();
  await run(args, { env: { NODE_V8_COVERAGE: folder.path } });
  const texts = (await readdir(folder.path)).map(name => readFile(folder.file(name), 'utf8'));
  const coverages = (await Promise.all(texts)).map(text => coverageSchema.parse(JSON.parse(text)));
  const urls = coverages.flatMap(({ result }) => result.map(({ url }) => url));
  const paths = urls.filter(url => url.startsWith('file:')).map(url => fileURLToPath(url));
  const built = [...new Set(paths)].filter(path => path.startsWith(`${ROOT}dist/`));
  return new Map(
    await Promise.all(built.map(async path => [basename(path), await readFile(path, 'utf8')] as const)),
  );
}
