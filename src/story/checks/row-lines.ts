import { ADVICE } from '../../protocol/advice.js';
import { REQUIREMENTS } from '../../protocol/requirements.js';
import type { CaseCheck } from '../../rules/cases.js';
import type { Gap, Row, Standing } from '../../rules/conformance.js';
import type { IdleExcuse } from '../../rules/idle-excuses.js';
import type { Line, Span } from '../line.js';
import { quote, say } from '../spans.js';
import { callText, type Ids, MOST_CALLS } from './call-words.js';
import type { WireRecord } from './wire-legs.js';
import { wireLines } from './wire-lines.js';

const MARKS: Readonly<Record<Standing, Span>> = {
  failed: say('✗', 'bad'),
  stale: say('✗', 'bad'),
  warned: say('•', 'warn'),
  'could-not-run': say('?', 'warn'),
  expected: say('~', 'dim'),
  passed: say('✓', 'good'),
  'not-applicable': say('·', 'dim'),
};

/** A row with all that there is to say: what was asked, what was there instead, and how it was on the wire. */
export function rowLines(row: Row, record: WireRecord, ids: Ids = 'short'): readonly Line[] {
  const { id, level, standing, masks = [] } = row;
  return [
    headed(standing, say(id, 'title'), say(`  ${level}  `, 'dim'), say(REQUIREMENTS[id].statement)),
    ...excuseLines(row),
    ...(standing === 'stale' ? [] : reasonLines(row)),
    ...(standing === 'stale' ? [] : callLines(row, record, ids)),
    ...differenceLines(row),
    ...indented(standing === 'stale' ? [] : wireLines(row, record)),
    ...(BREACHES.includes(standing) ? [labelled('to do', say(ADVICE[id]))] : []),
    ...(masks.length > 0
      ? [detail(say(`may be why these are not passed either: ${masks.join(', ')}`, 'dim'))]
      : []),
  ];
}

/** Cells of a label and the gap after it. */
const LABEL = 10;

/** Of these there is something to mend on the side that is judged. */
export const BREACHES: readonly Standing[] = ['failed', 'warned'];

/** `· TOOL-CHOICE  did not apply: … (known.yaml:3)` */
export function idleLines({ id, why, place }: IdleExcuse): Line[] {
  return [
    headed('not-applicable', say(id, 'title'), say('  is expected to fail')),
    detail(say('it '), ...quote(why), ...whereOf(place)),
  ];
}

/** The same as one sentence. */
export function idleText({ id, why, place }: IdleExcuse): string {
  return `${id} is expected to fail (${place}); it ${why}`;
}

/** A case that is not as expected. */
export function caseLines(
  { place, operation, status, events, calls, ...said }: CaseCheck,
  record: WireRecord,
  ids: Ids = 'short',
): Line[] {
  return [
    headed(status === 'fail' ? 'failed' : 'could-not-run', ...caseName({ place, operation })),
    ...reasonLines(said),
    ...callLines({ calls }, record, ids),
    ...indented(wireLines({ events }, record)),
  ];
}

function reasonLines({ reason, reasonLines: lines = [reason] }: Pick<Row, 'reason' | 'reasonLines'>): Line[] {
  return lines.map(line => detail(...quote(line)));
}

/** What may have been there. */
export function gapLines({ place, reason }: Gap): Line[] {
  return [headed('could-not-run', ...quote(place, 'title')), detail(...quote(reason))];
}

export function caseName({ place, operation }: Pick<CaseCheck, 'place' | 'operation'>): Line {
  return [...quote(operation, 'title'), say('  '), ...quote(place, 'dim')];
}

function excuseLines({ standing, excuse }: Row): Line[] {
  if (!excuse) return [];
  if (standing === 'stale')
    return [detail(say('passes, though its failure is expected: take it out of '), ...quote(excuse.place))];
  return standing === 'expected'
    ? [detail(say('expected: '), ...quote(excuse.reason), ...whereOf(excuse.place))]
    : [];
}

function whereOf(place: string): Line {
  return [say(' (', 'dim'), ...quote(place, 'dim'), say(')', 'dim')];
}

function differenceLines({ expected, actual }: Row): Line[] {
  return [
    ...(expected === undefined ? [] : [labelled('expected', ...quote(expected))]),
    ...(actual === undefined ? [] : [labelled('actual', ...quote(actual))]),
  ];
}

/** Which calls it is about: `call      edit_file · call_8f3a… · run.ndjson:9`. */
function callLines({ calls = [] }: Pick<Row, 'calls'>, { file }: WireRecord, ids: Ids): Line[] {
  const told = calls.slice(0, MOST_CALLS).map(call => quote(callText(call, file, ids)));
  const rest = calls.length - told.length;
  const lines = rest > 0 ? [...told, [say(`and ${rest} more`, 'dim')]] : told;
  const label = calls.length === 1 ? 'call' : 'calls';
  return lines.map((line, index) => labelled(index === 0 ? label : '', ...line));
}

function headed(standing: Standing, ...spans: Line): Line {
  return [MARKS[standing], say(' ', 'gutter'), ...spans];
}

/** In columns: what goes on below is below its own. */
function labelled(label: string, ...spans: Line): Line {
  return detail(say(label.padEnd(LABEL), 'gutter'), ...spans);
}

function detail(...spans: Line): Line {
  return [say('    ', 'gutter'), ...spans];
}

function indented(lines: readonly Line[]): Line[] {
  return lines.map(line => detail(...line));
}
