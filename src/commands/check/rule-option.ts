import { InvalidArgumentError } from 'commander';
import { REQUIREMENTS, type RequirementId } from '../../protocol/requirements.js';
import { didYouMean } from '../../text/nearest.js';

const IDS = Object.keys(REQUIREMENTS);

/** Reads the id of a rule, one more each time, in any case. @throws InvalidArgumentError with the nearest ones */
export function ruleOption(text: string, before: readonly RequirementId[] = []): readonly RequirementId[] {
  const id = text.toUpperCase();
  if (isRule(id)) return [...before, id];
  if (id.includes(','))
    throw new InvalidArgumentError(`"${text}" is no rule: one at a time, give the option once for each.`);
  throw new InvalidArgumentError(`"${text}" is no rule. ${didYouMean(id, IDS) || '--list has them all.'}`);
}

function isRule(id: string): id is RequirementId {
  return Object.hasOwn(REQUIREMENTS, id);
}
