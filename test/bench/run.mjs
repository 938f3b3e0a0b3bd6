import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureDiff } from './diff/measure.mjs';
import { measureMemory } from './memory.mjs';
import { measureMock } from './mock/measure.mjs';
import { measureRatios } from './ratios.mjs';
import { memoryTable, mockTable, ratioTable, stormTable } from './table.mjs';
import { startTool } from './tool.mjs';
import { measureWorkbench } from './workbench/measure.mjs';

/** The figures of src/guides/performance.md, all of one run. It reports; it never fails a build. */
const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    pairs: { type: 'string', default: '21' },
    node: { type: 'string' },
  },
});
if (values.node) runWith(values.node);
const pairs = Math.max(15, Number(values.pairs));

const diff = await measureDiff(pairs);
const workbench = await measureWorkbench(pairs);
const report = {
  node: process.version,
  cpu: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
  pairs,
  ratios: [...(await withTool(url => measureRatios(url, pairs))), ...diff.ratios, ...workbench.ratios],
  memory: [...(await measureMemory(withTool)), ...diff.memory, ...workbench.memory],
  storm: workbench.storm,
  mock: await measureMock(),
};

process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : markdown(report));

/** Runs the whole bench with another Node. */
function runWith(node) {
  const options = [`--pairs=${values.pairs}`, ...(values.json ? ['--json'] : [])];
  const { status } = spawnSync(node, [fileURLToPath(import.meta.url), ...options], { stdio: 'inherit' });
  process.exit(status ?? 1);
}

function markdown({ node, cpu, ratios, memory, storm, mock }) {
  return [
    `Node ${node}, ${cpu}; medians of ${pairs} interleaved pairs, in brackets the extremes.`,
    ratioTable(ratios),
    memoryTable(memory),
    'The workbench while 1,000 events a second come, for 10 s:',
    stormTable(storm),
    `\`mock-tool\` beside a bare \`node:http\` server that posts with \`undici.Agent\`, round by round:`,
    mockTable(mock),
  ].join('\n\n');
}

/** A tool of its own for each piece of work: a tool remembers all that it delivered. */
async function withTool(work) {
  const tool = await startTool();
  try {
    return await work(tool.url);
  } finally {
    tool.stop();
  }
}
