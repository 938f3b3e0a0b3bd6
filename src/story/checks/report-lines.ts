import type { CaseCheck } from '../../rules/cases.js';
import type { Conformance, Row, Standing } from '../../rules/conformance.js';
import { notCalled } from '../../rules/evidence/not-called.js';
import { firstFew } from '../../text/first-few.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';
import { caseLines, caseName, gapLines, idleLines, rowLines } from './row-lines.js';
import { summaryLine } from './summary-line.js';
import type { WireRecord } from './wire-legs.js';

/** What there is to know besides the rows. */
export interface Around {
  readonly record: WireRecord;
  readonly warnings: readonly string[];
  readonly whole: string;
  /** Cells of a row, where there is a width; null where whoever draws the lines wraps them. */
  readonly width?: number | null | undefined;
}

/** Cells of a list of ids; wider ones are hard to read. */
const WIDEST = 96;
const MARGIN = '  ';

/** What a run came to, for a person: what is wrong first, then what is worth a word, then what is not known, and what is fine; the summary last. */
export function reportLines(
  run: Conformance,
  { record, warnings, whole, width = WIDEST }: Around,
  isQuiet: boolean,
): readonly Line[] {
  const room = width === null ? Number.POSITIVE_INFINITY : Math.min(width, WIDEST);
  const rows = (...standings: readonly Standing[]) =>
    run.checks.filter(row => standings.includes(row.standing));
  const told = (row: Row) => rowLines(row, record);
  const cases = (status: CaseCheck['status']) =>
    run.cases.filter(each => each.status === status).map(each => caseLines(each, record));
  const wrong = [...rows('failed', 'stale').map(told), ...cases('fail')];
  const parts = [
    airyPart('FAILED', wrong),
    airyPart('WARNINGS', rows('warned').map(told)),
    part(
      'BESIDES',
      warnings.map(message => [[say(MARGIN, 'gutter'), ...quote(message, 'warn')]]),
    ),
    airyPart('COULD NOT RUN', [...rows('could-not-run').map(told), ...cases('could-not-run')]),
    part('LOST, AND MAY HIDE A BREACH', run.gaps.map(gapLines)),
    airyPart('EXPECTED FAILURES', [...rows('expected').map(told), ...run.idle.map(idleLines)]),
    ...(isQuiet ? [] : [passedPart(run, rows('passed'), room), absentPart(rows('not-applicable'))]),
  ];
  return [
    ...parts.flat(),
    ...(isQuiet ? [] : uncalledLines(notCalled(record.events))),
    ...(isProved(run) ? wholeLines(whole) : []),
    summaryLine(run),
  ];
}

/** Of a large toolset the first. */
const MOST_NAMES = 20;

/** What rules that did not apply may have been about. */
function uncalledLines(names: readonly string[]): Line[] {
  if (names.length === 0) return [];
  const how = '; --operation <name> calls one, whatever it does';
  return [[say('Not called: ', 'dim'), ...quote(firstFew(names, MOST_NAMES)), say(how, 'dim')], []];
}

/** Whether a part of some message is shown. */
function isProved({ checks, cases }: Conformance): boolean {
  const isShown = ({ standing, events }: Row) =>
    events.length > 0 && ['failed', 'warned', 'could-not-run', 'expected'].includes(standing);
  return checks.some(isShown) || cases.some(({ status, events }) => status !== 'pass' && events.length > 0);
}

function wholeLines(whole: string): Line[] {
  return [[say('Messages are cut here; to see them whole: ', 'dim'), ...quote(whole, 'dim')], []];
}

/** A heading, what stands below it, and an empty line; nothing where there is nothing below. */
function part(title: string, items: readonly (readonly Line[])[]): Line[] {
  return items.length === 0 ? [] : [[say(title, 'title')], ...items.flat(), []];
}

/** The same, with air between what takes several lines each. */
function airyPart(title: string, items: readonly (readonly Line[])[]): Line[] {
  return part(
    title,
    items.map((item, index) => (index === 0 ? item : [[], ...item])),
  );
}

function passedPart({ cases }: Conformance, rows: readonly Row[], width: number): Line[] {
  const passing = cases.filter(({ status }) => status === 'pass');
  return part(
    'PASSED',
    [
      idLines(
        rows.map(({ id }) => id),
        width,
      ),
      ...rows.filter(({ isRemarkable }) => isRemarkable).map(remarkLines),
      passing.map(each => [say(`${MARGIN}case `, 'gutter'), ...caseName(each)]),
    ].filter(({ length }) => length > 0),
  );
}

/** What passes and yet is worth a word. */
function remarkLines({ id, reason }: Row): Line[] {
  return [[say(MARGIN, 'gutter'), say(`${id}: `), ...quote(reason, 'dim')]];
}

/** By their reason, since many have the same. */
function absentPart(rows: readonly Row[]): Line[] {
  const reasons = [...new Set(rows.map(({ reason }) => reason))];
  return part(
    'NOT APPLICABLE',
    reasons.map(reason => {
      const ids = rows.filter(row => row.reason === reason).map(({ id }) => id);
      return [[say(MARGIN, 'gutter'), say(`${reason}: `, 'dim'), say(ids.join(', '))]];
    }),
  );
}

/** Ids as they fit on lines. */
function idLines(ids: readonly string[], width: number): Line[] {
  const rows: string[] = [];
  for (const id of ids) {
    const last = rows.at(-1);
    if (last !== undefined && MARGIN.length + last.length + id.length + 3 <= width)
      rows[rows.length - 1] = `${last}, ${id}`;
    else rows.push(id);
  }
  return rows.map(row => [say(MARGIN, 'gutter'), say(row)]);
}
