import { mkdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { invokeOnce } from '../../peers/runtime.mjs';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { startMockHere } from '../support/mock.js';
import { run } from '../support/program.js';

/** Which fixtures are served, and what is said of those that cannot be. */
const fixture = (operation: string, payload: string) =>
  `version: 1\nfixtures:\n  - match: { operation: ${operation} }\n    reply: { payload: "${payload}" }\n`;

async function textOf(url: string, operation: string): Promise<unknown> {
  const { callbacks } = await invokeOnce(url, operation, {});
  return callbacks.at(-1)?.body?.['text'];
}

describe.concurrent('serving fixtures', () => {
  it('of several files, in the given order', async () => {
    await using folder = await temporaryFolder();
    const one = await folder.write('one.yaml', fixture('a', 'from one'));
    const two = await folder.write('two.json', JSON.stringify(both('from two')));
    await using mock = await startMockHere([one, two]);
    expect(await textOf(mock.url, 'a')).toBe('from one');
    expect(await textOf(mock.url, 'b')).toBe('from two');
    await using other = await startMockHere([two, one]);
    expect(await textOf(other.url, 'a')).toBe('from two');
  });

  it('of a folder: all YAML and JSON files, by name', async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.file('deeper.yaml'));
    await folder.write('notes.md', '# not a fixture');
    await folder.write('fixtures.schema.json', '{}');
    await folder.write('20.yml', fixture('a', 'second'));
    await folder.write('10.yaml', fixture('a', 'first'));
    await using mock = await startMockHere([folder.path]);
    expect(await textOf(mock.url, 'a')).toBe('first');
  });
});

describe.concurrent('errors end the start with 2', () => {
  it('every error of every file: place, problem and suggestion', async () => {
    await using folder = await temporaryFolder();
    await folder.write('one.yaml', BROKEN);
    await folder.write(
      'two.json',
      '{"version": 1,\n "fixtures": [{"match": {"operation": "a"},\n  "reply": {}}]}',
    );
    await folder.write('three.yaml', 'version: 1\nfixtures:\n  - match: {\n');
    const ended = await run(['mock-tool', 'one.yaml', 'two.json', 'three.yaml'], { cwd: folder.path });
    expect(ended).toMatchObject({ status: 2, stdout: '' });
    const faults = ended.stderr.split('\n').filter(line => line.startsWith('  '));
    expect(faults).toEqual([
      '  one.yaml:4:14 $.fixtures[0].match.operaton: unknown field. Did you mean "operation"?',
      '  one.yaml:5:26 $.fixtures[0].reply.dely: unknown field. Did you mean "delay"?',
      '  one.yaml:6:27 $.fixtures[1].match.operation.$rexeg: unknown field. Did you mean "$regex"?',
      expect.stringMatching(
        /^ {2}one\.yaml:7:5 \$\.fixtures\[1\]\.reply: a step is exactly one of payload, result, /,
      ),
      expect.stringMatching(/^ {2}two\.json:3:\d+ \$\.fixtures\[0\]\.reply: /),
      expect.stringMatching(/^ {2}three\.yaml:4:1 not valid YAML: /),
    ]);
    expect(ended.stderr).toMatch(/^hint: /m);
  });

  it.each<[string, string | Uint8Array | null, RegExp]>([
    ['a file that is not there', null, /^error: cannot read the fixtures \S+\/a\.yaml: no such file/],
    ['a file that is not UTF-8', new Uint8Array([0xff, 0xfe, 0x41]), /a\.yaml: not valid UTF-8$/m],
    ['a file that is empty', '', /a\.yaml:1:1 the file is empty; it needs at least `version: 1`/],
    ['a version of the future', 'version: 2\nfixtures: []\n', /a\.yaml:1:\d+ \$\.version: must be 1/],
    ['a toolset that could not be offered', TWICE, /a\.yaml:\d+:\d+ \$\.toolset.*x|x.*twice|invalid/],
  ])('%s', async (_, content, says) => {
    await using folder = await temporaryFolder();
    if (content !== null) await folder.write('a.yaml', content);
    const ended = await runHere(['mock-tool', folder.file('a.yaml')]);
    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr).toMatch(says);
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });

  it('a folder without fixtures', async () => {
    await using folder = await temporaryFolder();
    const ended = await runHere(['mock-tool', folder.path]);
    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr).toContain(`no fixtures in the folder ${folder.path}`);
  });
});

const BROKEN = `version: 1
fixtures:
  - id: a
    match: { operaton: a }
    reply: { payload: b, dely: 3 }
  - match: { operation: { $rexeg: a } }
    reply: { telepathy: a }
`;

const TWICE = `version: 1
toolset:
  name: t
  tools:
    - { name: x, description: one, inputSchema: { type: object } }
    - { name: x, description: two, inputSchema: { type: object } }
fixtures: []
`;

function both(payload: string) {
  return {
    version: 1,
    fixtures: ['a', 'b'].map(operation => ({ match: { operation }, reply: { payload } })),
  };
}
