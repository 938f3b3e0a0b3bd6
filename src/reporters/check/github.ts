import { ADVICE } from '../../protocol/advice.js';
import type { CaseCheck } from '../../rules/cases.js';
import type { Gap, Row, Standing } from '../../rules/conformance.js';
import type { IdleExcuse } from '../../rules/idle-excuses.js';
import { callsText } from '../../story/checks/call-words.js';
import { BREACHES } from '../../story/checks/row-lines.js';
import { summaryText } from '../../story/checks/summary-line.js';
import { visible } from '../../text/visible.js';
import { placeOf } from '../verification/xml-place.js';
import type { CheckFormat } from './format.js';

type Command = 'error' | 'warning' | 'notice';

/** Workflow commands of GitHub Actions: an annotation for each thing that is wrong, and one that sums it up. */
export const githubCheck: CheckFormat = ({ target, run, record, warnings }) => {
  const lines = [
    ...run.checks.flatMap(row => rowCommand(row, record.file)),
    ...run.cases.filter(({ status }) => status !== 'pass').map(each => caseCommand(each, record.file)),
    ...run.gaps.map(gapCommand),
    ...run.idle.map(idleCommand),
    ...warnings.map(message => command('warning', { title: 'protocol-cli check' }, message)),
    command('notice', { title: `check ${target}: ${run.verdict}` }, summaryText(run)),
  ];
  return lines.map(line => `${line}\n`).join('');
};

/** Whatever keeps a run from being green is an error there. */
const COMMANDS: Readonly<Partial<Record<Standing, Command>>> = {
  failed: 'error',
  stale: 'error',
  'could-not-run': 'error',
  warned: 'warning',
};

function rowCommand(row: Row, file?: string): string[] {
  const { id, level, standing } = row;
  const name = COMMANDS[standing];
  if (!name) return [];
  const how = standing === 'could-not-run' ? `${id} could not run` : `${id} (${level})`;
  const where = standing === 'stale' && row.excuse ? placeOf(row.excuse.place) : {};
  return [command(name, { ...where, title: how }, messageOf(row, file))];
}

function messageOf(
  { id, standing, reason, reasonLines = [reason], calls, expected, actual, excuse }: Row,
  file?: string,
): string {
  if (standing === 'stale')
    return `it passes, though its failure is expected: take it out of ${excuse?.place}`;
  return [
    ...reasonLines,
    ...aboutCalls(calls, file),
    ...(expected === undefined ? [] : [`expected: ${expected}`]),
    ...(actual === undefined ? [] : [`actual: ${actual}`]),
    ...(BREACHES.includes(standing) ? [`to do: ${ADVICE[id]}`] : []),
  ].join('\n');
}

function aboutCalls(calls: Row['calls'], file?: string): string[] {
  return calls ? [`call: ${callsText(calls, file)}`] : [];
}

function caseCommand({ place, operation, status, reason, calls }: CaseCheck, file?: string): string {
  const title = `case ${operation} ${status === 'fail' ? 'is not as expected' : 'could not run'}`;
  const message = [`${place}: ${reason}`, ...aboutCalls(calls, file)].join('\n');
  return command('error', { ...placeOf(place), title }, message);
}

function gapCommand({ place, reason }: Gap): string {
  return command('error', { ...placeOf(place), title: 'lost, and may hide a breach' }, `${place}: ${reason}`);
}

function idleCommand({ id, place, why }: IdleExcuse): string {
  return command('notice', { ...placeOf(place), title: `${id} is expected to fail` }, `it ${why}`);
}

/** `::error file=cases.yaml,line=3,title=…::message`, escaped as GitHub documents it. */
function command(name: Command, properties: Readonly<Record<string, string>>, message: string): string {
  const written = Object.entries(properties).map(([key, value]) => `${key}=${escapedProperty(value)}`);
  return `::${name} ${written.join(',')}::${escaped(message)}`;
}

function escaped(text: string): string {
  return visible(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapedProperty(text: string): string {
  return escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
