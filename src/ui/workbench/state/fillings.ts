import type { Filling, State } from './state.js';

/** Forms that are kept at most: the one that was left longest ago goes. */
const MOST = 50;

/** Whose a form is. */
export type Filled = Pick<Filling, 'server' | 'operation' | 'about'>;

/** A form as it was left, if it is known. */
export function fillingOf({ filling, left }: State, whose: Filled): Filling | undefined {
  return [...left, ...(filling ? [filling] : [])].find(each => isSame(each, whose));
}

/** That form instead of the one before, which can be come back to. */
export function filledIn({ filling, left }: State, next: Filling): Pick<State, 'filling' | 'left'> {
  return { filling: next, left: kept([...left, ...(filling ? [filling] : [])], next) };
}

/** That form among those that were left. */
export function leftBehind({ left }: State, another: Filling): Pick<State, 'left'> {
  return { left: [...kept(left, another), another].slice(-MOST) };
}

/** A change of one form, wherever it is. */
export function refilled(
  { filling, left }: State,
  id: Filling['id'] | string,
  step: (filling: Filling) => Filling,
): Pick<State, 'filling' | 'left'> {
  const stepped = (each: Filling) => (each.id === id ? step(each) : each);
  return { filling: filling && stepped(filling), left: left.map(stepped) };
}

function kept(fillings: readonly Filling[], next: Filled): readonly Filling[] {
  return fillings.filter(each => !isSame(each, next)).slice(-MOST);
}

function isSame(one: Filled, other: Filled): boolean {
  return one.server === other.server && one.operation === other.operation && one.about === other.about;
}
