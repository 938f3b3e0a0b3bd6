import type { Conformance, Row, Standing, Verdict } from '../check/conformance.js';
import { RULES } from '../check/rules/index.js';
import type { Event } from '../events/events.js';
import type { Side } from '../protocol/requirements.js';
import { groupBy } from '../util/collections.js';
import { shellWord } from '../util/shell-word.js';
import { joinFirst } from '../util/text.js';
import { valueAt } from '../util/values.js';
import { evidenceLines, type WireRecord } from './check-evidence.js';
import { type Finding, hasEvidence, mergedFindings } from './check-findings.js';
import { factsOf, idsOf, STANDINGS, scenariosText, summaryText } from './check-words.js';
import { type Line, quote, type Span, say } from './line.js';

/** A finding in full: the requirement, what happened instead, and the messages that prove it. */
export function findingLines(finding: Finding, record: WireRecord): readonly Line[] {
  const { standing, heading, reasons, advice } = finding;
  const labelled = (label: string, words: Line): Line => [say(label.padEnd(10), 'gutter'), ...words];
  const details = [
    ...reasons.map(text => quote(text)),
    ...factsOf(finding, record.file).map(([label, text]) => labelled(label, quote(text))),
    ...(hasEvidence(standing) ? evidenceLines(finding, record) : []),
    ...(advice === undefined ? [] : [labelled('to do', [say(advice)])]),
  ];
  return [
    [STANDINGS[standing].mark, say(' ', 'gutter'), ...heading],
    ...details.map(each => [say('    ', 'gutter'), ...each]),
  ];
}

const VERDICTS: Readonly<Record<Verdict, Span>> = {
  passed: say('✓ passed', 'good'),
  failed: say('✗ failed', 'bad'),
  incomplete: say('? incomplete', 'warn'),
};

/** The contents of a report. It has no secrets, but its texts are untrusted and not yet safe to print. */
export interface ReportInput {
  /** The URL or the file that was checked. */
  readonly target: string;
  readonly program: string;
  readonly run: Conformance;
  readonly warnings: readonly string[];
  readonly record: WireRecord;
  /** How to see the full messages, of which a report shows only a part. */
  readonly whole: string;
}

/** Maximum width of a list of ids, in cells; wider lists are hard to read. */
const MAX_WIDTH = 96;

const MARGIN = say('  ', 'gutter');

/** The report for people: violations first, then warnings, unknown results and passes; the summary last. @param width of a row in cells */
export function reportLines(report: ReportInput, isQuiet: boolean, width = MAX_WIDTH): readonly Line[] {
  const { target, run, record, whole } = report;
  const uncalled = uncalledOperations(record.events);
  const isUnseen = isNoneCalled(record.events, uncalled) ? isWithoutEvidence : () => false;
  const all = mergedFindings(run);
  const findings = all.filter(each => !isUnseen(each));
  const exit = findings.find(({ about }) => about === 'exit');
  const rest = [
    ...passedPart(run.checks, findings, width),
    ...absentPart(run.checks, run.scenarios),
    ...uncalledLines(uncalled),
  ];
  return [
    [say('check ', 'gutter'), ...quote(target)],
    ...(exit ? [[], ...findingLines(isQuiet ? { ...exit, notRun: undefined } : exit, record)] : []),
    ...(run.missingResults === null ? [] : [[say(run.missingResults, 'warn')]]),
    [],
    ...problemParts(findings, report),
    ...unseenPart(all.filter(isUnseen), uncalled),
    ...(isQuiet ? [] : rest),
    ...wholeLines(findings, whole),
    [VERDICTS[run.verdict], say(' · ', 'gutter'), say(summaryText(run))],
  ];
}

/** Everything that did not pass, in the order of severity, each part with its heading. @param own a side whose violations come last */
export function problemParts(
  findings: readonly Finding[],
  { record, warnings }: Pick<ReportInput, 'record' | 'warnings'>,
  own: Side | null = null,
): Line[] {
  const among =
    (...standings: readonly Standing[]) =>
    ({ about, standing }: Finding) =>
      standings.includes(standing) && about !== 'gap' && about !== 'exit' && about !== own;
  const list = (title: string, isListed: (finding: Finding) => boolean, between: readonly Line[] = [[]]) => {
    const items = findings.filter(isListed).map(each => findingLines(each, record));
    return part(title, items, between);
  };
  const unrun = findings.filter(each => among('could-not-run')(each) && !each.cause);
  const byCause = groupBy(findings, ({ cause }) => (cause ? [cause] : []));
  const explained = [...byCause].map(([cause, own]) => {
    return [[MARGIN, say(`${cause} failed: `, 'dim'), say(idsOf(own))]];
  });
  const notes = warnings.map(message => [[MARGIN, ...quote(message, 'warn')]]);
  const recorded = `Violations by the ${own}, which recorded this call`;
  return [
    ...list('Failed', among('failed', 'stale')),
    ...list('Flaky; neither passed nor failed', among('flaky')),
    ...list('Warnings', among('warned')),
    ...part('Notes', notes),
    ...part(
      'Could not run',
      withSharedReasons(unrun).map(each => findingLines(each, record)),
      [[]],
    ),
    ...part('Could not run, since another rule failed', explained),
    ...list('Incomplete recording; violations may be missed', ({ about }) => about === 'gap', []),
    ...list('Expected failures', ({ about, standing }) => standing === 'expected' || about === 'idle'),
    ...list(recorded, ({ about, standing }) => about === own && hasEvidence(standing)),
  ];
}

/** Merges the rules that could not run for one reason. */
function withSharedReasons(findings: readonly Finding[]): readonly Finding[] {
  const byReason = groupBy(findings, ({ about, calls, name, reasons }) => [
    calls || about === 'case' ? name : reasons.join('\n'),
  ]);
  return [...byReason.values()].flatMap(([first, ...others]) => {
    if (!first || others.length === 0) return first ?? [];
    const all = [first, ...others];
    return {
      ...first,
      heading: [say(idsOf(all), 'title')],
      scenarios: [...new Set(all.flatMap(({ scenarios = [] }) => scenarios))],
    };
  });
}

/** How to see the messages that findings quote in part. */
export function wholeLines(findings: readonly Finding[], whole: string): Line[] {
  const hasMessages = findings.some(({ standing, events }) => hasEvidence(standing) && events.length > 0);
  if (!hasMessages) return [];
  return [[say('Messages are shortened; full messages: ', 'dim'), ...quote(whole, 'dim')], []];
}

/** A heading, its items, and an empty line; nothing without items. */
function part(title: string, items: readonly (readonly Line[])[], between: readonly Line[] = []): Line[] {
  if (items.length === 0) return [];
  return [
    [say(title, 'title')],
    ...items.flatMap((item, index) => (index === 0 ? item : [...between, ...item])),
    [],
  ];
}

export function passedPart(checks: readonly Row[], findings: readonly Finding[], width: number): Line[] {
  const maxWidth = width === Number.POSITIVE_INFINITY ? width : Math.min(width, MAX_WIDTH);
  const passed = checks.filter(({ standing }) => standing === 'passed');
  const rows: string[] = [];
  for (const { id } of passed) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + id.length + 5 <= maxWidth)
      rows[rows.length - 1] = `${last}, ${id}`;
    else rows.push(id);
  }
  const lines: Line[] = [
    ...rows.map(row => [MARGIN, say(row)]),
    ...passed
      .filter(({ isRemarkable }) => isRemarkable)
      .map(({ id, reason }) => [MARGIN, say(`${id}: `), ...quote(reason, 'dim')]),
    ...findings
      .filter(({ about, standing }) => about === 'case' && standing === 'passed')
      .map(({ heading }) => [say('  case ', 'gutter'), ...heading]),
  ];
  return part('Passed', lines.length > 0 ? [lines] : []);
}

/** Groups the rules that did not apply by reason; most rules do not apply to a single scenario. */
export function absentPart(checks: readonly Row[], scenarios: Conformance['scenarios'] = []): Line[] {
  const rows = checks.filter(({ standing }) => standing === 'not-applicable');
  const skipped = groupBy(scenarios, ({ unsupported = [] }) => unsupported);
  const skippedLines = [...skipped].map(([ability, own]) => [
    [
      MARGIN,
      say(`scenarios that need ${ability}, which the driver does not support: `, 'dim'),
      say(scenariosText(own.map(({ id }) => id))),
    ],
  ]);
  if (scenarios.length === 1) {
    const count = [[MARGIN, say(`${rows.length} rules to this scenario`, 'dim')]];
    return part('Not applicable', [count, ...skippedLines]);
  }
  const whyOf = ({ id, reason }: Row) =>
    'unobservable' in RULES[id]
      ? reason.replace(/[:,].*/, '')
      : reason.replace(/^(not visible in HTTP traffic).*/, '$1');
  const absent = [...groupBy(rows, row => [whyOf(row)])].map(([why, own]) => [
    [MARGIN, say(`${why}: `, 'dim'), say(own.map(({ id }) => id).join(', '))],
  ]);
  return part('Not applicable', [...absent, ...skippedLines]);
}

/** Whether a check called no operation of the toolset. */
function isNoneCalled(events: readonly Event[], uncalled: readonly string[]): boolean {
  const offered = new Set(events.flatMap(event => (event.kind === 'loaded' ? event.operations : [])));
  return uncalled.length > 0 && uncalled.length === offered.size;
}

function isWithoutEvidence({ about, standing, cause, events }: Finding): boolean {
  return about === 'tool' && standing === 'could-not-run' && cause === undefined && events.length === 0;
}

const REPEATABLE = ', if it may be called repeatedly.';

/** Rules that only calls of operations of the toolset can show. */
function unseenPart(unseen: readonly Finding[], [name = '']: readonly string[]): Line[] {
  if (unseen.length === 0) return [];
  const option = `--operation ${shellWord(name, 'linux')}`;
  return part('Could not run, since no operation of the toolset was called', [
    [[MARGIN, say(idsOf(unseen))]],
    [[MARGIN, say('to do     ', 'gutter'), say('Check again with '), ...quote(option), say(REPEATABLE)]],
  ]);
}

/** Maximum number of operations named. */
const MAX_NAMES = 20;

/** Names the operations that were not called: rules that did not apply may be about them. */
function uncalledLines(names: readonly string[]): Line[] {
  if (names.length === 0) return [];
  const how = '; use --operation <name> to call one';
  return [[say('Not called: ', 'dim'), ...quote(joinFirst(names, MAX_NAMES)), say(how, 'dim')], []];
}

/** The operations that a check could have called and did not; none without a check. */
export function uncalledOperations(events: readonly Event[]): readonly string[] {
  if (!events.some(event => event.kind === 'planned' && event.by === 'probe')) return [];
  const called = new Set<unknown>();
  for (const event of events)
    if (event.kind === 'request' && event.purpose === 'invocation' && event.body?.json.ok)
      called.add(valueAt(event.body.json.value, 'operation'));
  const offered = events.flatMap(event => (event.kind === 'loaded' ? event.operations : []));
  return [...new Set(offered)].filter(name => !called.has(name));
}
