import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measureDiff } from './diff/measure.mjs';
import { measureMemory } from './memory.mjs';
import { measureMock } from './mock/measure.mjs';
import { measureRatios } from './ratios.mjs';
import { memoryTable, mockTable, ratioTable } from './table.mjs';
import { startTool } from './tool.mjs';

/** The figures of the README, all of one run. It reports; it never fails a build. */
const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, pairs: { type: 'string', default: '21' } },
});
const pairs = Math.max(15, Number(values.pairs));

const diff = await measureDiff(pairs);
const report = {
  node: process.version,
  cpu: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
  pairs,
  ratios: [...(await withTool(url => measureRatios(url, pairs))), ...diff.ratios],
  memory: [...(await measureMemory(withTool)), ...diff.memory],
  mock: await measureMock(),
};

process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : markdown(report));

function markdown({ node, cpu, ratios, memory, mock }) {
  return [
    `Node ${node}, ${cpu}; medians of ${pairs} interleaved pairs, in brackets the extremes.`,
    ratioTable(ratios),
    memoryTable(memory),
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
