import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/commands/command-line.js';
import { loadedBy } from './support/loaded.js';
import { startPeer } from './support/peers.js';

/** What a start costs is what it loads: every file takes its time, and every definition. */

const definitions = await Promise.all(
  COMMANDS.map(async ({ name, load }) => {
    const [firstLine = ''] = (await load())(async () => {})
      .description()
      .split('\n');
    return { name, firstLine };
  }),
);

/** Their definitions are one small module. */
const NOTICES = ['cancel', 'close-thread', 'migrate'];

/** The commands whose definitions are in these files. */
function definedIn(files: ReadonlyMap<string, string>): string[] {
  const text = [...files.values()].join('\n');
  return definitions.filter(({ firstLine }) => text.includes(firstLine)).map(({ name }) => name);
}

describe('a start loads only the definition of its command', () => {
  test('each is in a file of its own', async () => {
    const names = (await readdir('dist')).filter(name => name.endsWith('.js'));
    const texts = await Promise.all(
      names.map(async name => [name, await readFile(join('dist', name), 'utf8')] as const),
    );
    const defining = texts.map(file => definedIn(new Map([file]))).filter(found => found.length > 0);
    const others = COMMANDS.map(({ name }) => name).filter(name => !NOTICES.includes(name));
    expect(defining.toSorted()).toEqual([...others.map(name => [name]), NOTICES].toSorted());
  });

  test.each(['mock-tool', 'check', 'session', 'cancel'])('%s', async name => {
    const files = await loadedBy([name, '--help']);
    expect(definedIn(files)).toEqual(NOTICES.includes(name) ? NOTICES : [name]);
    expect(files.size).toBeLessThanOrEqual(8);
    expect([...files.values()].join('').length).toBeLessThan(150_000); // a chunk of what commands run is larger
  });

  test('--help loads no definition and few files', async () => {
    const files = await loadedBy(['--help']);
    expect(definedIn(files)).toEqual([]);
    expect([...files.keys()]).toContain('cli.js');
    expect(files.size).toBeLessThanOrEqual(3);
  });
});

test('a call loads few files', async () => {
  await using peer = await startPeer('plain');
  const files = await loadedBy(['invoke', peer.url, 'echo', 'text=hi', '-o', 'text']);
  expect(definedIn(files)).toEqual(['invoke']);
  expect(files.size).toBeGreaterThan(5);
  expect(files.size).toBeLessThanOrEqual(16);
  const text = [...files.values()].join('\n');
  for (const unused of ['wrong line counts', 'no tool servers are configured', 'io.modelcontextprotocol'])
    expect(text).not.toContain(unused);
});
