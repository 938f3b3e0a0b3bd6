import type { KeyTable } from '../../src/ui/keys/key-lines.js';
import { keyTables as mockTables } from '../../src/ui/mock/bindings.js';
import { keyTables } from '../../src/ui/workbench/keys/key-tables.js';

/** The page of keys, made from the tables that the program itself goes by. */
export function keysPage(): string {
  const parts = [
    '# Keys of the workbench',
    INTRODUCTION,
    ...keyTables().map(sectionOf),
    '# Keys of `mock-tool` on a terminal',
    MOCK_INTRODUCTION,
    ...mockTables().map(sectionOf),
  ];
  return `${parts.join('\n\n')}\n`;
}

function sectionOf({ title, keys }: KeyTable): string {
  const rows = keys.map(
    ({ label, does }) => `| ${label.replaceAll('|', '\\|')} | ${does.replaceAll('|', '\\|')} |`,
  );
  return [`## ${title}`, '', '| key | does |', '|---|---|', ...rows].join('\n');
}

const INTRODUCTION =
  'In the program, `?` shows them, and in a form Ctrl-G does. What means something in one place only stands under its name; the keys of Calls work while a call is read too, but for those that scroll there.';

const MOCK_INTRODUCTION =
  'Its calls are read as those of the workbench are; what a mock can be made to do besides has keys of its own.';
