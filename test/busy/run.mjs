import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadTables } from './broken-tools.mjs';

/**
 * Repeats tests and checks, most of them beside processes that compute all the time, and prints a table: no result may depend on how much
 * CPU there is. Exits with 1 if a run differs.
 */
const USAGE = `Usage: node test/busy/run.mjs [section …] [options]

Sections (default: all):
  ci-quiet         .ci/run, alone
  ci-busy          .ci/run
  right-tools      check of tools that meet every requirement: no failure, no warning
  right-runtimes   check --runtime of runtimes that meet every requirement: no failure, no warning
  broken-tools     check --only of ten tools that break a rule: this rule, each time
  broken-runtimes  check --runtime --scenario of ten runtimes that break a rule: this rule, each time

Options:
  --ci-quiet <n>   how often (default: 10)
  --ci-busy <n>    how often (default: 5)
  --right <n>      how often each (default: 20)
  --broken <n>     how often each (default: 3)
  --processes <n>  how many processes compute, except for ci-quiet (default: 6)
`;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PROGRAM = join(ROOT, 'bin/protocol-cli.cjs');
const NODE = JSON.stringify(process.execPath);
const RUNTIME = `${NODE} ${JSON.stringify(join(ROOT, 'test/peers/drivers/runtime.mjs'))}`;

const RIGHT_TOOLS = ['plain-tool.mjs', 'stdlib_tool.py'];

const RIGHT_RUNTIMES = {
  'fixtures/runtimes/node': `${NODE} ${JSON.stringify(join(ROOT, 'fixtures/runtimes/node/driver.mjs'))}`,
  'fixtures/runtimes/python': `python3 -B ${JSON.stringify(join(ROOT, 'fixtures/runtimes/python/driver.py'))}`,
  ...(spawnSync('go', ['version']).status === 0 && {
    'fixtures/runtimes/go': `go run -C ${JSON.stringify(join(ROOT, 'fixtures/runtimes/go'))} .`,
  }),
};

/** The first start of Go compiles the standard library. */
const SLOW_START = ['--ready-timeout', '2m'];

/** Faults of test/peers/drivers/faults.mjs: the rule that each breaks, and the scenario that shows it. */
const BROKEN_RUNTIMES = {
  'dispatches-unknown-operations': ['RT-OP', 'unknown-operation'],
  'sends-no-reachable-callback-url': ['RT-FIELDS', 'result'],
  'waits-after-404': ['RT-NON200', 'refusals'],
  'never-retries': ['RT-RETRY', 'status-503'],
  'retries-4xx': ['RT-NORETRY', 'refusals'],
  'waits-for-one-server-after-the-other': ['RT-NOTIFY', 'close'],
  'does-not-wait-for-the-migration': ['RT-MIGRATE', 'migration'],
  'takes-a-second-result-for-the-call': ['RT-DUP', 'duplicates'],
  'handles-the-messages-of-a-thread-in-any-order': ['RT-SERIAL', 'at-once'],
  'delivers-events-after-a-cancel': ['RT-SUB', 'subscription-canceled'],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'ci-quiet': { type: 'string', default: '10' },
    'ci-busy': { type: 'string', default: '5' },
    right: { type: 'string', default: '20' },
    broken: { type: 'string', default: '3' },
    processes: { type: 'string', default: '6' },
    help: { type: 'boolean', default: false },
  },
});
const counts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));

/** Each section gives its subjects: a name, how often it is run, and a run that returns what differed, or ''. */
const SECTIONS = {
  'ci-quiet': { isQuiet: true, subjects: () => [['.ci/run', counts['ci-quiet'], runCi]] },
  'ci-busy': { subjects: () => [['.ci/run', counts['ci-busy'], runCi]] },
  'right-tools': {
    subjects: () => RIGHT_TOOLS.map(name => [name, counts.right, () => checkRightTool(name)]),
  },
  'right-runtimes': {
    subjects: () =>
      Object.entries(RIGHT_RUNTIMES).map(([name, command]) => [
        name,
        counts.right,
        () => check(['--runtime', command, ...SLOW_START], expectPassed),
      ]),
  },
  'broken-tools': {
    subjects: async () =>
      (await loadTables()).tools.map(tool => [
        `${tool.id}: ${tool.does}`,
        counts.broken,
        () => checkBrokenTool(tool),
      ]),
  },
  'broken-runtimes': {
    subjects: () =>
      Object.entries(BROKEN_RUNTIMES).map(([fault, [id, scenario]]) => [
        `${id}: ${fault}`,
        counts.broken,
        () => checkBrokenRuntime(fault, id, scenario),
      ]),
  },
};

const unknown = positionals.filter(name => !Object.hasOwn(SECTIONS, name));
if (values.help || unknown.length > 0) {
  process.stderr.write(`${unknown.map(name => `unknown section: ${name}\n`).join('')}${USAGE}`);
  process.exit(values.help ? 0 : 2);
}

/** Ends if this process was killed. */
const COMPUTE =
  'const { ppid } = process; for (let n = 0; ; n++) if (n % 1e7 === 0 && process.ppid !== ppid) process.exit();';

const busy = new Set();
process.on('exit', endBusyProcesses);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

const chosen = positionals.length > 0 ? positionals : Object.keys(SECTIONS);
if (chosen.some(name => !name.startsWith('ci-')))
  execFileSync(process.execPath, ['.build/build.mjs'], { cwd: ROOT });
const rows = [];
for (const name of chosen) {
  const { isQuiet = false, subjects } = SECTIONS[name];
  const found = await subjects();
  if (!isQuiet) startBusyProcesses(counts.processes);
  for (const [subject, count, run] of found) rows.push(await repeat(name, subject, count, run));
  endBusyProcesses();
}
process.stdout.write(tableOf(rows));
process.exit(rows.some(({ differed }) => differed.length > 0) ? 1 : 0);

function startBusyProcesses(count) {
  for (let started = 0; started < count; started++)
    busy.add(spawn(process.execPath, ['-e', COMPUTE], { stdio: 'ignore' }));
}

function endBusyProcesses() {
  for (const child of busy) child.kill('SIGKILL');
  busy.clear();
}

async function repeat(section, subject, count, run) {
  const differed = [];
  const start = performance.now();
  for (let time = 1; time <= count; time++) {
    const difference = await run().catch(error => String(error?.stack ?? error));
    if (difference !== '') differed.push(difference);
    process.stderr.write(`${section} · ${subject} · ${time} of ${count} · ${difference || 'as expected'}\n`);
  }
  const seconds = Math.round((performance.now() - start) / 100 / Math.max(1, count)) / 10;
  return { section, subject, count, seconds, differed };
}

async function runCi() {
  const { status, stdout, stderr } = await run('.ci/run', []);
  if (status === 0) return '';
  const lines = `${stdout}\n${stderr}`.split('\n').filter(line => /FAIL|Error:|failed/.test(line));
  return `status ${status}: ${[...new Set(lines)].slice(0, 10).join(' | ')}`;
}

async function checkRightTool(name) {
  const isPython = name.endsWith('.py');
  const path = join(ROOT, 'test/peers', name);
  const tool = await startTool(isPython ? ['python3', '-B', path] : [process.execPath, path]);
  try {
    return await check([tool.url], expectPassed);
  } finally {
    tool.stop();
  }
}

async function checkBrokenTool({ id, status, start }) {
  const tool = await start();
  try {
    return await check([tool.url, '--only', id], expectOnly(id, status));
  } finally {
    await tool[Symbol.asyncDispose]();
  }
}

async function checkBrokenRuntime(fault, id, scenario) {
  const { masksOf } = await loadTables();
  const judge = expectOnly(id, undefined, masksOf(id));
  return check(['--runtime', RUNTIME, '--scenario', scenario], judge, { FAULT: fault });
}

/** @param judge returns what differs in a report, or '' */
async function check(args, judge, env = {}) {
  const { status, stdout, stderr } = await run(
    process.execPath,
    [PROGRAM, 'check', ...args, '--reporter', 'json'],
    env,
  );
  if (!stdout.startsWith('{')) return `status ${status}: ${stderr.trim()}`;
  const report = JSON.parse(stdout);
  const rows = report.checks
    .filter(row => !['pass', 'not-applicable'].includes(row.status))
    .map(row => ({ ...row, text: `${row.id} ${row.status}: ${row.reason}` }));
  return judge({ status, rows, stderr });
}

function expectPassed({ status, rows, stderr }) {
  const differences = [...rows.map(row => row.text), ...stderr.split('\n')].filter(line => line !== '');
  return status === 0 && differences.length === 0 ? '' : `status ${status}: ${differences.join(' | ')}`;
}

/** The rule is reported, and no other one that it does not mask. */
function expectOnly(id, wanted, masks = []) {
  return ({ rows }) => {
    const own = rows.find(row => row.id === id);
    const isWanted = wanted === undefined ? ['fail', 'warn'].includes(own?.status) : own?.status === wanted;
    const isOther = row => row !== own && ['fail', 'warn'].includes(row.status) && !masks.includes(row.id);
    if (isWanted && !rows.some(isOther)) return '';
    return rows.length === 0 ? 'nothing was found' : rows.map(row => row.text).join(' | ');
  };
}

/** Starts a tool that prints its port. */
async function startTool([command, ...args]) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { url: `http://127.0.0.1:${JSON.parse(line).port}`, stop: () => child.kill() };
}

async function run(command, args, env = {}) {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [status, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { status: status ?? signal, stdout, stderr };
}

function tableOf(all) {
  const lines = all.map(({ section, subject, count, seconds, differed }) => [
    section,
    subject,
    `${count - differed.length} of ${count}`,
    `${seconds} s`,
    [...new Set(differed)].join('; '),
  ]);
  const table = [['section', 'subject', 'as expected', 'each', 'differences'], ...lines];
  const widths = [0, 1, 2, 3].map(column => Math.max(...table.map(row => row[column].length)));
  return table
    .map(
      row =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
