import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { inFolder, rust } from './kits.mjs';
import { runProgram } from './verdict.mjs';

/** MCP's conformance suite, against `mock-tool --mcp http` and against `invoke --mcp` and `toolset --mcp`; pmcp's, against the mock. */

const GUIDE = inFolder('../../../src/guides/mcp.md');
const VERSIONS = ['2025-11-25', '2026-07-28'];
/** The web page from which pmcp's suite asks whether it may call. */
const PAGE = 'https://example.invalid';
/** Number of clients that run side by side. */
const AT_ONCE = 2;
const inKit = (...path) => inFolder('node', ...path);
const SUITE = [
  ...['--import', inKit('mcp/glob-sync.mjs')],
  inKit('node_modules/@modelcontextprotocol/conformance/dist/index.js'),
];
const RUNNERS = { server: failedServerScenarios, client: failedClientScenarios };

export const CONFORMANCE = [
  ...['server', 'client'].map(side => ({
    name: `MCP conformance, ${side}`,
    kit: 'node',
    run: () => tryConformance(side),
  })),
  { name: 'pmcp conformance', kit: 'rust', run: tryPmcp },
];

/** Exactly the scenarios fail that the guide `mcp` names; the suite has each in one or both versions. */
async function tryConformance(side) {
  const scenarios = await scenariosOf(side);
  const failed = await RUNNERS[side](scenarios);
  const patterns = await namedInGuide(side);
  const isNamed = name => patterns.some(pattern => pattern.test(name));
  const failing = [...new Set(failed.map(({ name }) => name))].sort();
  const named = [...new Set(scenarios.map(({ name }) => name))].filter(isNamed).sort();
  assert.deepEqual(failing, named, `failed:\n${failed.map(each => each.report).join('\n')}`);
  const idle = patterns.filter(pattern => !failing.some(name => pattern.test(name)));
  assert.deepEqual(idle, [], 'the guide names scenarios that the suite does not have');
}

/** All scenarios of `mcp-tester conformance --strict` pass but those that the guide names, which are skipped. */
async function tryPmcp() {
  const { stdout, stderr } = await runProgram([
    ...['mock-tool', inFolder('mcp/tools.yaml'), '--mcp', 'http', '-q', '--allow-origin', PAGE],
    ...['--', 'sh', '-c', `${rust('pmcp-conformance')} "$MCP_URL"`],
  ]);
  const line = stdout.split('\n').find(each => each.startsWith('{"Core: '));
  assert.ok(line, stdout + stderr);
  const scenarios = Object.entries(JSON.parse(line));
  const patterns = await namedInGuide('pmcp');
  const expected = scenarios.map(([name]) => [
    name,
    patterns.some(pattern => pattern.test(name)) ? 'Skipped' : 'Passed',
  ]);
  assert.deepEqual(scenarios, expected);
  assert.equal(scenarios.filter(([, status]) => status === 'Skipped').length, patterns.length);
}

/** The scenarios that the table of the guide names, where `*` stands for the rest of a name. */
async function namedInGuide(side) {
  const rows = (await readFile(GUIDE, 'utf8')).split('\n').filter(line => line.startsWith(`| ${side} |`));
  const names = rows.flatMap(row => row.split('|')[2].match(/(?<=`)[^`, ]+(?=`)/g));
  return names.map(name => new RegExp(`^${name.replaceAll('*', '.*')}$`));
}

/** The scenarios of our versions; those of extensions have none. */
async function scenariosOf(side) {
  const [servers, clients] = (await runSuite(['list'])).output.split('Client scenarios');
  const lines = { server: servers, client: clients.split('Authorization server scenarios')[0] }[side];
  return [...lines.matchAll(/- (\S+) \[(.+)\]/g)].flatMap(([, name, versions]) =>
    VERSIONS.filter(version => versions.split(',').includes(version)).map(version => ({ name, version })),
  );
}

/** All scenarios of a version, one after another, against one server. */
async function failedServerScenarios(scenarios) {
  const failed = [];
  for (const version of VERSIONS) {
    const words = [...SUITE, 'server', '--requirements', version].map(word => `'${word}'`).join(' ');
    const command = ['--', 'sh', '-c', `'${process.execPath}' ${words} --url "$MCP_URL"`];
    const { stdout, stderr } = await runProgram([
      ...['mock-tool', inKit('mcp/conformance.yaml'), '--mcp', 'http', '-q'],
      ...command,
    ]);
    const results = new Map(
      [...stdout.matchAll(/^([✓✗]) (\S+): \d+ passed/gm)].map(([, mark, name]) => [name, mark]),
    );
    for (const { name } of scenarios.filter(each => each.version === version)) {
      assert.ok(results.has(name), `${name} did not run with ${version}\n${stdout}${stderr}`);
      if (results.get(name) === '✗') failed.push({ name, report: `${name} ${version}` });
    }
  }
  return failed;
}

/** A few scenarios at a time, since the suite would start all clients at once. */
async function failedClientScenarios(scenarios) {
  const failed = [];
  const rest = [...scenarios];
  const work = async () => {
    for (let each = rest.shift(); each; each = rest.shift()) await tryClient(each);
  };
  async function tryClient({ name, version }) {
    const client = `'${process.execPath}' '${inKit('mcp/conformance-client.mjs')}'`;
    const { status, output } = await runSuite([
      ...['client', '--command', client],
      ...['--scenario', name, '--spec-version', version],
    ]);
    if (status !== 0) failed.push({ name, report: `${name} ${version}\n${output}` });
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}

function runSuite(args) {
  return new Promise(resolve => {
    execFile(process.execPath, [...SUITE, ...args], (error, stdout, stderr) =>
      resolve({ status: error ? error.code : 0, output: stdout + stderr }),
    );
  });
}
