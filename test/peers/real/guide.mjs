import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { AGENTS } from './agents.mjs';
import { pinnedVersion } from './kits.mjs';
import { MCP_PEERS } from './mcp.mjs';
import { TOOLS } from './tools.mjs';

const GUIDE = fileURLToPath(new URL('../../../src/guides/peers.md', import.meta.url));

export async function updateGuide() {
  await writeFile(GUIDE, await guideText());
}

/** The guide `peers` with the tables of the expected verdicts. */
export async function guideText() {
  const text = await readFile(GUIDE, 'utf8');
  const tables = { tools: await tableOf(TOOLS), agents: await tableOf(AGENTS), mcp: await mcpTable() };
  return text.replace(
    /(<!-- (\w+):start -->\n)[\s\S]*?(<!-- \2:end -->)/g,
    (_, start, name, end) => `${start}\n${tables[name]}\n\n${end}`,
  );
}

async function tableOf(peers) {
  const rows = await Promise.all(
    peers.map(async ({ name, version: [manifest, pin], failed = {}, warnings = {} }) => {
      const broken = Object.entries({ ...failed, ...warnings }).map(([id, advice]) => `${id}: ${advice}`);
      const verdict = verdictOf(failed, warnings);
      return `| ${name} | ${await pinnedVersion(manifest, pin)} | ${verdict} | ${broken.join('; ') || '–'} |`;
    }),
  );
  return [
    '| framework | version | verdict | what its default breaks, and what to set |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

async function mcpTable() {
  const rows = await Promise.all(
    MCP_PEERS.map(
      async ({ name, version: [manifest, pin], notes }) =>
        `| ${name} | ${await pinnedVersion(manifest, pin)} | ${notes ?? '–'} |`,
    ),
  );
  return ['| SDK | version | to know |', '|---|---|---|', ...rows].join('\n');
}

function verdictOf(failed, warnings) {
  if (Object.keys(failed).length > 0) return 'failed';
  return Object.keys(warnings).length > 0 ? 'passed, with warnings' : 'passed';
}
