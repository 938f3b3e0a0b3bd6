import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readFixtures } from '../../src/fixtures/read-fixtures.js';
import { startMockTool } from '../../src/tool/mock-tool.js';
import { runHere } from '../e2e/support/in-process.js';
import { openRuntime } from '../peers/runtime.mjs';
import { blocksOf } from './examples.js';

const run = promisify(execFile);
const readme = await readFile('README.md', 'utf8');
/** The blocks of a language that begin with a comment naming this file. */
const fileOf = (language: string, name: string) =>
  blocksOf(readme, language).find(block => block.includes(`# ${name}`) || block.includes(`// ${name}`)) ?? '';
/** Which port it is. */
const SAY = 'function () { process.stdout.write(String(this.address().port)); }';
/** What of the package its users load: copied, since what is linked would be compiled again as if it were their own. */
const PACKAGE = ['package.json', 'dist'];
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'readme-'));
  await Promise.all(
    PACKAGE.map(each => cp(each, join(folder, 'node_modules/protocol-cli', each), { recursive: true })),
  );
  await symlink(resolve('node_modules/zod'), join(folder, 'node_modules/zod'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('the fixtures of the README', () => {
  const text = fileOf('yaml', 'fixtures.yaml');

  test('answer as the text beside them says', async () => {
    await using tool = await startMockTool({
      fixtures: await readFixtures([{ path: 'fixtures.yaml', text }]),
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
});

describe('the commands of the README', () => {
  test('an invocation by hand is answered', async () => {
    const [block = ''] = blocksOf(readme, 'sh').filter(each => each.includes('curl '));
    const [listener = '', ...curl] = block.replaceAll('4000', '0').split('\n');
    const heard = spawn(process.execPath, ['-e', `${/'(.*)'/.exec(listener)?.[1]}.on('listening', ${SAY})`]);
    const [port] = await once(heard.stdout, 'data');
    await using tool = await startMockTool({
      fixtures: await readFixtures([{ path: 'f.yaml', text: fileOf('yaml', 'fixtures.yaml') }]),
    });
    const line = curl.join('\n').replace('http://127.0.0.1:3001', tool.url).replace(':0/', `:${port}/`);
    const callback = once(heard.stdout, 'data'); // it may come before curl has ended
    await run('sh', ['-c', line]);
    const [said] = await callback;
    heard.kill();
    expect(JSON.parse(said)).toMatchObject({ type: 'tool_result', text: 'Replaced text in main.rs' });
  });

  test('reading a file', async () => {
    const [source = ''] = blocksOf(readme, 'js').filter(block => block.includes('readFixtures('));
    await writeFile(join(folder, 'fixtures.yaml'), fileOf('yaml', 'fixtures.yaml'));
    await writeFile(
      join(folder, 'read.mjs'),
      `${source}\nconsole.log(tool.toolset.tools.length);await tool.close();`,
    );
    const { stdout } = await run(process.execPath, ['read.mjs'], { cwd: folder });
    expect(stdout).toBe('2\n');
  });
});

test('the vitest example passes, in a project of its own', { timeout: 60_000 }, async () => {
  await symlink(resolve('node_modules/vitest'), join(folder, 'node_modules/vitest'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'agent.test.js'), fileOf('js', 'agent.test.js'));
  await writeFile(
    join(folder, 'agent.js'),
    `import { connect, llmTextOf } from 'protocol-cli';
     export async function runAgent(url, task) {
       const tool = await connect(url);
       const exchange = await tool.invoke('edit_file', { path: task.replace('edit ', '') });
       await tool.close();
       return llmTextOf(exchange);
     }`,
  );
  const { stdout } = await run(process.execPath, [resolve('node_modules/vitest/vitest.mjs'), 'run'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], NO_COLOR: '1' },
  });
  expect(stdout).toMatch(/Tests\s+1 passed/);
});

test('the job and the network are YAML, and use flags that exist', async () => {
  const job = parse(fileOf('yaml', '.github/workflows/runtime.yml'));
  const network = parse(fileOf('yaml', 'docker-compose.yml'));
  const lines: string[] = [job.jobs.tools.steps.at(3).run, network.services.mock.command];
  const { stdout: help } = await runHere(['mock-tool', '--help']);
  for (const line of lines)
    for (const [flag] of line.split(' -- ')[0]?.matchAll(/--(?!yes)[a-z-]+/g) ?? [])
      expect(help).toContain(`${flag} <`);
});
