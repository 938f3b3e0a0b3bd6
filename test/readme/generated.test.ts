import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { SCENARIOS } from '../../src/check/drive/run.js';
import { EXIT_STATUSES } from '../../src/commands/terminal.js';
import type { Keys } from '../../src/tui/keys.js';
import { MOCK_KEYS } from '../../src/tui/mock/screen.js';
import { WORKBENCH_KEYS } from '../../src/tui/workbench/keys.js';
import { LIMITS } from '../../src/util/limits.js';
import { formatDuration } from '../../src/util/text.js';
import { GUIDE_PAGES, README } from './examples.js';

function keysText(keys: Keys<never>): string {
  return keys
    .tables()
    .map(({ title, keys: own }) => {
      const rows = own.map(({ label, does }) => `| ${escaped(label)} | ${escaped(does)} |`);
      return [`### ${title}`, '', '| key | does |', '|---|---|', ...rows].join('\n');
    })
    .join('\n\n');
}

function scenariosText(): string {
  const rows = SCENARIOS.map(
    ({ name, title, checks }) => `| ${name} | ${escaped(title)} | ${checks.join(' ')} |`,
  );
  return ['| scenario | the tools | rules |', '|---|---|---|', ...rows].join('\n');
}

/** The unit is the end of the name. */
function valueText(name: string, value: number): string {
  if (name.endsWith('Ms')) return formatDuration(value);
  const number = (count: number) => count.toLocaleString('en');
  if (name.endsWith('Bytes')) return value % 1024 ** 2 ? `${value / 1024} KiB` : `${value / 1024 ** 2} MiB`;
  return name.endsWith('Chars') ? `${number(value)} characters` : number(value);
}

function limitsText(): string {
  const rows = Object.entries(LIMITS).map(
    ([name, { value, what, beyond, threat }]) =>
      `| ${what} | ${valueText(name, value)} | ${beyond} | ${threat} |`,
  );
  return ['| what | limit | beyond it | row |', '|---|---|---|---|', ...rows].join('\n');
}

const escaped = (cell: string) => cell.replaceAll('|', '\\|');

test.each([
  ['src/guides/workbench.md', 'workbench keys', keysText(WORKBENCH_KEYS)],
  ['src/guides/workbench.md', 'mock-tool keys', keysText(MOCK_KEYS)],
  ['src/guides/runtimes.md', 'scenarios', scenariosText()],
  ['src/guides/security.md', 'limits', limitsText()],
])('%s: the table "%s" is generated (UPDATE_DOCS=1 writes it)', async (path, name, table) => {
  const text = await readFile(path, 'utf8');
  const [start, end] = [`<!-- ${name}:start -->\n`, `<!-- ${name}:end -->`];
  const [before = '', rest = ''] = text.split(start);
  const [kept, after = ''] = rest.split(end);
  if (process.env['UPDATE_DOCS']) await writeFile(path, `${before}${start}\n${table}\n\n${end}${after}`);
  else expect(kept).toBe(`\n${table}\n\n`);
});

const pageOf = (name: string) => GUIDE_PAGES.find(({ path }) => path.endsWith(`/${name}.md`))?.text ?? '';

test('the guide of checks says when a check is incomplete, as the help does', () => {
  const [, what, when] = /^(\w+): (.*)$/.exec(EXIT_STATUSES[3]) ?? [];
  expect(pageOf('checking')).toContain(`| 3 ${what} | ${when} |\n`);
});

test("README and guides list the program's exit statuses", () => {
  for (const text of [README.text, pageOf('calling')]) {
    const [, table = ''] = /<!-- exit statuses[^\n]*-->\n(.*?)\n\n/s.exec(text) ?? [];
    const rows = [...table.matchAll(/^\| (\d+) \| (.*) \|$/gm)];
    expect(rows.length).toBeGreaterThan(5);
    for (const [, status, meaning] of rows)
      expect({ ...EXIT_STATUSES }).toHaveProperty(status ?? '', meaning);
  }
});
