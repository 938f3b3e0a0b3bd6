import { nearest, suggestion } from '../util/text.js';

/** The side that must meet a requirement. */
export type Side = 'tool' | 'runtime';

export const BOTH_SIDES: readonly Side[] = ['tool', 'runtime'];

/**
 * The ids of all requirements, in the order of the protocol. Their rules are in check/rules.
 * @example
 * const ofTools = REQUIREMENT_IDS.filter(id => REQUIREMENTS[id].side === 'tool');
 */
export const REQUIREMENT_IDS = [
  'TOOL-ACK',
  'TOOL-ASYNC',
  'TOOL-ALWAYS',
  'TOOL-POST',
  'TOOL-GROUP',
  'TOOL-ID',
  'TOOL-CALLID',
  'TOOL-ONCE',
  'TOOL-ISOLATE',
  'TOOL-OPAQUE',
  'TOOL-VALIDATE',
  'TOOL-UNKNOWN-OP',
  'TOOL-BAD-ARGS',
  'TOOL-MALFORMED',
  'TOOL-EXTRA',
  'TOOL-ERRPREFIX',
  'TOOL-SECRET',
  'TOOL-NOLEAK',
  'TOOL-RETRY',
  'TOOL-NORETRY',
  'TOOL-FALLBACK',
  'TOOL-DIFF',
  'TOOL-IMAGE',
  'TOOL-SUB',
  'TOOL-CHOICE',
  'TOOL-OAUTH',
  'TOOL-CANCEL',
  'TOOL-CLOSE',
  'TOOL-DISCOVER',
  'TOOL-NAMES',
  'TOOL-MIGRATE',
  'TOOL-RATE',
  'RT-OP',
  'RT-ARGS',
  'RT-ID',
  'RT-FIELDS',
  'RT-ANCESTORS',
  'RT-NON200',
  'RT-RETRY',
  'RT-NORETRY',
  'RT-VALIDATE',
  'RT-MATCH',
  'RT-SANITIZE',
  'RT-DUP',
  'RT-TEXT',
  'RT-DISPLAY',
  'RT-PENDING',
  'RT-OAUTH',
  'RT-CHOICE',
  'RT-SUB',
  'RT-VIEW',
  'RT-SERIAL',
  'RT-CANCEL',
  'RT-NOTIFY',
  'RT-MIGRATE',
  'RT-TOOLSET',
  'RT-CACHE',
  'RT-AUDIT',
  'RT-ACK',
  'RT-TIMEOUT',
] as const;

/**
 * The id of a requirement.
 * @example
 * const id: RequirementId = 'TOOL-ACK';
 */
export type RequirementId = (typeof REQUIREMENT_IDS)[number];

/** A problem that does not stop the program; `id` is the requirement concerned. */
export interface Warning {
  readonly id?: RequirementId;
  readonly message: string;
  /** Further lines, such as the last output of a server. */
  readonly details?: string[];
}

const IDS: ReadonlySet<string> = new Set(REQUIREMENT_IDS);

export function isRequirementId(id: unknown): id is RequirementId {
  return typeof id === 'string' && IDS.has(id);
}

const SIDES = /^(?:TOOL|RT)-/;

/** Suggests ids for a misspelt one, compared without the side, since all ids of a side look alike. Without a match, how to list all ids. */
export function suggestRequirement(text: string): string {
  const word = text.toUpperCase();
  const name = word.replace(SIDES, '');
  const names = [...new Set(REQUIREMENT_IDS.map(id => id.replace(SIDES, '')))];
  const letters = (each: string) => [...each].sort().join('');
  const found = [
    ...names.filter(each => letters(each) === letters(name)),
    ...(name === '' ? [] : nearest(name, names, Math.max(1, Math.floor(name.length / 3)))),
  ].flatMap(each => {
    const ids = REQUIREMENT_IDS.filter(id => id.replace(SIDES, '') === each);
    const ofSide = ids.filter(id => word.startsWith(SIDES.exec(id)?.[0] ?? ''));
    return ofSide.length > 0 ? ofSide : ids;
  });
  return suggestion([...new Set(found)]) || '`protocol-cli check --list` shows them all.';
}
