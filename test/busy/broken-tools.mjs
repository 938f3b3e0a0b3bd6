import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Of each rule here, the first tool of the tables in test/e2e/check/broken that breaks it; of TOOL-ACK another one. */
const RULES = [
  'TOOL-ASYNC',
  'TOOL-ALWAYS',
  'TOOL-ID',
  'TOOL-CALLID',
  'TOOL-ONCE',
  'TOOL-ISOLATE',
  'TOOL-OPAQUE',
  'TOOL-RETRY',
  'TOOL-SUB',
];

export async function loadBrokenTools() {
  const outfile = join(ROOT, 'node_modules/.cache/broken-tools.mjs');
  await build({
    stdin: {
      contents: `
        export { acknowledgements } from './acknowledgements.ts';
        export { callbacks } from './callbacks.ts';
        export { flows } from './flows.ts';
        export { startWithOdd } from './tool.ts';`,
      resolveDir: join(ROOT, 'test/e2e/check/broken'),
    },
    outfile,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    define: { PROGRAM_VERSION: '"test"' },
    logLevel: 'warning',
  });
  const { acknowledgements, callbacks, flows, startWithOdd } = await import(pathToFileURL(outfile));
  const tools = { ...acknowledgements, ...callbacks, ...flows };
  const late = tools['TOOL-ACK'].find(({ does }) => does === 'works before it acknowledges');
  return [['TOOL-ACK', late], ...RULES.map(id => [id, tools[id][0]])].map(
    ([id, { does, status, start, fixture }]) => ({
      id,
      does,
      status,
      start: start ?? (() => startWithOdd({ odd: fixture })),
    }),
  );
}
