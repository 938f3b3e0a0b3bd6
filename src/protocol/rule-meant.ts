import { nearest, offer } from '../util/nearest.js';
import { REQUIREMENTS } from './requirements.js';

const IDS = Object.keys(REQUIREMENTS);
const SIDE = /^(?:TOOL|RT)-/;
const NAMES = [...new Set(IDS.map(nameOf))];

/** For an id that no rule has: which was probably meant, and where none was, what lists them all. */
export function ruleMeant(word: string): string {
  return offer(rulesNear(word.toUpperCase())) || '`protocol-cli check --list` shows them all.';
}

/** That a rule is of the same side makes it no nearer; of two with the same name it decides. */
function rulesNear(word: string): readonly string[] {
  return namesNear(nameOf(word)).flatMap(name => {
    const ids = IDS.filter(id => nameOf(id) === name);
    const ofSide = ids.filter(id => word.startsWith(sideOf(id)));
    return ofSide.length > 0 ? ofSide : ids;
  });
}

/** Names are short: in half of its letters any is like any other. */
function namesNear(name: string): readonly string[] {
  if (name === '') return [];
  const swapped = NAMES.filter(each => lettersOf(each) === lettersOf(name));
  return [...new Set([...swapped, ...nearest(name, NAMES, Math.max(1, Math.floor(name.length / 3)))])];
}

function lettersOf(name: string): string {
  return [...name].sort().join('');
}

function nameOf(id: string): string {
  return id.replace(SIDE, '');
}

function sideOf(id: string): string {
  return SIDE.exec(id)?.[0] ?? '';
}
