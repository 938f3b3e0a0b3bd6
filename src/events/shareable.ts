import type { Callback } from '../protocol/callbacks.js';
import { PROTOCOL_WORDS } from '../protocol/words.js';
import { isRecord, RecentMap } from '../util/json-diagnosis.js';
import { inLayout } from '../util/json-layout.js';
import {
  Beginnings,
  bareUrl,
  cleanWords,
  LATEST,
  REDACTED,
  type Redactor,
  type Span,
  tokenlessUrl,
  withoutCut,
  withoutSpans,
} from '../util/redact.js';
import { foreignWords, redactJson } from '../util/redact-json.js';
import type { Content } from './content.js';
import type { Event, RequestEvent } from './events.js';
import type { Arrival } from './exchange.js';

/**
 * A body as it may leave the machine: secrets out, an `auth_url` without its query, a `response_url` without its token (threats,
 * row 25). Null where it is no text.
 */
export function shareableText(content: Content, redactor: Redactor): string | null {
  const { text } = content;
  if (text === null) return null;
  if (content.json.ok) return redactJson(withoutPower(content, text), redactor);
  return redactor.text(withoutPowerInText(text));
}

/** A callback as it may leave the machine, but for secrets that are known by their value. */
export function shareableMessage(message: Callback): Callback {
  if (message.type === 'oauth') return { ...message, auth_url: bareUrl(message.auth_url) };
  if (message.type === 'user_choice') return { ...message, response_url: tokenlessUrl(message.response_url) };
  return message;
}

/** As {@link shareableMessage}, with what was judged of it. */
export function shareableArrival(arrival: Arrival): Arrival {
  return arrival.message ? { ...arrival, message: shareableMessage(arrival.message) } : arrival;
}

/** The URL of a request without secrets; anyone who knows the URL of a question can answer it. */
export function shareableUrl({ purpose, url }: RequestEvent, redactor: Redactor): string {
  if (purpose === 'choice') return redactor.text(tokenlessUrl(url));
  return purpose === 'callback' && url.startsWith('/') ? shareableTarget(url, redactor) : redactor.text(url);
}

/** A request line has no origin, and what is secret in it is what is secret in the whole address, which a body names. */
function shareableTarget(target: string, redactor: Redactor): string {
  return redactor.text(SOMEWHERE + target).slice(SOMEWHERE.length);
}

const SOMEWHERE = 'http://callback.invalid';

/** A session event without secrets, which its arguments and answer may repeat. */
export function shareableFact<Fact extends Extract<Event, { kind: 'session' | 'awaiting' }>>(
  event: Fact,
  redactor: Redactor,
): Fact {
  const clean = (value: unknown): unknown => JSON.parse(redactJson(JSON.stringify(value), redactor));
  if (event.kind === 'awaiting') {
    const pending = event.pending.map(each =>
      'args' in each && each.args !== undefined ? { ...each, args: clean(each.args) } : each,
    );
    return { ...event, pending };
  }
  const { error, answer } = event;
  return {
    ...event,
    ...(error !== undefined && { error: redactor.text(error) }),
    ...(answer !== undefined && { answer: clean(answer) }),
  };
}

/** What is not changed stays as it was written. */
function withoutPower({ json }: Content, text: string): string {
  if (!json.ok || !MAY_HAVE_POWER.test(text)) return text;
  const value = json.value;
  const shareable = withoutPowerAt(value);
  return shareable === value ? text : inLayout(text, shareable);
}

/** A name may be written with escapes. */
const MAY_HAVE_POWER = /auth_url|response_url|\\u/;

/**
 * Whoever has such a URL can go on in somebody's name, wherever it stands: a message that is rejected is kept too. The value given,
 * where there is none. It is as deep as JSON may be here, and no deeper.
 */
function withoutPowerAt(value: unknown): unknown {
  if (Array.isArray(value)) {
    const changes = new Map<number, unknown>();
    for (const [index, item] of value.entries()) {
      const shareable = withoutPowerAt(item);
      if (shareable !== item) changes.set(index, shareable);
    }
    return changes.size > 0 ? value.map((item, at) => (changes.has(at) ? changes.get(at) : item)) : value;
  }
  if (!isRecord(value)) return value;
  const isQuestion = value['type'] === 'user_choice';
  const changes = new Map<string, unknown>();
  for (const name of Object.keys(value)) {
    const shareable = shareableMember(name, value[name], isQuestion);
    if (shareable !== value[name]) changes.set(name, shareable);
  }
  if (changes.size === 0) return value;
  const member = (name: string) => (changes.has(name) ? changes.get(name) : value[name]);
  return Object.fromEntries(Object.keys(value).map(name => [name, member(name)]));
}

function shareableMember(name: string, member: unknown, isQuestion: boolean): unknown {
  if (name === 'auth_url') return bareUrl(foreignWords(member));
  return isQuestion && name === 'response_url' ? tokenlessUrl(foreignWords(member)) : withoutPowerAt(member);
}

/** The same for text that is not complete JSON: removes the query of URLs after such a name. */
export function withoutPowerInText(text: string): string {
  return text.replace(POWERFUL_IN_TEXT, '$1');
}

const POWERFUL_IN_TEXT = /((?:auth_url|response_url)\W{1,12}\w{1,20}:[^\s"'<>?#]{0,2000})[?#][^\s"'<>]*/gi;

/** The members of our messages that are URLs with a secret in them. */
const URL_FIELDS = ['callback_url', 'response_url', 'auth_url'];
const ID_FIELDS = ['id', 'group_id', 'call_id', 'tool_call_id'];
/** A path segment that is a word, or a version, and no token: it may be told. */
const COMMON = /^(?:[a-z]{1,10}|v\d{1,3})$/i;
/** Shorter ones are looked for within URLs alone: elsewhere they may be anything. */
const SHORTEST = 8;
/** Of a longer one this much is looked for. */
const LONGEST = 256;
/** Secrets: an event names its own anew, so those of long ago are not missed. */
const REMEMBERED = 50_000;

/** To search a text for so many strings is quicker than to take it apart. */
const FEW_HEADS = 64;

/** A part of a longer word that may be a token. */
const TOKEN = /[\w.~-]{16,}/g;
/** Such as `subscription_event`. */
const NAME = /^[a-z]+(?:_[a-z]+)+$/;

const URLS = /https?:(?:\/\/|\\\/\\\/)[^\s"'<>]+/gi;
const HOST = /^https?:(?:\/\/|\\\/\\\/)[^\\/?#]*/i;
/** Tokenizes text that may be JSON or percent-encoded; an escape does not belong to a word. */
const PIECES = /\\u[\da-f]{4}|\\[\s\S]|%[\da-f]{2}|\w+|[^\w\\%]|[\\%]/gi;

/** A redactor that learns what is secret from the events it is shown. */
export interface EventRedactor extends Redactor {
  learn(event: Event): void;
}

/**
 * Takes out of texts what is secret in the URLs that events name: whoever has a callback URL can speak into a conversation
 * (threats, row 25). That is every path segment and value of a query that is no common word and no id of the event, anywhere; short
 * ones only in URLs.
 * Looks words up instead of searching for each, since there is a token for every call; in bounded memory.
 */
export function callbackSecrets(events: Iterable<Event> = []): EventRedactor {
  const words = new Words();
  const redactor: EventRedactor = {
    add: secret => words.add(secret),
    text: text => words.replaceIn(text),
    words: text => words.replaceCut(words.replaceIn(text)),
    learn(event) {
      const { urls, told } = namedIn(event);
      for (const url of urls) for (const word of wordsOf(url)) if (!told.includes(word)) words.add(word);
    },
  };
  for (const event of events) redactor.learn(event);
  return redactor;
}

/** As {@link callbackSecrets}, for these URLs. @param known public words, such as ids in a path */
export function urlSecrets(urls: Iterable<string>, known: readonly string[] = []): Redactor {
  const redactor = callbackSecrets();
  for (const url of urls) for (const word of wordsOf(url)) if (!known.includes(word)) redactor.add(word);
  return redactor;
}

/**
 * Takes out, besides what `redactor` does, what may be a token in the addresses at which questions are answered: whoever has one
 * can answer for the user. A tool writes these addresses, so that no more than its long words count, whole, and never as a name.
 */
export function withQuestionSecrets(redactor: Redactor): EventRedactor {
  const words = new Words();
  return {
    add: secret => redactor.add(secret),
    text: text => words.replaceIn(redactor.text(text)),
    words: text => words.replaceCut(words.replaceIn(cleanWords(redactor, text))),
    name: text => redactor.name?.(text) ?? redactor.text(text),
    learn(event) {
      for (const secret of questionSecrets(event)) words.add(secret);
    },
  };
}

/** Ids that the event names may be told, and so may the names of a protocol. */
function questionSecrets(event: Event): string[] {
  if (event.kind !== 'request' || event.purpose !== 'callback') return [];
  const message = event.body?.json.ok ? event.body.json.value : null;
  if (!isRecord(message) || message['type'] !== 'user_choice') return [];
  const { response_url: url, id, group_id } = message;
  const told = [...(event.calls ?? []), event.thread, id, group_id].map(String);
  const tokens = typeof url === 'string' ? wordsOf(url).flatMap(word => word.match(TOKEN) ?? []) : [];
  return tokens.filter(token => !NAME.test(token) && !told.some(each => each.includes(token)));
}

/** Many words, found in a text in the time it takes to read it. */
class Words {
  readonly #long = new RecentMap<string, true>(REMEMBERED);
  readonly #short = new RecentMap<string, true>(REMEMBERED);
  /** By how long words begin: how long they are, the longest first. */
  readonly #lengths = new RecentMap<string, readonly number[]>(REMEMBERED);
  readonly #beginnings = new Beginnings(LATEST);
  /** The heads of `#lengths`; null where they are too many to search for each. */
  #heads: Set<string> | null = new Set();
  #isEmpty = true;

  add(word: string): void {
    this.#isEmpty = false;
    for (const form of formsOf(word.slice(0, LONGEST))) {
      this.#beginnings.add(form);
      if (form.length < SHORTEST) this.#short.set(form, true);
      else this.#addLong(form);
    }
  }

  replaceIn(text: string): string {
    if (this.#isEmpty) return text;
    const shortless = text.replace(URLS, url => this.#replaceShort(url));
    return withoutSpans(shortless, this.#longIn(shortless));
  }

  replaceCut(text: string): string {
    return withoutCut(text, this.#beginnings);
  }

  #addLong(form: string): void {
    const head = form.slice(0, SHORTEST);
    const lengths = this.#lengths.get(head) ?? [];
    const isNew = !lengths.includes(form.length);
    this.#lengths.set(head, isNew ? [...lengths, form.length].sort((a, b) => b - a) : lengths);
    if (this.#heads && this.#heads.add(head).size > FEW_HEADS) this.#heads = null;
    this.#long.set(form, true);
  }

  #replaceShort(url: string): string {
    const [host = ''] = HOST.exec(url) ?? [];
    const rest = url.slice(host.length);
    return host + rest.replace(/[^/\\?&=#]+/g, part => (this.#short.get(part) ? REDACTED : part));
  }

  #longIn(text: string): Span[] {
    const spans: Span[] = [];
    if (this.#heads && ![...this.#heads].some(head => text.includes(head))) return spans;
    let done = 0;
    for (const { 0: piece, index: from } of text.matchAll(PIECES)) {
      if (from < done || (piece.length > 1 && piece.startsWith('\\'))) continue;
      const to = this.#endAt(text, from);
      if (to === from) continue;
      spans.push({ from, to });
      done = to;
    }
    return spans;
  }

  /** Where the longest word ends that begins `at` this place; `at` itself where none does. */
  #endAt(text: string, at: number): number {
    for (const length of this.#lengths.get(text.slice(at, at + SHORTEST)) ?? []) {
      const word = text.slice(at, at + length);
      if (this.#long.get(word) && (length === LONGEST || !goesOn(text, at + length))) return at + length;
    }
    return at;
  }
}

/** A longer word is another one. */
function goesOn(text: string, end: number): boolean {
  return /\w/.test(text[end - 1] ?? '') && /\w/.test(text[end] ?? '');
}

/** Without what could end a text of JSON; a slash at the start would be half of an escape. */
function formsOf(word: string): Set<string> {
  const plain = word.replace(/^\/+/, '');
  const percent = encodeURIComponent(plain.toWellFormed());
  return new Set(
    [
      plain,
      plain.replaceAll('/', '\\/'),
      percent,
      percent.replace(/%[\dA-F]{2}/g, code => code.toLowerCase()),
    ].filter(form => form !== ''),
  );
}

/** Secret URLs and public ids of an event; a path may contain the id of the call. */
function namedIn(event: Event): { readonly urls: readonly string[]; readonly told: readonly unknown[] } {
  if (event.kind !== 'request') return { urls: [], told: [] };
  const json = event.body?.peekJson();
  const fields = json?.ok && isRecord(json.value) ? json.value : {};
  const urls = [
    ...(event.purpose === 'callback' ? [event.url] : []),
    ...URL_FIELDS.map(name => fields[name]),
  ];
  return {
    urls: urls.filter(url => typeof url === 'string'),
    told: [...(event.calls ?? []), event.thread, ...ID_FIELDS.map(name => fields[name])],
  };
}

/** The words of a URL's path, query and fragment, both encoded and decoded. The host is public. */
function wordsOf(url: string): string[] {
  const [path = '', query = ''] = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/\?(.*)/s);
  const values = query.split(/[&#]/).map(each => each.slice(each.indexOf('=') + 1));
  const written = [...path.split(/[/#]/), ...values, ...values.flatMap(value => value.split('/'))];
  return [...new Set(written.flatMap(word => [word, decoded(word)]).flatMap(tame))];
}

/** Whatever could end a text, or an escape in it, ends a word. */
function tame(word: string): string[] {
  const words = word.split(/["'<>\\\s\p{Cc}]+/u);
  const bare = words.map(each => each.replace(/[.=]+$/, ''));
  return [...words, ...bare, ...(word.match(TOKEN) ?? [])].filter(each => each !== '' && !isTold(each));
}

function isTold(word: string): boolean {
  return COMMON.test(word) || PROTOCOL_WORDS.has(word);
}

function decoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, bytes =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
  );
}
