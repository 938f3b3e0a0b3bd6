import { REQUIREMENTS } from '../../protocol/requirements.js';
import type { CaseCheck } from '../../rules/cases.js';
import type { Gap, Row, Standing } from '../../rules/conformance.js';
import { callsText } from '../../story/checks/call-words.js';
import { idleText } from '../../story/checks/row-lines.js';
import { summaryText } from '../../story/checks/summary-line.js';
import { cut } from '../../text/cut.js';
import { visibleLine } from '../../text/visible.js';
import type { CheckFormat } from './format.js';

/** Characters of what was seen: a table is looked over. */
const LONGEST = 300;

const WORDS: Readonly<Record<Standing, string>> = {
  failed: '❌ failed',
  stale: '❌ passes, though a failure is expected',
  'could-not-run': '❔ could not run',
  warned: '⚠️ warning',
  expected: '➖ fails as expected',
  passed: '✅ passed',
  'not-applicable': '– not applicable',
};

/** Tables for a README, or the summary of a CI job. */
export const markdownCheck: CheckFormat = ({ target, program, run, record, warnings }) => {
  const { checks, cases, gaps, idle, verdict } = run;
  const parts = [
    `**${verdict}** · ${cell(target)} · ${summaryText(run)} (${cell(program)})`,
    ...table(
      ['rule', 'level', 'asks', 'result', 'seen'],
      checks.map(row => ruleCells(row, record.file)),
    ),
    ...table(
      ['case', 'operation', 'result', 'seen'],
      cases.map(each => caseCells(each, record.file)),
    ),
    ...table(['place', 'lost, and may hide a breach'], gaps.map(gapCells)),
    ...(warnings.length > 0 ? [warnings.map(each => `- ⚠️ ${cell(each)}`).join('\n')] : []),
    ...(idle.length > 0 ? [idle.map(each => `- ${cell(idleText(each))}`).join('\n')] : []),
  ];
  return `${parts.join('\n\n')}\n`;
};

function ruleCells({ id, side, level, standing, reason, calls, excuse }: Row, file?: string): string[] {
  const seen = excuse && standing === 'expected' ? `${reason} (${excuse.reason})` : reason;
  const { statement } = REQUIREMENTS[id];
  return [id, level, cell(`the ${side} ${statement}`), WORDS[standing], cell(seen) + ofCalls(calls, file)];
}

const CASE_WORDS: Readonly<Record<CaseCheck['status'], Standing>> = {
  pass: 'passed',
  fail: 'failed',
  'could-not-run': 'could-not-run',
};

function caseCells({ place, operation, status, reason, calls }: CaseCheck, file?: string): string[] {
  const seen = cell(reason) + ofCalls(calls, file);
  return [cell(place), cell(operation), WORDS[CASE_WORDS[status]], seen];
}

/** Names are never cut: somebody looks for them. */
function ofCalls(calls: Row['calls'], file?: string): string {
  return calls ? ` (${safe(callsText(calls, file))})` : '';
}

function gapCells({ place, reason }: Gap): string[] {
  return [cell(place), cell(reason)];
}

/** Nothing where there are no rows. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return rows.length === 0
    ? []
    : [[line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n')];
}

function cell(text: string): string {
  return safe(cut(visibleLine(text), LONGEST));
}

/** Foreign text that is nothing but text: no table of its own, no link, no HTML. An entity means its character wherever it stands. */
function safe(line: string): string {
  return line.replace(MARKUP, character => `&#${character.codePointAt(0)};`);
}

const MARKUP = /[\\`*[\]<>|~&@]|(?<=:)\/(?=\/)/g;
