import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { blocksOf } from './examples.js';

const run = promisify(execFile);

/** What a client does in the meantime. */
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

test('a session platform in code', async () => {
  const readme = await readFile('README.md', 'utf8');
  const source = blocksOf(readme, 'js').find(block => block.includes('startSessionPlatform(')) ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'readme-'));
  try {
    await mkdir(join(folder, 'node_modules'));
    await symlink(resolve('.'), join(folder, 'node_modules/protocol-cli'));
    const [before = '', after = ''] = source.split('const { status');
    const script = `${before}${CLIENT}const { status${after}console.log(status, answer, process.env.SESSION_URL === platform.url);await platform.close();`;
    await writeFile(join(folder, 'session.mjs'), script);
    const { stdout } = await run(process.execPath, ['session.mjs'], { cwd: folder });
    expect(stdout).toBe('completed Order A1: shipped true\n');
  } finally {
    await rm(folder, { recursive: true });
  }
});
