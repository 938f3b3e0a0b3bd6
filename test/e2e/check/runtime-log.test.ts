import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';

const DRIVER = fileURLToPath(new URL('../../peers/drivers/runtime.mjs', import.meta.url));

const AUDITED = 'RT-AUDIT pass';
const LEAKED = 'RT-OAUTH fail: a secret of the auth_url is in the runtime\'s log: {"at":';
const UNLOGGED = 'RT-AUDIT warn: the log does not name operations that were called: read_mail; ping';

interface Case {
  /** What the runtime does. */
  readonly does: string;
  /** In test/peers/drivers/faults.mjs. */
  readonly fault?: string;
  /** Of the log, before the runtime starts. */
  readonly content?: string;
  /** A shell command before the runtime. */
  readonly before?: string;
  readonly says: readonly string[];
}

const CASES: readonly Case[] = [
  { does: 'begins a log', says: [AUDITED, 'RT-OAUTH pass'] },
  { does: 'continues a log', content: 'operation read_mail: canceled\n', says: [AUDITED] },
  {
    does: 'continues a log without the operation',
    fault: 'logs-nothing',
    content: 'operation read_mail\n',
    says: [UNLOGGED],
  },
  {
    does: 'begins its log anew, without the operation',
    fault: 'logs-nothing',
    content: 'x'.repeat(10_000),
    before: ': > "$LOG"',
    says: ['RT-AUDIT not-applicable: a part of the log is missing', 'warning: --log: only a part of '],
  },
  { does: 'writes no log', fault: 'logs-nothing', says: [UNLOGGED, 'warning: --log: cannot read '] },
  { does: 'logs a secret', fault: 'logs-the-auth-url', says: [LEAKED, AUDITED] },
  {
    does: 'gives a secret to the model',
    fault: 'gives-the-auth-url-to-the-model',
    says: [
      'RT-OAUTH fail: a secret of the auth_url reached the model: The user must visit https://auth.example/authorize?',
    ],
  },
];

describe.concurrent('--log: a runtime that', () => {
  test.each(CASES)('$does', async ({ fault = '', content, before = ':', says }) => {
    await using folder = await temporaryFolder();
    const log = folder.file('runtime.log');
    if (content !== undefined) await folder.write('runtime.log', content);
    const command = `export FAULT='${fault}'; ${before}; exec node '${DRIVER}'`;
    const reports = ['--reporter', 'json', '--reporter', `human:${folder.file('report.txt')}`];
    const options = ['--scenario', 'consent', '--log', log, '--save', folder.path, '-v', ...reports];
    const ended = await runHere(['check', '--runtime', command, ...options]);
    const { checks } = JSON.parse(ended.stdout);
    const verdicts = checks.map(({ id, status, reason }: Record<string, string>) =>
      status === 'pass' ? `${id} pass` : `${id} ${status}: ${reason}`,
    );
    const said = [...verdicts, ended.stderr].join('\n');
    for (const words of says) expect(said).toContain(words);
    const transcript = await readFile(folder.file('consent.ndjson'), 'utf8');
    expect(transcript).toContain('"auth_url');
    expect(said + transcript + (await readFile(folder.file('report.txt'), 'utf8'))).not.toMatch(/canary_\w/);
  });
});

test('--log needs --runtime', async () => {
  const { status, stderr } = await runHere(['check', '--demo', '--log', 'runtime.log']);
  expect([status, stderr]).toEqual([2, expect.stringContaining('--log needs a runtime (--runtime)')]);
});
