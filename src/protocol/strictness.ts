import { isInexactNote } from '../util/json-notes.js';

/** What strict runtimes lose by a mistake that this program tolerates. */
export type Lost = 'result' | 'message' | 'toolset';

/** Adds to a warning what the mistake costs. */
export function withPrice(warning: string, lost: Lost): string {
  return `${warning}; strict runtimes, such as the reference, refuse it: the whole ${lost} is lost`;
}

/** The notes on a JSON text as warnings. Only a number that is not exact costs nothing. */
export function jsonWarnings(notes: readonly string[], lost: Lost): readonly string[] {
  return notes.map(note => (isInexactNote(note) ? note : withPrice(note, lost)));
}

/** Optional members that must not be null: to strict runtimes they are booleans with a default. */
const BOOLEANS = ['associative', 'needsMigration'];

/** Whether strict runtimes refuse null at one of these paths. */
export function isNullRefused(paths: readonly string[]): boolean {
  return paths.some(path => BOOLEANS.some(name => path.endsWith(`.${name}`)));
}
