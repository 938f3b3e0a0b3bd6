import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRuntime } from '../../peers/runtime.mjs';
import { isRunning } from '../../support/is-running.js';
import { eventually } from '../support/eventually.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { startMockProcess } from '../support/mock.js';
import { ROOT, run, shellLine } from '../support/program.js';

/** Operations in code, and a mock in another program. */
const TOOL = `
import { defineTool, payload, result } from 'protocol-cli';
export default defineTool({
  name: 'edit_file',
  description: 'Replace text in a file',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  async handle({ arguments: args, group_id, signal }, call) {
    if (args.path === 'boom') throw new Error('without disk');
    if (args.path === 'wait') return new Promise(resolve => signal.addEventListener('abort', () => {
      process.stderr.write('called off\\n');
      resolve(payload('late'));
    }));
    if (args.path.startsWith('/')) return payload({ refused: args.path, token: 'hush' });
    await call.event('halfway');
    return result({ text: 'done in ' + group_id, display_as: [{ type: 'text', content: 'edit_file' }] });
  },
});
`;

/** A project that depends on the built package. */
async function dependent(): Promise<Folder> {
  const folder = await temporaryFolder();
  await mkdir(folder.file('node_modules'));
  await symlink(ROOT, folder.file('node_modules/protocol-cli'));
  await folder.write('tool.mjs', TOOL);
  return folder;
}

describe.concurrent('--handlers', () => {
  it('answers with a module that imports the library', async () => {
    await using folder = await dependent();
    await using mock = await startMockProcess(['--handlers', 'tool.mjs'], { cwd: folder.path });
    await using runtime = await openRuntime();
    const { tools } = await runtime.discover(mock.url);
    expect(tools).toMatchObject([{ name: 'edit_file', inputSchema: { required: ['path'] } }]);
    const textOf = async (args: Record<string, unknown>) => {
      const call = await runtime.invoke(mock.url, 'edit_file', args, { groupId: 't' });
      return (await call.result()).body?.['text'];
    };
    expect(await textOf({ path: '/etc' })).toBe('{"refused":"/etc","token":"[redacted]"}');
    expect(await textOf({ path: 'boom' })).toBe('Error: without disk');
    expect(await textOf({})).toMatch(/^Error: .*path/);
    expect(await textOf({ path: 'a' })).toBe('done in t');
    const waiting = await runtime.invoke(mock.url, 'edit_file', { path: 'wait' }, { groupId: 't', id: 'w' });
    await runtime.cancel(mock.url, 't', 'w');
    await mock.printsToStderr(/called off/);
    expect((await waiting.result()).body).toMatchObject({ text: 'late' });
  });

  it('runs middleware for calls of handlers and of fixtures', async () => {
    await using folder = await temporaryFolder();
    await folder.write(
      'tool.mjs',
      `export const middleware = {
        onRequest: invocation => ({ ...invocation, arguments: { ...invocation.arguments, who: 'Ada' } }),
        onResponse: payload => payload + '!',
      };
      export default { name: 'greet', description: 'Greets', inputSchema: {}, handle: ({ arguments: { who } }) => 'hello ' + who };`,
    );
    const fixtures = await folder.write(
      'f.yaml',
      'version: 1\nfixtures: [{ match: { operation: echo }, reply: { payload: "{{arguments.who}}" } }]\n',
    );
    await using mock = await startMockProcess([fixtures, '--handlers', 'tool.mjs'], { cwd: folder.path });
    await using runtime = await openRuntime();
    const textOf = async (operation: string) => {
      const call = await runtime.invoke(mock.url, operation, {});
      return (await call.result()).body?.['text'];
    };
    expect([await textOf('greet'), await textOf('echo')]).toEqual(['hello Ada!', 'Ada!']);
  });

  it('an unusable module is an error without a stack', async () => {
    await using folder = await temporaryFolder();
    await folder.write('broken.mjs', 'export default {\n');
    const { status, stdout, stderr } = await run(['mock-tool', '--handlers', 'broken.mjs'], {
      cwd: folder.path,
    });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: broken\.mjs cannot be loaded: .*\nhint: node --check broken\.mjs .*\n$/);
  });
});

describe.concurrent('started by a runtime', () => {
  const FIXTURES =
    'version: 1\nfixtures: [{ match: { operation: a }, reply: { payload: "{{arguments.text}}" } }]\n';

  it('by --command: through sh, found by its first line, stopped by a signal to its group', async () => {
    await using folder = await temporaryFolder();
    await folder.write('f.yaml', FIXTURES);
    const line = `echo $$ > pid; exec ${shellLine(['mock-tool', 'f.yaml', '--verify'])} 2> said`;
    const ended = await run(['invoke', '--command', line, 'a', 'text=hello'], { cwd: folder.path });
    expect(ended).toMatchObject({ status: 0, stdout: 'hello' });
    const pid = Number(await readFile(folder.file('pid'), 'utf8'));
    await eventually('it is gone', () => !isRunning(pid));
    expect(await readFile(folder.file('said'), 'utf8')).toMatch(/^✓ .*1 call/m);
  });

  it('by a toolset_command of .infinity/rap.json', async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.file('.infinity'));
    await folder.write(join('.infinity', 'f.yaml'), FIXTURES); // where the command runs
    const config = {
      tool_sets: [{ type: 'toolset_command', command: shellLine(['mock-tool', 'f.yaml', '-q']) }],
    };
    await folder.write(join('.infinity', 'rap.json'), JSON.stringify(config));
    expect(await run(['invoke', 'a', 'text=hello', '--yes'], { cwd: folder.path })).toMatchObject({
      status: 0,
      stdout: 'hello',
    });
  });
});
