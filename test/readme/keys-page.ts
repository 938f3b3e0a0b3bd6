import { KEY_TABLES } from '../../src/ui/workbench/keys/key-tables.js';

/** The page of keys, made from the tables that the program itself goes by. */
export function keysPage(): string {
  const tables = KEY_TABLES.map(({ title, keys }) => {
    const rows = keys.map(
      ({ label, does }) => `| ${label.replaceAll('|', '\\|')} | ${does.replaceAll('|', '\\|')} |`,
    );
    return [`## ${title}`, '', '| key | does |', '|---|---|', ...rows].join('\n');
  });
  return ['# Keys of the workbench', '', INTRODUCTION, '', tables.join('\n\n'), ''].join('\n');
}

const INTRODUCTION =
  'In the program, `?` shows them. What means something in one place only stands under its name; the keys of Calls work while a call is read too, but for those that scroll there.';
