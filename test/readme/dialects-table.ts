import type { Carriage } from '../../src/dialects/dialect.js';
import { FEATURES } from '../../src/dialects/dialect.js';
import { DIALECTS } from '../../src/dialects/index.js';

const CELLS: Readonly<Record<Carriage, string>> = { exact: 'yes', convention: 'by convention', lost: '–' };

/** What each dialect can carry, as the README has it. */
export function dialectsTable(): string {
  const head = ['', ...DIALECTS.map(({ name }) => `\`${name}\``)];
  const rows = FEATURES.map(feature => [feature, ...DIALECTS.map(({ carries }) => CELLS[carries[feature]])]);
  return [head, head.map(() => '---'), ...rows]
    .map(cells => `|${cells.map(cell => ` ${cell} `).join('|')}|`)
    .join('\n');
}
