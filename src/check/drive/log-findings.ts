import type { Event, RequestEvent } from '../../events/events.js';
import { consentSecrets } from '../../events/shareable.js';
import type { Finding } from '../../protocol/driver.js';
import { REDACTED } from '../../util/redact.js';
import { truncateBeforeToken } from '../../util/text.js';
import { isRecord, valueAt } from '../../util/values.js';
import { rememberEnd } from './log-tail.js';

interface Findings {
  readonly findings: readonly Finding[];
  /** Why the log was not read, or only in part. */
  readonly warning?: string;
}

/**
 * Remembers where the runtime's own log ends. Returns a function that finds, after a scenario, leaked secrets, and what the log contains
 * since then of the calls and of discarded results. Without a log, it finds only what the model got.
 */
export async function findingsSince(
  path: string | undefined,
): Promise<(events: readonly Event[]) => Promise<Findings>> {
  if (path === undefined) return async events => ({ findings: leaksIn(events) });
  const readAppended = await rememberEnd(path);
  return async events => {
    const part = await readAppended();
    if (!part) {
      const warning = `cannot read ${path}: it was not written, or is not a file that may be read`;
      // A runtime that writes no log names no operation in it.
      return { findings: [...leaksIn(events), { saw: 'log', operations: [], isWhole: true }], warning };
    }
    const findings = [
      ...leaksIn(events, part.text),
      { saw: 'log', ...auditOf(events, part.text), isWhole: part.isWhole } as const,
    ];
    if (part.isWhole) return { findings };
    const warning = `only a part of ${path} was read: it is too long, or the runtime began it anew`;
    return { findings, warning };
  };
}

/** Maximum number of leaks reported per place, and maximum length of their texts in characters. */
const MAX_LEAKS = 3;
const MAX_LEAK = 300;

function leaksIn(events: readonly Event[], log = ''): readonly Finding[] {
  const secrets = [...new Set(events.flatMap(consentSecrets))];
  if (secrets.length === 0) return [];
  const places = [
    ['model', textsFor('model', events)],
    ['failure', textsFor('failure', events)],
    ['log', log.split('\n')],
  ] as const;
  return places.flatMap(([where, texts]) =>
    texts
      .filter(text => secrets.some(secret => text.includes(secret)))
      .slice(0, MAX_LEAKS)
      .map(text => {
        const safe = secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
        return { saw: 'leak', where, text: truncateBeforeToken(safe, MAX_LEAK) } as const;
      }),
  );
}

function textsFor(who: 'model' | 'failure', events: readonly Event[]): readonly string[] {
  return events.flatMap(event => {
    if (event.kind !== 'driver' || !event.body?.json.ok || valueAt(event.body.json.value, 'saw') !== who)
      return [];
    return String(valueAt(event.body.json.value, 'text'));
  });
}

/** A date, a time of day, or the seconds, milliseconds, microseconds or nanoseconds since 1970. */
const TIME = /(?<![\d.])\d{1,2}:\d{2}|\d{4}-\d{2}-\d{2}|(?<!\d)1[5-9]\d{8}(?:\d{3}){0,3}(?!\d)/;

/** A word or a status that says how a call ended. */
const OUTCOME =
  /result|outcome|status|success|succe|complet|done|finish|answer|fail|error|cancel|refus|reject|den(?:y|ied)|time(?:d )?-?out|\bok\b|\b[2-5]\d\d\b/i;

/** Words for a result that matches no pending call. */
const DISCARDED =
  /discard|match|ignor|drop|refus|reject|unexpected|orphan|stray|\b404\b|(?:unknown|no such|no pending|invalid) (?:call|id|thread|group|result|tool_result)/i;

/** An entry of a log may have several lines: this many around the name of an operation belong to it. */
const ENTRY_LINES = 3;

/** What the log contains of the calls, and of the results that match no call. */
function auditOf(events: readonly Event[], log: string) {
  const lines = log.split('\n');
  const invocations = invocationsIn(events);
  const places = new Map(
    namesOf(invocations).map(name => [
      name,
      lines.flatMap((line, index) => (hasWord(line, name) ? [index] : [])),
    ]),
  );
  const placesOf = (name: string) => places.get(name) ?? [];
  const operations = [...places.keys()].filter(name => placesOf(name).length > 0);
  const isNear = (pattern: RegExp, name: string) =>
    placesOf(name).some(index =>
      lines
        .slice(Math.max(0, index - ENTRY_LINES), index + 1 + ENTRY_LINES)
        .some(line => pattern.test(line.replaceAll(name, ''))),
    );
  const ended = namesOf(invocations.filter(call => hasResult(call, events)));
  return {
    operations,
    untimed: operations.filter(name => !isNear(TIME, name)),
    // Two entries are a beginning and an end, in any words.
    unended: operations.filter(
      name => ended.includes(name) && placesOf(name).length < 2 && !isNear(OUTCOME, name),
    ),
    undiscarded: DISCARDED.test(log)
      ? []
      : unknownResultsIn(events)
          .filter(({ unknown }) => !hasWord(log, unknown))
          .map(({ group_id, id }) => `${group_id}/${id}`),
  };
}

type Message = Readonly<Record<string, unknown>>;

function messagesIn(events: readonly Event[], purpose: RequestEvent['purpose']): readonly Message[] {
  return events.flatMap(event => {
    if (event.kind !== 'request' || event.purpose !== purpose || !event.body?.json.ok) return [];
    return isRecord(event.body.json.value) ? [event.body.json.value] : [];
  });
}

const invocationsIn = (events: readonly Event[]) => messagesIn(events, 'invocation');

function namesOf(invocations: readonly Message[]): readonly string[] {
  return [
    ...new Set(invocations.flatMap(({ operation }) => (typeof operation === 'string' ? [operation] : []))),
  ];
}

const resultsIn = (events: readonly Event[]) =>
  messagesIn(events, 'callback').filter(({ type }) => type === 'tool_result');

function hasResult({ id, group_id }: Message, events: readonly Event[]): boolean {
  return resultsIn(events).some(result => result['id'] === id && result['group_id'] === group_id);
}

/** A result that names a call which the runtime did not make, with the part of its name that is unknown. */
interface UnknownResult {
  readonly group_id: string;
  readonly id: string;
  readonly unknown: string;
}

function unknownResultsIn(events: readonly Event[]): readonly UnknownResult[] {
  const invocations = invocationsIn(events);
  return resultsIn(events).flatMap(({ group_id, id }) => {
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
