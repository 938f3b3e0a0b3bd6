import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { openRuntime } from '../../peers/runtime.mjs';
import { temporaryFolder } from '../support/folder.js';
import { ask } from '../support/http.js';
import { runHere } from '../support/in-process.js';
import { startMockHere, startMockProcess } from '../support/mock.js';
import { run } from '../support/program.js';
import { silentServer } from '../support/sockets.js';

/** What comes in may be huge, odd, costly or sly: the mock answers the next call all the same. */
const MiB = 1024 * 1024;
const ECHO =
  'version: 1\nfixtures: [{ match: { operation: a }, reply: { payload: "{{arguments.text}}" } }]\n';

describe.concurrent('invocations', () => {
  it('row 15: an endless body is answered 413, and memory stays flat', async () => {
    await using folder = await temporaryFolder();
    await using mock = await startMockProcess([await folder.write('f.yaml', ECHO), '--max-body', '1m']);
    await using runtime = await openRuntime();
    await (await runtime.invoke(mock.url, 'a', { text: 'warm' })).result();
    const before = await peakMemory(mock.pid);
    for (let n = 0; n < 20; n++) expect(await endless(`${mock.url}/invoke`)).toBe(413);
    expect((await peakMemory(mock.pid)) - before).toBeLessThan(100 * MiB);
    const call = await runtime.invoke(mock.url, 'a', { text: 'next' });
    expect((await call.result()).body).toMatchObject({ text: 'next' });
    await mock.printsToStderr(/refused with 413/);
  });

  it('row 15: --max-body is exact', async () => {
    await using folder = await temporaryFolder();
    await using mock = await startMockHere([await folder.write('f.yaml', ECHO), '--max-body', '1k']);
    const body = (bytes: number) => '{}'.padEnd(bytes);
    expect((await ask(`${mock.url}/invoke`, { body: body(1024) })).status).toBe(200);
    expect((await ask(`${mock.url}/invoke`, { body: body(1025) })).status).toBe(413);
  });

  it('row 20: values that JSON cannot hold are reported and returned unchanged', async () => {
    await using folder = await temporaryFolder();
    await using mock = await startMockHere([await folder.write('f.yaml', ECHO)]);
    await using runtime = await openRuntime();
    const odd = await runtime.invoke(mock.url, 'a', {}, { id: 'odd', fields: { arguments: 'HERE' } });
    const body = JSON.stringify(odd.invocation)
      .replace('"odd"', '"odder"')
      .replace('"HERE"', '{"text":"\\ud800 9","n":9007199254740993,"big":1e400,"k":1,"k":2}');
    expect((await ask(`${mock.url}/invoke`, { body: `\ufeff${body}` })).status).toBe(200);
    const { raw } = await odd.waitFor(callback => callback.body?.['id'] === 'odder');
    expect(raw).toContain('"text":"\\ud800 9"');
    const { calls } = await mock.journal();
    const warnings = calls.find(({ id }) => id === 'odder')?.warnings.join('\n');
    for (const what of [
      /surrogate/,
      /9007199254740993/,
      /1e400/,
      /the key "k" occurs twice/,
      /byte-order mark/,
    ])
      expect(warnings).toMatch(what);
  });

  it('row 22: a catastrophic pattern in a schema or a fixture is interrupted; others are answered meanwhile', async () => {
    await using folder = await temporaryFolder();
    const file = await folder.write('f.yaml', CATASTROPHIC);
    await using mock = await startMockProcess([file]);
    await using runtime = await openRuntime();
    const evil = `${'a'.repeat(40)}!`;
    const costly = await Promise.all([
      runtime.invoke(mock.url, 'schema', { text: evil }),
      runtime.invoke(mock.url, 'fixture', { text: evil }),
    ]);
    const others = await Promise.all(Array.from({ length: 20 }, () => runtime.invoke(mock.url, 'plain', {})));
    expect((await Promise.all(others.map(call => call.result()))).map(({ body }) => body?.['text'])).toEqual(
      others.map(() => 'ok'),
    );
    for (const call of costly) expect((await call.result()).body?.['text']).toEqual(expect.any(String));
    await mock.printsToStderr(/250 ms/);
  });
});

describe.concurrent('fixtures', () => {
  it('row 23: a remote $ref in a schema is never fetched, and nothing is checked with it', async () => {
    await using canary = await silentServer();
    await using folder = await temporaryFolder();
    const schema = CATASTROPHIC.replace('REF', `"$ref": "${canary.url}/x.json"`);
    await using mock = await startMockHere([await folder.write('f.yaml', schema)]);
    await using runtime = await openRuntime();
    const call = await runtime.invoke(mock.url, 'schema', { other: 1 }, { id: 'remote' });
    const { body } = await call.result();
    expect(body?.['text']).toMatch(/^Error: cannot validate the arguments of schema: .*x\.json/);
    expect(canary.connections()).toBe(0);
  });

  it.each([
    ['a tag for code', '!!js/function "function () { process.exitCode = 42 }"'],
    ['a tag of another language', '!!python/object/apply:os.system ["exit 42"]'],
    ['a template', '"{{constructor.constructor(\'process.exitCode = 42\')()}}"'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the point
    ['an expression', '"${process.exitCode = 42} <%= process.exitCode = 42 %> #{exit 42}"'],
  ])('row 29: %s is data or an error, never code', async (_, payload) => {
    await using folder = await temporaryFolder();
    const file = await folder.write(
      'f.yaml',
      `version: 1\nfixtures:\n  - match: { operation: a }\n    reply: { payload: ${payload} }\n`,
    );
    const before = process.exitCode;
    const { status } = await runHere(['mock-tool', file, '-q', '--', 'true']);
    expect([1, 2]).toContain(status);
    expect(process.exitCode).toBe(before);
  });

  it('row 29: a module among the fixtures is not run; only --handlers runs modules', async () => {
    await using folder = await temporaryFolder();
    const module = `import { writeFileSync } from 'node:fs'; writeFileSync('ran', ''); process.exit(42);`;
    const asFixtures = await runHere(['mock-tool', await folder.write('f.mjs', module)]);
    expect(asFixtures).toMatchObject({ status: 2, stdout: '' });
    await expect(readFile(folder.file('ran'))).rejects.toThrow('ENOENT');
    expect((await run(['mock-tool', '--handlers', 'f.mjs'], { cwd: folder.path })).status).toBe(42);
  });
});

const CATASTROPHIC = `
version: 1
toolset:
  name: costly
  tools:
    - name: schema
      description: Has a costly schema.
      inputSchema: { type: object, properties: { text: { type: string, pattern: "^(a|a)*$" }, other: { REF } } }
    - { name: fixture, description: Has a costly fixture., inputSchema: { type: object } }
    - { name: plain, description: Is plain., inputSchema: { type: object } }
fixtures:
  - { match: { operation: fixture, arguments: { text: { $regex: "^(a|a)*$" } } }, reply: { payload: matched } }
  - { match: { operation: { $in: [schema, plain, fixture] } }, reply: { payload: ok } }
`;

/** Sends bytes until stopped. */
function endless(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } });
    const more = () => {
      while (!sending.destroyed && sending.write(Buffer.alloc(64 * 1024, 0x20)));
    };
    sending.on('drain', more).once('response', response => {
      resolve(response.statusCode ?? 0);
      sending.destroy();
    });
    sending.on('error', reject);
    more();
  });
}

/** In bytes. */
async function peakMemory(pid: number): Promise<number> {
  const [, kB = ''] = /VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kB) * 1024;
}
