import { mkdir, writeFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';

const FOLDER = new URL('../src/json-schema/generated/', import.meta.url);
const META = 'https://json-schema.org/draft/2020-12/schema';
const TYPES = `import type { ErrorObject } from 'ajv';
export const validate: { (data: unknown): boolean; errors?: ErrorObject[] | null };
`;

/** The check of draft 2020-12's meta-schema as plain code: building it at run time costs 24 ms of every call. */
export async function generateMetaSchema() {
  const ajv = new Ajv2020({ allErrors: true, validateFormats: false, code: { source: true, esm: true } });
  const code = standaloneCode.default(ajv, ajv.getSchema(META));
  await mkdir(FOLDER, { recursive: true });
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname, loader: 'js' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  await writeFile(new URL('meta-2020-12.js', FOLDER), outputFiles[0].contents);
  await writeFile(new URL('meta-2020-12.d.ts', FOLDER), TYPES);
}
