import type { Tool } from '../../protocol/toolset.js';
import { cut } from '../../text/cut.js';
import { parseDisplayScript } from '../../text/display-script/parser.js';
import { visibleLine } from '../../text/visible.js';
import { breakOf } from '../evidence/break.js';
import type { Discovery } from '../evidence/evidence.js';
import { statusOf } from '../evidence/leg.js';
import { isBodyLost } from '../evidence/lost-body.js';
import { toolsetFaults, toolsetNotes } from '../evidence/toolset-faults.js';
import { broken, doubtful, held, heldBut, lacking, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { nullRemark, withFaults } from './shared/faults.js';
import { OF_CALLS } from './shared/follow-ups.js';

/** Characters of a content type. */
const MOST = 500;

/** TOOL-DISCOVER: there is a toolset, and it is valid. Whether its names are is of TOOL-NAMES. */
export const servesToolset: Rule = {
  id: 'TOOL-DISCOVER',
  masks: ['TOOL-NAMES', ...OF_CALLS],
  absent: 'no toolset was asked for',
  observe: ({ discoveries }) => {
    const found = discoveries.filter(discovery => statusOf(discovery) === 200);
    if (found.length > 0) return [...found.flatMap(onFound), ...discoveries.flatMap(onFailed)];
    return discoveries.length > 0 ? [onNothing(discoveries)] : [];
  },
};

/** Asked at the base, and then at the origin: it need not be at both. */
function onNothing(discoveries: readonly Discovery[]): Observation {
  const statuses = discoveries.flatMap(discovery => statusOf(discovery) ?? []);
  if (statuses.length === 0) return unseen(whyNone(discoveries), discoveries);
  if (statuses.some(status => status === 401 || status === 403))
    return unseen('discovery wants credentials (--bearer, --header)', discoveries);
  const actual = [...new Set(statuses)].join(', ');
  return lacking(`discovery answered ${actual}`, discoveries, { expected: '200, and a toolset', actual });
}

/** Whoever asked may have ended before there was an answer, as a recorder that is stopped. */
function whyNone(discoveries: readonly Discovery[]): string {
  return discoveries.every(discovery => breakOf(discovery) === 'called-off')
    ? 'asking for the toolset was called off before an answer came'
    : `the tool could not be reached (${[...new Set(discoveries.flatMap(({ broken: end }) => end?.code ?? []))].join(', ')})`;
}

/** Beside one that came. */
function onFailed(discovery: Discovery, at: number, all: readonly Discovery[]): Observation[] {
  const { broken: end } = discovery;
  if (!end || breakOf(discovery) === 'called-off') return [];
  return [
    heldBut(`asked ${all.length} times; it could not be reached once (${end.code})`, all.slice(at, at + 1)),
  ];
}

/** A document that was not kept cannot be judged. */
function onNoDocument(discovery: Discovery): Observation {
  const { response } = discovery;
  return response && isBodyLost(response)
    ? unseen('the document that came was not kept', [discovery])
    : broken('discovery answered 200 with nothing', [discovery], { expected: '200, and a toolset' });
}

function onFound(discovery: Discovery): readonly Observation[] {
  const { reading, response } = discovery;
  if (!reading) return [onNoDocument(discovery)];
  const { rest } = toolsetFaults(discovery);
  if (rest.length > 0) return [broken('no valid toolset', [discovery], withFaults(rest))];
  if (!reading.ok) return [held([discovery], 'valid but for its names')];
  const { rest: notes } = toolsetNotes(discovery);
  const scripts = reading.toolset.tools.flatMap(scriptRemark);
  const remarks = [
    ...notes,
    ...scripts,
    ...nullRemark(reading.nulls),
    ...remarkOn(response?.headers['content-type']),
  ];
  return [remarks.length > 0 ? doubtful(visibleLine(remarks.join('; ')), [discovery]) : held([discovery])];
}

/** Clients show name(arguments) in its place. */
function scriptRemark({ displayScript }: Tool, index: number): string[] {
  const script = displayScript === undefined ? null : parseDisplayScript(displayScript);
  if (script?.kind !== 'invalid') return [];
  return [`$.tools[${index}].displayScript cannot be parsed: ${script.reason}`];
}

function remarkOn(type = 'none'): readonly string[] {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(type) ? [] : [`its content type is ${cut(type, MOST)}`];
}
