import { chmod, readFile } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openUrl } from '../../src/system/open-url.js';
import { temporaryFolder } from '../e2e/support/folder.js';

/** A folder to be searched first, with a program in it that records what it is given, each on a line of its own. */
async function fakeOpener(name: string, status = 0) {
  const folder = await temporaryFolder();
  const record = folder.file('argv');
  const script = `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > '${record}'\nexit ${status}\n`;
  await chmod(await folder.write(name, script), 0o755);
  return {
    env: { PATH: `${folder.path}${delimiter}${process.env['PATH']}` },
    argv: async () => (await readFile(record, 'utf8').catch(() => '')).trimEnd().split('\n').slice(1),
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

describe('threats, row 13: a page', () => {
  test.each([
    ['linux', 'xdg-open'],
    ['freebsd', 'xdg-open'],
    ['darwin', 'open'],
  ] as const)('on %s is passed to %s as one argument', async (platform, name) => {
    await using opener = await fakeOpener(name);
    const url = 'https://auth.example/consent?for=call_1&scope=a%20b#top';
    expect(await openUrl(url, { platform, env: opener.env })).toEqual({ ok: true });
    expect(await opener.argv()).toEqual([url]);
  });

  test('on this machine may use http', async () => {
    await using opener = await fakeOpener('xdg-open');
    const url = 'http://127.0.0.1:4711/consent?state=x';
    expect(await openUrl(url, { platform: 'linux', env: opener.env })).toEqual({ ok: true });
    expect(await opener.argv()).toEqual([url]);
  });

  test.each(['http://auth.example/consent', 'file:///etc/passwd', '--help=https://auth.example/', ''])(
    '%j is not opened',
    async url => {
      await using opener = await fakeOpener('xdg-open');
      expect(await openUrl(url, { platform: 'linux', env: opener.env })).toMatchObject({ ok: false });
      expect(await opener.argv()).toEqual([]);
    },
  );

  test('is never parsed by a shell, with any characters', async () => {
    await using opener = await fakeOpener('xdg-open');
    const url = 'https://auth.example/$(touch$IFS-owned)`id`;id|id&id?"a b"=\'c\'\n--flag';
    expect(await openUrl(url, { platform: 'linux', env: opener.env })).toEqual({ ok: true });
    const [given = '', ...more] = await opener.argv();
    expect(more).toEqual([]);
    expect(given).toMatch(/^https:\/\/auth\.example\/\S+$/);
    expect(given).not.toMatch(/["\s]/);
  });
});

describe('a page that cannot be opened', () => {
  test('reports a missing opener', async () => {
    const opening = await openUrl('https://auth.example/', {
      platform: 'linux',
      env: { PATH: '/nonexistent' },
    });
    expect(opening).toEqual({ ok: false, reason: 'xdg-open was not found' });
  });

  test('reports a failed opener', async () => {
    await using opener = await fakeOpener('xdg-open', 3);
    const opening = await openUrl('https://auth.example/', { platform: 'linux', env: opener.env });
    expect(opening).toEqual({ ok: false, reason: 'xdg-open ended with status 3' });
  });

  test('reports an address that is too long for a command line', async () => {
    await using opener = await fakeOpener('xdg-open');
    const url = `https://auth.example/${'x'.repeat(3_000_000)}`;
    const opening = await openUrl(url, { platform: 'linux', env: opener.env });
    expect(opening).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^xdg-open could not be started: .*E2BIG/),
    });
  });
});
