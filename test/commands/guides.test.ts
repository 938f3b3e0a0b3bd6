import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { COMMANDS, GUIDES } from '../../src/commands/command-line.js';
import { runHere } from '../e2e/support/in-process.js';

const files = await readdir('src/guides');

test('every guide is listed by help, and no guide has the name of a command', async () => {
  expect(files.sort()).toEqual(GUIDES.map(({ name }) => `${name}.md`).sort());
  const { stdout } = await runHere(['help']);
  for (const { name, summary } of GUIDES) expect(stdout).toContain(`${name.padEnd(14)} ${summary}\n`);
  expect(GUIDES.filter(guide => COMMANDS.some(({ name }) => name === guide.name))).toEqual([]);
});

describe('help <guide>', () => {
  test.each(GUIDES.map(({ name }) => name))('%s prints it', async name => {
    const { status, stdout } = await runHere(['help', name]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^# .+\n\n[\s\S]{500,}/);
    expect(stdout).not.toMatch(/<!--|!\[|\]\([a-z-]+\.md\)/);
  });

  test('an unknown name is an error with the nearest one', async () => {
    const { status, stderr } = await runHere(['help', 'fixtres']);
    expect(status).toBe(2);
    expect(stderr).toContain(`error: unknown command or guide 'fixtres'\nhint: Did you mean "fixtures"?`);
  });
});

test('a word that is not similar to any name gets no suggestion', async () => {
  for (const word of ['nope', 'xyz'])
    expect((await runHere(['help', word])).stderr).not.toContain('Did you mean');
});

describe('the guides', () => {
  test.each(files)('%s has at most 13 KB, and its links work', async file => {
    const text = await readFile(`src/guides/${file}`, 'utf8');
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(13 * 1024);
    for (const [, target = ''] of text.replaceAll(/^```.*?^```/gms, '').matchAll(/\]\(([^)#\s]+)\)/g))
      if (!target.startsWith('https:'))
        await expect(
          readFile(new URL(target, new URL(`../../src/guides/${file}`, import.meta.url))),
        ).resolves.toBeDefined();
  });
});

test('the README has at most 10 KB', async () => {
  expect((await readFile('README.md')).length).toBeLessThanOrEqual(10_240);
});

describe('the help of every command names a guide', () => {
  test.each(COMMANDS.map(({ name }) => name))('%s', async name => {
    const { stdout } = await runHere([name, '--help']);
    const [, guide] = /^Guide: protocol-cli help (\S+)$/m.exec(stdout) ?? [];
    expect(GUIDES.map(each => each.name)).toContain(guide);
  });
});
