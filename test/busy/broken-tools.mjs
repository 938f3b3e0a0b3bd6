import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Of each rule, a tool of the tables in test/e2e/check/broken. */
const TOOLS = {
  'TOOL-ACK': 'works before it acknowledges',
  'TOOL-ASYNC': 'gives the result of one operation in the acknowledgement',
  'TOOL-ALWAYS': 'forgets one operation',
  'TOOL-ID': 'wrong-id',
  'TOOL-CALLID': 'has another call_id',
  'TOOL-ONCE': 'ends a call twice',
  'TOOL-ISOLATE': 'keeps the names of one call for all',
  'TOOL-OPAQUE': 'leaves the query out',
  'TOOL-RETRY': 'never tries again',
  'TOOL-SUB': 'does not say that it is one',
};

const SOURCE = `
  export { acknowledgements } from './acknowledgements.ts';
  export { callbacks } from './callbacks.ts';
  export { flows } from './flows.ts';
  export { startWithOdd } from './tool.ts';
  export { RULES } from '../../../../src/check/rules/index.ts';
`;

/**
 * The broken tools: the rule that each breaks, what it does, and how to start it in this process. Also the rules that a broken one may
 * break too.
 */
export async function loadTables() {
  const outfile = join(ROOT, 'node_modules/.cache/broken-tools.mjs');
  await build({
    stdin: { contents: SOURCE, resolveDir: join(ROOT, 'test/e2e/check/broken') },
    outfile,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    define: { PROGRAM_VERSION: '"test"' },
    logLevel: 'warning',
  });
  const { acknowledgements, callbacks, flows, startWithOdd, RULES } = await import(pathToFileURL(outfile));
  const tables = { ...acknowledgements, ...callbacks, ...flows };
  const tools = Object.entries(TOOLS).map(([id, does]) => {
    const {
      status,
      fixture,
      start = () => startWithOdd({ odd: fixture }),
    } = tables[id].find(tool => tool.does === does);
    return { id, does, status, start };
  });
  return { tools, masksOf: id => RULES[id].masks ?? [] };
}
