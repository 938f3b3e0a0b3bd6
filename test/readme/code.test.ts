import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startSessionPlatform } from '../../src/agent-session/platform/platform.js';
import { readFixtures } from '../../src/fixtures/read-fixtures.js';
import { startMockTool } from '../../src/mock/mock-tool.js';
import { runHere } from '../e2e/support/in-process.js';
import { startPeer } from '../e2e/support/peers.js';
import { openRuntime } from '../peers/runtime.mjs';
import { blocksOf, type Document, fileOf, guide, outputOf, README } from './examples.js';

test('every export of the library is in its guide', async () => {
  const guideText = await readFile('src/guides/library.md', 'utf8');
  const words = new Set(guideText.match(/\w+/g));
  const names = Object.keys(await import('../../src/index.js'));
  expect(names.filter(name => !words.has(name))).toEqual([]);
});

const run = promisify(execFile);
const { dependencies } = JSON.parse(await readFile('package.json', 'utf8'));
const CLI = 'node bin/protocol-cli.cjs';
const VITEST = resolve('node_modules/vitest/vitest.mjs');
/** What users load is copied: vitest would compile a linked folder as if it were the user's own code. */
const PACKAGE = ['package.json', 'dist', 'fixtures'];
/** Other blocks that tests run: 'client.mjs' in guides.test.ts, README's 'tool.mjs' in readme.test.ts. */
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'readme-'));
  await Promise.all(
    PACKAGE.map(each => cp(each, join(folder, 'node_modules/protocol-cli', each), { recursive: true })),
  );
  await Promise.all(
    [...Object.keys(dependencies), 'vitest'].map(each =>
      symlink(resolve('node_modules', each), join(folder, 'node_modules', each)),
    ),
  );
  await symlink(resolve('fixtures'), join(folder, 'fixtures'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
});
afterAll(() => rm(folder, { recursive: true }));

/** A project with the files of a document beside the installed package. */
async function project(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  await Promise.all(Object.entries(files).map(([file, text]) => writeFile(join(path, file), text)));
  return path;
}

const FIXTURES = 'version: 1\nfixtures:\n  - match: { operation: edit_file }\n';

/** The comments of a script that say what it prints. */
const promisedBy = (text: string) =>
  [...text.matchAll(/console\.log.*\/\/ (.*)$/gm)].map(([, said]) => `${said}\n`).join('');

/** One vitest runs all examples of a test, since to start it takes longer than they do. */
describe.concurrent('a mock in a test', () => {
  let path = '';
  beforeAll(async () => {
    path = await project('mocks', {
      'agent.test.js': fileOf(guide('mocks'), 'agent.test.js'),
      'fixtures.test.js': fileOf(guide('mocks'), 'fixtures.test.js'),
      'fixtures.yaml': `${FIXTURES}    reply: { payload: 'Replaced text in {{arguments.path}}' }\n`,
      'agent.js': `import { connect, llmTextOf } from 'protocol-cli';
        export async function runAgent(url, task) {
          const tool = await connect(url);
          const exchange = await tool.invoke('edit_file', { path: task.replace('edit ', '') });
          await tool.close();
          return llmTextOf(exchange);
        }`,
    });
    const files = ['fixtures.yaml', 'agent.test.js'].map(name => [name, fileOf(README, name)] as const);
    await project('mocks/readme', Object.fromEntries(files));
  });

  test('the vitest examples of the README and of the guide pass, after --', async () => {
    const vitest = `cd ${path} && env -i PATH="$PATH" NO_COLOR=1 TOOL_URL="$TOOL_URL" node ${VITEST} run`;
    const { stdout } = await outputOf(`${CLI} mock-tool ${path}/readme/fixtures.yaml -q -- ${vitest}`);
    expect(stdout).toMatch(/Tests\s+3 passed/);
  });

  test('README: fails if the fixture is not called', async () => {
    const mock = runHere(['mock-tool', `${path}/readme/fixtures.yaml`, '-q', '--', 'true']);
    expect((await mock).status).toBe(1);
  });
});

describe.concurrent('fixtures', () => {
  test('the first file answers as described', async () => {
    await using tool = await startMockTool({
      fixtures: await fixturesIn(guide('fixtures'), 'fixtures.yaml'),
    });
    await using runtime = await openRuntime();
    const edit = await runtime.invoke(tool.url, 'edit_file', { path: 'main.rs' });
    expect((await edit.result()).body).toMatchObject({
      text: 'Replaced text in main.rs',
      display_as: [
        { type: 'diff', content: { path: 'src/main.rs', patch: expect.stringContaining('+b\n') } },
        { type: 'text', content: 'edit_file main.rs: 1 insertion' },
      ],
    });
    const texts = [];
    for (let count = 0; count < 2; count++) {
      const pay = await runtime.invoke(tool.url, 'pay', { amount: 5 }, { groupId: 'thread' });
      texts.push((await pay.result()).body?.['text']);
    }
    expect(texts).toEqual(['Error: rate limited, retry in 60 s', '{"paid":5}']);
    expect(runtime.verdict()).toEqual([]);
  });

  test("the handlers of 'tool.mjs' answer", async () => {
    const path = await project('handlers', { 'tool.mjs': fileOf(guide('fixtures'), 'tool.mjs') });
    const call = `${CLI} invoke $TOOL_URL rename_file path=a.txt`;
    const { stdout } = await outputOf(`${CLI} mock-tool --handlers ${path}/tool.mjs -q -- ${call}`);
    expect(stdout).toBe('renamed a.txt');
  });

  test("the middleware of 'middleware.mjs' sees the calls", async () => {
    const path = await project('middleware', {
      'middleware.mjs': fileOf(guide('fixtures'), 'middleware.mjs'),
      'fixtures.yaml': `${FIXTURES}    reply: { payload: { ok: true } }\n`,
    });
    using log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const mock = `${CLI} mock-tool ${path}/fixtures.yaml --handlers ${path}/middleware.mjs -q`;
    const { stdout } = await outputOf(`${mock} -- ${CLI} invoke $TOOL_URL edit_file`);
    expect(stdout).toBe('{"ok":true,"answered":"edit_file"}');
    expect(log.mock.calls).toEqual([['edit_file']]);
  });
});

/** A client that answers the one call of the platform. */
const CLIENT = `
await fetch(\`\${platform.url}/api/v2/sessions/\${platform.session}/tool_results\`, {
  method: 'POST',
  headers: { authorization: \`Bearer \${platform.key}\`, 'content-type': 'application/json' },
  body: JSON.stringify({
    kind: 'tool_result',
    tool_req: { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' },
    result: 'shipped',
  }),
});
`;

/** One process runs all of them, since to start it takes longer than they do. */
test.concurrent('the scripts that use the library print the output shown', async () => {
  await using tool = await startPeer('plain');
  const platform = await startSessionPlatform();
  try {
    const [before = '', after = ''] = fileOf(guide('sessions'), 'platform.mjs').split('const { status');
    const answer = fileOf(guide('sessions'), 'answer.mjs')
      .replace('http://127.0.0.1:3002', platform.url)
      .replace("'00000000-0000-4000-8000-000000000001'", `'${platform.session}'`)
      .replace('process.env.API_KEY', `'${platform.key}'`);
    const call = fileOf(guide('library'), 'call.ts');
    const { code } = await transform(call.replace('http://127.0.0.1:3001', tool.url), {
      loader: 'ts',
      target: 'node20',
    });
    const transcript = fileOf(guide('library'), 'transcript.mjs');
    const scripts = {
      'platform.mjs': `${before}${CLIENT}const { status${after}console.log(status, answer, process.env.SESSION_URL === platform.url);await platform.close();`,
      'answer.mjs': `${answer}console.log(status, answer)`,
      'call.mjs': code,
      'transcript.mjs': transcript,
    };
    const path = await project('scripts', scripts);
    await symlink(join(folder, 'fixtures'), join(path, 'fixtures'));
    const all = Object.keys(scripts).map(name => `console.log('--');await import('./${name}');`);
    await writeFile(join(path, 'all.mjs'), all.join('\n'));
    const env = { PATH: process.env['PATH'], NO_COLOR: '1' };
    const { stdout } = await run(process.execPath, ['all.mjs'], { cwd: path, env });
    const [, ...printed] = stdout.split('--\n');
    expect(printed).toEqual([
      'completed Order A1: shipped true\n',
      expect.stringMatching(/^completed Order A1: /),
      promisedBy(call),
      promisedBy(transcript),
    ]);
  } finally {
    await platform.close();
  }
});

test.concurrent("runtimes: the driver of 'driver.mjs' passes", async () => {
  const path = await project('runtimes', { 'driver.mjs': fileOf(guide('runtimes'), 'driver.mjs') });
  const { stdout } = await outputOf(`${CLI} check --runtime 'node ${path}/driver.mjs' --scenario result -q`);
  expect(stdout).toMatch(/✓ passed · 1 scenario/);
});

test.concurrent('protocol: the minimal tool in Python passes a check', async () => {
  const [block = ''] = blocksOf(guide('protocol').text, 'python');
  const path = await project('python', { 'tool.py': block.replace('3001', '0') });
  const { stdout } = await outputOf(`${CLI} check --command 'python3 ${path}/tool.py' -q`);
  expect(stdout).toMatch(/^✓ passed/m);
});

test.concurrent('protocol: a handwritten invocation is answered', async () => {
  const [block = ''] = blocksOf(guide('protocol').text, 'sh').filter(each => each.includes('curl '));
  const [listener = '', ...curl] = block.replaceAll('4000', '0').split('\n');
  const sayPort = 'function () { process.stdout.write(String(this.address().port)); }';
  const heard = spawn(process.execPath, [
    '-e',
    `${/'(.*)'/.exec(listener)?.[1]}.on('listening', ${sayPort})`,
  ]);
  const [port] = await once(heard.stdout, 'data');
  await using tool = await startMockTool({ fixtures: await fixturesIn(guide('fixtures'), 'fixtures.yaml') });
  const line = curl.join('\n').replace('http://127.0.0.1:3001', tool.url).replace(':0/', `:${port}/`);
  const callback = once(heard.stdout, 'data'); // it may arrive before curl ends
  await run('sh', ['-c', line]);
  const [said] = await callback;
  heard.kill();
  expect(JSON.parse(said)).toMatchObject({ type: 'tool_result', text: 'Replaced text in src/main.rs' });
});

async function fixturesIn(document: Document, path: string) {
  return readFixtures([{ path, text: fileOf(document, path) }]);
}
