import { groupBy } from '../util/collections.js';
import { firstWithRest, joinFirst } from '../util/text.js';
import type { Check } from './report.js';
import type { Observation } from './rule.js';

/** Limits of a reason: violations, kinds of them, and names or errors per kind. */
export const MAX_SHOWN = 3;

/** Errors of one kind where each has a line of its own. */
const MAX_LINES = 10;

/** Each kind of observation (those with the same words) once, with its first names and errors. */
export function reasonOf(observations: readonly Observation[]): Pick<Check, 'reason' | 'reasonLines'> {
  const kinds = [...groupBy(observations, ({ what }) => (what === undefined ? [] : [what]))].map(textsOfKind);
  if (kinds.length === 0)
    return { reason: `seen ${observations.length === 1 ? 'once' : `${observations.length} times`}` };
  const sentences = firstWithRest(
    kinds.map(({ sentence }) => sentence),
    MAX_SHOWN,
  );
  const lines = [...kinds.slice(0, MAX_SHOWN).flatMap(kind => kind.lines), ...sentences.slice(MAX_SHOWN)];
  return { reason: sentences.join('; '), ...(lines.length > 1 && { reasonLines: lines }) };
}

/** One kind of observation: as one sentence, and with a line for each error. */
interface TextsOfKind {
  readonly sentence: string;
  readonly lines: readonly string[];
}

function textsOfKind([what, observations]: readonly [string, readonly Observation[]]): TextsOfKind {
  const names = new Set(observations.flatMap(({ name }) => name ?? []));
  const faults = [...new Set(observations.flatMap(each => each.faults ?? []))];
  const title = names.size === 0 ? what : `${what}: ${joinFirst([...names], MAX_SHOWN)}`;
  const sentence = faults.length === 0 ? title : `${title}: ${firstWithRest(faults, MAX_SHOWN).join('; ')}`;
  const indented = firstWithRest(faults, MAX_LINES).map(fault => `  ${fault}`);
  return { sentence, lines: faults.length < 2 ? [sentence] : [`${title}:`, ...indented] };
}
