import { InvalidArgumentError } from 'commander';
import { REQUIREMENTS, type RequirementId } from '../../protocol/requirements.js';
import { ruleMeant } from '../../protocol/rule-meant.js';

/** Reads the id of a rule, one more each time, in any case. @throws InvalidArgumentError with those that are near */
export function ruleOption(text: string, before: readonly RequirementId[] = []): readonly RequirementId[] {
  const id = text.toUpperCase();
  if (isRule(id)) return [...before, id];
  if (id.includes(','))
    throw new InvalidArgumentError(`"${text}" is no rule: one at a time, give the option once for each.`);
  throw new InvalidArgumentError(`"${text}" is no rule. ${ruleMeant(text)}`);
}

function isRule(id: string): id is RequirementId {
  return Object.hasOwn(REQUIREMENTS, id);
}
