import { readFile, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { COMMANDS } from '../../src/commands/command-line.js';
import { Consent } from '../../src/commands/consent.js';
import type { Terminal } from '../../src/commands/terminal.js';
import { readCases, readExpectedFailures } from '../../src/fixtures/check-files.js';
import { readFixtures } from '../../src/fixtures/read-fixtures.js';
import { readSessionScript } from '../../src/fixtures/session-script.js';
import { readCallback } from '../../src/protocol/callbacks.js';
import { choiceResponseSchema, NOTICES, readInvocation } from '../../src/protocol/invocation.js';
import { readToolset } from '../../src/protocol/read-toolset.js';
import { parseJson } from '../../src/util/json.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { publishedSchema } from '../support/published-schema.js';
import {
  blocksOf,
  compared,
  type Document,
  type Example,
  examplesOf,
  fileOf,
  filesOf,
  folderOf,
  freePort,
  GUIDE_PAGES,
  guide,
  local,
  outputOf,
  README,
} from './examples.js';

let tool: Peer;

beforeAll(async () => {
  tool = await startPeer('plain');
});

afterAll(() => tool.stop());

describe.concurrent('every command of a guide prints the output shown', () => {
  test.for(GUIDE_PAGES)('$path', async (document, { expect }) => {
    const folder = await folderOf(document);
    const port = String(await freePort());
    try {
      for (const example of examplesOf(document.text)) {
        const line = local(example.command, { url: tool.url, folder })
          .replaceAll('http://me:8080', `http://127.0.0.1:${port}`)
          .replaceAll('8080', port);
        const printed = await outputOf(line);
        const { command, promised, printed: shown } = compared(example, printed);
        expect(`${printed.stdout}${printed.stderr}`, command).not.toBe('');
        expect(shown, command).toEqual(promised);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

test('the guides contain examples', () => {
  expect(GUIDE_PAGES.flatMap(({ text }): Example[] => examplesOf(text)).length).toBeGreaterThan(30);
});

describe('every command of a sh block', async () => {
  const options = new Map(
    await Promise.all(
      COMMANDS.map(async ({ name, load }) => {
        const command = (await load())(async () => {});
        const all = [command, ...command.commands];
        return [name, all.flatMap(each => each.options.flatMap(({ short, long }) => [short, long]))] as const;
      }),
    ),
  );
  const lines = [README, ...GUIDE_PAGES].flatMap(({ path, text }) =>
    blocksOf(text, 'sh')
      .flatMap(block => block.split('\n'))
      .flatMap(
        line => /(?:^|[|;] *|-- )npx protocol-cli ?(.*?)(?: -- .*| *#.*| \| .*)?$/.exec(line)?.[1] ?? [],
      )
      .map(words => ({ path, words })),
  );

  test.each(lines)('$path: $words', ({ words }) => {
    const [name = '', ...rest] = words.split(/ +/);
    if (name === '' || name === 'help') return;
    expect([...options.keys()]).toContain(name);
    for (const word of rest.filter(each => /^--?[a-z]/.test(each))) expect(options.get(name)).toContain(word);
  });
});

const stdinOf = (text: string) => ({
  stdin: Readable.from([Buffer.from(text)]) as unknown as Terminal['stdin'],
});

describe('every file in a guide is valid', () => {
  const files = [README, ...GUIDE_PAGES].flatMap(document =>
    filesOf(document).map(file => ({ ...file, path: document.path })),
  );

  test.each(files.filter(({ language }) => language === 'yaml'))('$path: $name', async ({ name, text }) => {
    const source = { path: name, text };
    if (/^\.(?:github|gitlab-ci|buildkite|circleci)|^docker-compose/.test(name)) await checkJob(text);
    else if (name === 'policy.yaml') await Consent.read({ policy: '-' }, stdinOf(text));
    else if (/^(?:cases|users)\.yaml$/.test(name)) expect(await readCases(source, null)).not.toEqual([]);
    else if (name === 'known.yaml')
      expect(await readExpectedFailures(source)).toMatchObject([{ id: 'TOOL-RETRY' }]);
    else if (/^(?:order|follow-up)\.yaml$/.test(name)) expect(await readSessionScript(source)).toBeDefined();
    else expect((await readFixtures([source])).fixtures.length).toBeGreaterThan(0);
  });

  test.each(
    [README, ...GUIDE_PAGES].flatMap(({ path, text }) =>
      blocksOf(text, 'json').map(block => ({ path, block })),
    ),
  )('$path: JSON', ({ block }) => {
    const documents = block.startsWith('{\n') ? [block] : block.trim().split('\n');
    for (const each of documents) expect(JSON.parse(each)).toBeTypeOf('object');
  });

  test('every JavaScript block has a name, so that a test can run it', async () => {
    const tests = await readFile('test/readme/code.test.ts', 'utf8');
    const scripts = files.filter(({ language }) => language !== 'yaml');
    expect(scripts.length).toBeGreaterThan(5);
    for (const { path, name } of scripts) expect(tests, `${path}: ${name}`).toContain(`'${name}'`);
  });

  test('the session script is the one in the package', async () => {
    expect(fileOf(guide('sessions'), 'order.yaml')).toBe(
      await readFile('fixtures/sessions/order.yaml', 'utf8'),
    );
  });
});

/** The lines of a job or a compose file use options that exist, or the action in the repository with inputs that exist. */
async function checkJob(text: string): Promise<void> {
  const steps: readonly { uses?: string; with: object }[] = parse(text).jobs?.check?.steps ?? [];
  const action = steps.find(({ uses }) => uses?.includes('/.github/actions/check'));
  if (!action) return checkFlagsOf(text);
  const { inputs } = parse(await readFile('.github/actions/check/action.yml', 'utf8'));
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(action.with)));
}

async function checkFlagsOf(text: string): Promise<void> {
  const lines = [...JSON.stringify(parse(text)).matchAll(/protocol-cli ([a-z-]+) ([^"]*)/g)];
  expect(lines).not.toEqual([]);
  for (const [, name = '', words = ''] of lines) {
    const entry = COMMANDS.find(each => each.name === name);
    const known = entry ? (await entry.load())(async () => {}).options.map(({ long }) => long) : [];
    for (const [flag] of (words.split(' -- ')[0] ?? '').matchAll(/--[a-z-]+/g)) expect(known).toContain(flag);
  }
}

describe('the protocol guide', () => {
  test.each<[string, Document]>([['guide', guide('protocol')]])(
    'shows valid messages: %s',
    async (_, { text }) => {
      const [toolset = '', invocation = '', callbacks = '', notices = ''] = blocksOf(text, 'json');
      expect(await readToolset(parseJson(toolset))).toMatchObject({ ok: true, notes: [] });
      expect(readInvocation(parseJson(invocation))).toMatchObject({ ok: true, notes: [] });
      const lines = callbacks.trim().split('\n');
      const messages = lines.map(line => readCallback(parseJson(line)));
      expect(messages).toHaveLength(5);
      for (const message of messages) expect(message).toMatchObject({ ok: true, warnings: [] });
      expect(publishedSchema('toolset').faultsOf(JSON.parse(toolset))).toEqual([]);
      expect(publishedSchema('invocation').faultsOf(JSON.parse(invocation))).toEqual([]);
      for (const line of lines) expect(publishedSchema('callbacks').faultsOf(JSON.parse(line))).toEqual([]);
      const sent = notices
        .trim()
        .split('\n')
        .map(line => JSON.parse(line));
      const schemas = [choiceResponseSchema, NOTICES.cancel.body, NOTICES.close.body];
      expect(schemas.map((schema, index) => schema.parse(sent[index]))).toEqual(sent);
    },
  );
});
