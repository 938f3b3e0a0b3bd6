import type { Event, RequestEvent } from '../../events/events.js';
import type { Finding } from '../../protocol/driver.js';
import { isRecord } from '../../util/values.js';

/** A date, a time of day, or the seconds, milliseconds, microseconds or nanoseconds since 1970. */
const TIME = /(?<![\d.])\d{1,2}:\d{2}|\d{4}-\d{2}-\d{2}|(?<!\d)1[5-9]\d{8}(?:\d{3}){0,3}(?!\d)/;

/** A word or a status that says how a call ended. */
const OUTCOME =
  /result|outcome|status|succe|complet|done|finish|answer|fail|error|cancel|refus|reject|den(?:y|ied)|time(?:d )?-?out|\bok\b|\b[2-5]\d\d\b/i;

/** Words for a result that matches no pending call. */
const DISCARDED =
  /discard|match|ignor|drop|refus|reject|unexpected|orphan|stray|\b404\b|(?:unknown|no such|no pending|invalid) (?:call|id|thread|group|result|tool_result)/i;

/** An entry of a log may have several lines: this many around the name of an operation belong to it. */
const ENTRY_LINES = 3;

/** Finds what a log contains of the calls, and of the results that match no call. */
export function auditLog(events: readonly Event[], text: string): Omit<Finding<'log'>, 'saw' | 'isWhole'> {
  const log = new LogLines(text);
  const invocations = messagesIn(events, 'invocation');
  const results = messagesIn(events, 'callback').filter(({ type }) => type === 'tool_result');
  const operations = operationsOf(invocations).filter(name => log.countOf(name) > 0);
  const ended = operationsOf(invocations.filter(call => results.some(result => isResultOf(result, call))));
  return {
    operations,
    untimed: operations.filter(name => !log.isNear(name, TIME)),
    // Two entries are a beginning and an end, in any words.
    unended: operations.filter(
      name => ended.includes(name) && log.countOf(name) < 2 && !log.isNear(name, OUTCOME),
    ),
    undiscarded: DISCARDED.test(text)
      ? []
      : unknownResultsIn(results, invocations)
          .filter(({ unknown }) => !hasWord(text, unknown))
          .map(({ group_id, id }) => `${group_id}/${id}`),
  };
}

/** The lines of a log, by the names in them. */
class LogLines {
  readonly #lines: readonly string[];
  /** The indexes of the lines with a name. */
  readonly #indexes = new Map<string, readonly number[]>();

  constructor(text: string) {
    this.#lines = text.split('\n');
  }

  /** How many lines contain a name. */
  countOf(name: string): number {
    return this.#indexesOf(name).length;
  }

  /** Whether an entry with this name matches a pattern, and not because of the name. */
  isNear(name: string, pattern: RegExp): boolean {
    return this.#indexesOf(name).some(index =>
      this.#lines
        .slice(Math.max(0, index - ENTRY_LINES), index + 1 + ENTRY_LINES)
        .some(line => pattern.test(line.replaceAll(name, ''))),
    );
  }

  #indexesOf(name: string): readonly number[] {
    const known = this.#indexes.get(name);
    if (known) return known;
    const indexes = this.#lines.flatMap((line, index) => (hasWord(line, name) ? [index] : []));
    this.#indexes.set(name, indexes);
    return indexes;
  }
}

type Message = Readonly<Record<string, unknown>>;

function messagesIn(events: readonly Event[], purpose: RequestEvent['purpose']): readonly Message[] {
  return events.flatMap(event => {
    if (event.kind !== 'request' || event.purpose !== purpose || !event.body?.json.ok) return [];
    return isRecord(event.body.json.value) ? [event.body.json.value] : [];
  });
}

function operationsOf(invocations: readonly Message[]): readonly string[] {
  return [
    ...new Set(invocations.flatMap(({ operation }) => (typeof operation === 'string' ? [operation] : []))),
  ];
}

function isResultOf(result: Message, call: Message): boolean {
  return result['id'] === call['id'] && result['group_id'] === call['group_id'];
}

/** A result that names a call which the runtime did not make, with the part of its name that is unknown. */
interface UnknownResult {
  readonly group_id: string;
  readonly id: string;
  readonly unknown: string;
}

function unknownResultsIn(
  results: readonly Message[],
  invocations: readonly Message[],
): readonly UnknownResult[] {
  return results.flatMap(({ group_id, id }) => {
    if (typeof group_id !== 'string' || typeof id !== 'string') return [];
    if (!invocations.some(each => each['group_id'] === group_id))
      return [{ group_id, id, unknown: group_id }];
    return invocations.some(each => each['id'] === id) ? [] : [{ group_id, id, unknown: id }];
  });
}

/** Whether a text contains a word, not only as a part of a longer one. */
function hasWord(text: string, word: string): boolean {
  if (word === '') return false;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!isInWord(text[at - 1]) && !isInWord(text[at + word.length])) return true;
  return false;
}

function isInWord(character = ' '): boolean {
  return /[\w-]/.test(character);
}
