import { randomUUID } from 'node:crypto';
import { access } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { killProcessesWith } from '../../../src/check/drive/kill-processes.js';
import { temporaryFolder } from '../support/folder.js';
import { runHere, startHere } from '../support/in-process.js';

const DRIVER = new URL('../../../fixtures/runtimes/node/driver.mjs', import.meta.url).href;

/** A driver that works; `before` runs first. */
const working = (before = '') => `
import { drive } from ${JSON.stringify(DRIVER)};
import { spawn } from 'node:child_process';
${before}
await drive({ input: process.stdin, output: process.stdout, env: process.env });
process.exit();
`;

/** A child that keeps our pipes open. */
const CHILD = `spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: DETACHED, stdio: STDIO })`;
const child = (detached: boolean, stdio: string) =>
  CHILD.replace('DETACHED', String(detached)).replace('STDIO', `'${stdio}'`);

/** Invokes without end, and accepts every callback. */
const FLOOD = `
const { createServer } = await import('node:http');
const { once } = await import('node:events');
const server = createServer((request, response) => request.resume().on('end', () => response.end()));
await once(server.listen(0, '127.0.0.1'), 'listening');
const callback_url = 'http://127.0.0.1:' + server.address().port + '/';
const { endpoint } = await (await fetch(process.env.TOOL_URL + '/.well-known/rap-toolset')).json();
const invocation = { operation: 'ping', arguments: {}, callback_url, group_id: 'flood' };
const headers = { 'content-type': 'application/json' };
const invoke = async id => {
  const body = JSON.stringify({ ...invocation, id });
  await fetch(endpoint, { method: 'POST', headers, body }).then(answer => answer.text()).catch(() => {});
};
for (let count = 0; ; count += 10)
  await Promise.all(Array.from({ length: 10 }, (_, index) => invoke('flood_' + (count + index))));
`;

/** Ends after the invocation, like a runtime that crashes at a result. */
const CRASH = `
const { createServer } = await import('node:http');
createServer((request, response) => {
  console.error('file:///runtime.mjs:7\\nTypeError: cannot read text\\n    at a\\n\\nNode.js v20');
  process.exit(3);
}).listen(0, '127.0.0.1', async function () {
  const { tools, endpoint } = await (await fetch(process.env.TOOL_URL + '/.well-known/rap-toolset')).json();
  process.stdin.once('data', async data => {
    const { operation, arguments: args, id } = JSON.parse(String(data).split('\\n')[0]);
    const callback_url = 'http://127.0.0.1:' + this.address().port + '/';
    await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ operation, arguments: args, id, callback_url, group_id: 'thread' }),
    });
  });
});
`;

interface Case {
  readonly does: string;
  readonly script: string;
  readonly status: number;
  readonly says: readonly string[];
  readonly options?: readonly string[];
}

const CASES: readonly Case[] = [
  {
    does: 'also writes lines that are not JSON, and names an unknown ability',
    script: working(
      `for (const line of ['listening on port 1', '{"saw":"smell"}', '{"cannot":["dissmiss"]}']) console.log(line);`,
    ),
    status: 0,
    says: [
      'warning: ignored a line of the driver: not valid JSON: "listening on port 1" (in result)',
      '"migrated": "saw": "smell" (in result)',
      '"cannot" lists "dissmiss", which is unknown. Did you mean "dismiss"? (in result)',
    ],
  },
  {
    does: 'declares an unknown ability, and a list that is a text',
    script: working(`for (const line of ['{"can":["child-tread"]}', '{"can":"fly"}']) console.log(line);`),
    status: 0,
    says: [
      '"can" lists "child-tread", which is unknown. Did you mean "child-thread"? (in result)',
      'ignored a line of the driver: $.can: must be an array: "{"can":"fly"}" (in result)',
    ],
  },
  {
    does: 'writes a line of 10 MB',
    script: `process.stdout.write('x'.repeat(10e6)); setInterval(() => {}, 1000);`,
    status: 4,
    says: ['the driver wrote a line of more than 8 MiB; it was stopped'],
  },
  {
    does: 'floods stdout with lines',
    script: working(
      `const flood = () => { while (process.stdout.write('{"cannot":[]}\\n'.repeat(100))); process.stdout.once('drain', flood); }; flood();`,
    ),
    status: 4,
    says: ['the driver wrote more than 10000 lines; it was stopped'],
  },
  {
    does: 'floods the tool with invocations',
    script: FLOOD,
    status: 3,
    options: ['--probe-timeout', '60s', '--only', 'RT-SERIAL'], // a rule that it breaks would be tried again
    says: [
      'warning: the runtime sent more than 1000 requests; it was stopped (in result)',
      'the runtime sent more than 1000 requests; it was stopped',
    ],
  },
  {
    does: 'writes to stderr without end, and exits',
    script: `console.error('x'.repeat(5e6)); console.error('boom at line 5'); process.exitCode = 3;`,
    status: 4,
    says: ['error: the driver ended with status 3', '  boom at line 5', 'protocol-cli help runtimes'],
  },
  {
    does: 'has a module that is missing',
    script: `import './no-such-file.mjs';`,
    status: 4,
    says: [
      'error: the driver ended with status 1',
      'Its program or a file of it was not found: check the paths',
    ],
  },
  {
    does: 'crashes at a result',
    script: CRASH,
    status: 1,
    says: ['✗ RT-TEXT', 'the runtime ended with status 3. Last output: TypeError: cannot read text'],
  },
  {
    does: 'closes stdout',
    script: `import { closeSync } from 'node:fs'; closeSync(1); setInterval(() => {}, 1000);`,
    status: 4,
    says: ['the driver closed its stdout; it was stopped'],
  },
  {
    does: 'ignores the end, the end of stdin and SIGTERM',
    script: `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); ${working('process.exit = () => {};')}`,
    status: 0,
    says: ['the driver did not end within 2s after {"do":"end"}; it was stopped (in result)'],
  },
  {
    does: 'leaves children: with its stdout open, in a process group of its own, without a parent',
    script: working(
      `${child(false, 'inherit')}; ${child(true, 'ignore')}.unref();
      spawn('sh', ['-c', 'setsid sleep 100 & exit'], { detached: true, stdio: 'ignore' }).unref();`,
    ),
    status: 0,
    says: ['✓ passed', 'warning: the runtime left processes running; they were stopped: ', 'node', 'sleep'],
  },
];

const ONE = ['--scenario', 'result', '--probe-timeout', '2s', '--skip', 'RT-NOTIFY'];

describe('a driver that', () => {
  test.each(CASES)('$does: a clear message, and nothing left running', async each => {
    const { script, status, says, options = [] } = each;
    await using folder = await temporaryFolder();
    const mark = randomUUID();
    const command = `export MARK=${mark}; exec node ${await folder.write('driver.mjs', script)}`;
    const ended = await runHere(['check', '--runtime', command, ...ONE, ...options]);
    const printed = ended.stdout + ended.stderr;
    for (const words of says) expect(printed).toContain(words);
    expect(printed.length).toBeLessThan(20_000);
    expect(ended.status).toBe(status);
    expect(await killProcessesWith('MARK', mark)).toEqual([]);
  });
});

const SILENT = ['check', '--runtime', 'exec sleep 100', '--scenario', 'result'];

test.each([
  [
    [],
    /waiting for the first sign of the driver, for up to 20s: --ready-timeout \(15s\) and --probe-timeout \(5s\)\n/,
  ],
  [['--ready-timeout', '2m'], /, for up to 2m 5s: --ready-timeout \(2m\) and --probe-timeout \(5s\)\n/],
])(
  'that shows nothing for 3 s, with %j: a line on stderr says how long it is waited for',
  async (ready, line) => {
    const check = startHere([...SILENT, ...ready]);
    await check.prints(line);
    check.interrupt();
    expect((await check.ended).status).toBe(130);
  },
);

test('that shows nothing within --ready-timeout is an error', async () => {
  const { status, stderr } = await runHere([...SILENT, '--ready-timeout', '1ms', '--probe-timeout', '1ms']);
  expect(stderr).toMatch(/^error: the driver called no tool and reported nothing\n/); // nothing before it
  expect(status).toBe(4);
});

test('Ctrl-C stops the command, and prints what was found', async () => {
  await using folder = await temporaryFolder();
  const mark = randomUUID();
  const script = working(`console.error('config ' + process.env.RAP_CONFIG); console.error('started');
    process.stdin.pause(); await new Promise(() => setInterval(() => {}, 1000));`);
  const command = `MARK=${mark} node ${await folder.write('driver.mjs', script)}`;
  const check = startHere(['check', '--runtime', command, '--scenario', 'result', '-v']);
  await check.prints(/result: started/);
  check.interrupt();
  const { status, stderr } = await check.ended;
  expect(status).toBe(130);
  expect(stderr).toContain('interrupted; no failures so far');
  const [, config = ''] = /result: config (.*)/.exec(stderr) ?? [];
  expect(config).toMatch(/rap\.json$/);
  await expect(access(config)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await killProcessesWith('MARK', mark)).toEqual([]);
});

test('without a list of processes, nothing is looked for', async () => {
  expect(await killProcessesWith('MARK', 'x', '/proc/nowhere')).toBeNull();
});
