import { ADVICE } from '../../protocol/advice.js';
import { REQUIREMENTS, type RequirementId } from '../../protocol/requirements.js';
import { SOURCES } from '../../protocol/sources.js';
import type { Rule } from '../../rules/rule.js';
import { RULES, UNOBSERVABLE } from '../../rules/rules.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';

/** A rule on one line, in columns. */
export function ruleLine(id: RequirementId): Line {
  const { level, side, statement } = REQUIREMENTS[id];
  return [
    say(id.padEnd(LONGEST), 'title'),
    say(`  ${levelWord(level).padEnd(6)}  ${side.padEnd(7)}  `, 'gutter'),
    say(statement),
  ];
}

const LONGEST = Math.max(...Object.keys(REQUIREMENTS).map(({ length }) => length));

/** A rule whole: what it asks, of whom, where that is from, and when there is nothing to see. */
export function specLines(id: RequirementId): Line[] {
  const { level, side, statement } = REQUIREMENTS[id];
  const { page, words } = SOURCES[id];
  const rule = RULES.get(id);
  const unseen = UNOBSERVABLE[id];
  return [
    [say(id, 'title'), say(`  ${levelWord(level)}  ${side}`, 'dim')],
    [say('  ', 'gutter'), say(`The ${side} ${statement}.`)],
    [
      say('  from         ', 'gutter'),
      say(page === 'public specification' ? `the ${page}` : `the page ${page}`),
    ],
    ...(words === undefined ? [] : [[say('  in its words ', 'gutter'), say(`“${words}”`)]]),
    ...(unseen === undefined ? [] : [[say('  not checked  ', 'gutter'), say(unseen)]]),
    [say('  to do        ', 'gutter'), say(ADVICE[id])],
    ...(rule ? ruleDetails(rule) : []),
  ];
}

/** A breach of each level, as it counts. */
function ruleDetails({ id, masks = [], absent, failsWhere }: Rule): Line[] {
  const warning = `a warning; with --strict${failsWhere === undefined ? '' : `, or where ${failsWhere},`} a failure`;
  const breach = REQUIREMENTS[id].level === 'MUST' ? 'a failure' : warning;
  return [
    [say('  broken       ', 'gutter'), say(breach)],
    [say('  not seen     ', 'gutter'), say(absent)],
    ...(masks.length > 0 ? [[say('  masks        ', 'gutter'), say(masks.join(', '))]] : []),
  ];
}

function levelWord(level: string): string {
  return level === 'none' ? 'open' : level;
}
