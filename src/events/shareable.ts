import { type CallbackType, PROTOCOL_WORDS, SECRET_URLS, traitsOf } from '../protocol/callbacks.js';
import { RecentMap } from '../util/collections.js';
import { formatLike } from '../util/json-text.js';
import { LIMITS } from '../util/limits.js';
import { REDACTED, type Redactor, redactSpans } from '../util/redact.js';
import { redactJson } from '../util/redact-json.js';
import { SecretFinder } from '../util/secret-finder.js';
import { callbackEnding, tokenlessUrl, urlWithoutQuery } from '../util/url.js';
import { isRecord, stringOrJson } from '../util/values.js';
import type { Body, Event, RequestEvent } from './events.js';
import type { Arrival } from './exchange.js';

/** A body without secrets: an `auth_url` without its query, a `response_url` without its token (threats, row 25); null if it is not text. */
export function shareableText(content: Body, redactor: Redactor): string | null {
  const { text } = content;
  if (text === null) return null;
  if (content.json.ok) return redactJson(withoutSecretUrls(content, text), redactor);
  return redactor.text(withoutSecretUrlsInText(text));
}

const SHAREABLE_URL = {
  auth_url: urlWithoutQuery,
  response_url: tokenlessUrl,
} satisfies Record<(typeof SECRET_URLS)[number], (url: string) => string>;

/** A callback whose secret URL is shortened. Secrets that are known by their value are not removed. */
export function shareableMessage<Message extends Readonly<Record<string, unknown>>>(
  message: Message,
): Message {
  const field = traitsOf(message['type'])?.secretUrl;
  return field ? { ...message, [field]: SHAREABLE_URL[field](stringOrJson(message[field])) } : message;
}

export function shareableArrival(arrival: Arrival): Arrival {
  return arrival.message ? { ...arrival, message: shareableMessage(arrival.message) } : arrival;
}

/** The URL of a request without secrets: anyone who knows the URL of a question can answer the question. */
export function shareableUrl({ purpose, url }: RequestEvent, redactor: Redactor): string {
  if (purpose === 'choice') return redactor.text(tokenlessUrl(url));
  if (purpose !== 'callback' || !url.startsWith('/')) return redactor.text(url);
  // A request line has no origin, but its secrets are known as parts of whole URLs.
  const origin = 'http://callback.invalid';
  return redactor.text(origin + url).slice(origin.length);
}

function withoutSecretUrls({ json }: Body, text: string): string {
  if (!json.ok || !MAY_HAVE_SECRET_URLS.test(text)) return text;
  const value = json.value;
  const shareable = withoutSecretUrlsAt(value);
  return shareable === value ? text : formatLike(text, shareable);
}

/** Names may contain escapes. */
const MAY_HAVE_SECRET_URLS = new RegExp([...SECRET_URLS, String.raw`\\u`].join('|'));

/** Removes secret URLs at any depth, since rejected messages are kept too. Returns the same value if it has none. */
function withoutSecretUrlsAt(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(withoutSecretUrlsAt);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isRecord(value)) return value;
  const isChoice = value['type'] === 'user_choice';
  const members = Object.keys(value).map(
    name => [name, shareableMember(name, value[name], isChoice)] as const,
  );
  return members.some(([name, member]) => member !== value[name]) ? Object.fromEntries(members) : value;
}

/** Elsewhere than in a choice, `response_url` is an ordinary name. */
function shareableMember(name: string, member: unknown, isChoice: boolean): unknown {
  const secret = SECRET_URLS.find(each => each === name && (isChoice || each !== 'response_url'));
  return secret ? SHAREABLE_URL[secret](stringOrJson(member)) : withoutSecretUrlsAt(member);
}

/** The same for text that is not complete JSON: removes the query of URLs after such a name. */
export function withoutSecretUrlsInText(text: string): string {
  return text.replace(SECRET_URL_IN_TEXT, '$1');
}

const SECRET_URL_IN_TEXT = new RegExp(
  String.raw`((?:${SECRET_URLS.join('|')})\W{1,12}\w{1,20}:[^\s"'<>?#]{0,2000})[?#][^\s"'<>]*`,
  'gi',
);

/** Members of messages that are URLs with secrets. */
const URL_FIELDS = ['callback_url', ...SECRET_URLS];

const ID_FIELDS = ['id', 'group_id', 'call_id', 'tool_call_id'];

/** A path segment that is a word or a version. */
const COMMON = /^(?:[a-z]{1,10}|v\d{1,3})$/i;

/** Minimum length of a secret that is redacted outside URLs, in characters: shorter ones may be ordinary words. */
const SHORTEST = 8;

/** Longer secrets are found by this many characters at their start. */
const MAX_COMPARED = 256;

/** What may be a token within a longer word. */
const TOKEN = /[\w.~-]{16,}/g;

/** A name such as `subscription_event`. */
const NAME = /^[a-z]+(?:_[a-z]+)+$/;

const URLS = /https?:(?:\/\/|\\\/\\\/)[^\s"'<>]+/gi;

const HOST = /^https?:(?:\/\/|\\\/\\\/)[^\\/?#]*/i;

export interface EventRedactor extends Redactor {
  learn(event: Event): void;
}

/**
 * Redacts the secrets in the callback URLs of events, since anyone who knows such a URL can send callbacks (threats, row 25): every path
 * segment and query value that is neither a common word nor an id of the event; short ones only in URLs. What a probe adds after its token
 * is public. In bounded memory, and in linear time, since every call has a token.
 */
export function callbackRedactor(events: Iterable<Event> = []): EventRedactor {
  const words = new UrlSecrets();
  const endings = new ProbeEndings();
  const redactor: EventRedactor = {
    add: secret => words.add(secret),
    text: text => words.replaceIn(text),
    learn(event) {
      const { urls, known } = namedIn(event);
      const ending = endings.of(event);
      for (const url of urls)
        for (const word of possibleSecretsIn(url))
          if (!known.includes(word) && !ending.includes(decoded(word))) words.add(word);
    },
  };
  for (const event of events) redactor.learn(event);
  return redactor;
}

/** As {@link callbackRedactor}, for these URLs. @param known public words, such as ids in a path */
export function urlRedactor(urls: Iterable<string>, known: readonly string[] = []): Redactor {
  const redactor = callbackRedactor();
  for (const url of urls)
    for (const word of possibleSecretsIn(url)) if (!known.includes(word)) redactor.add(word);
  return redactor;
}

/**
 * Redacts also what may be a token in a `response_url`, since anyone who knows it can answer for the user. Tools choose these URLs, so
 * only long words count, and names of JSON members are not changed.
 */
export function questionRedactor(redactor: Redactor): EventRedactor {
  const words = new UrlSecrets();
  return {
    add: secret => redactor.add(secret),
    text: text => words.replaceIn(redactor.text(text)),
    name: text => redactor.name?.(text) ?? redactor.text(text),
    learn(event) {
      for (const secret of questionSecrets(event)) words.add(secret);
    },
  };
}

/**
 * Finds the secrets in other programs' messages (threats, row 25): callback URLs in anything that looks like an invocation, and the
 * addresses of questions.
 * @param credentials other secrets
 */
export function wireSecrets(credentials: Redactor): EventRedactor {
  const callbacks = callbackRedactor();
  const questions = questionRedactor({
    add: secret => credentials.add(secret),
    text: text => callbacks.text(credentials.text(text)),
  });
  return {
    ...questions,
    learn(event) {
      callbacks.learn(event);
      questions.learn(event);
      if (event.kind === 'request' && event.purpose === 'invocation') learnUrls(callbacks, event);
    },
  };
}

const CALLBACK_URL = /callback_url\W{1,12}(https?:[^\s"'<>\\]{1,4096})/gi;

/** An invocation may be invalid JSON, or have several callback URLs: anything that looks like one is secret. */
function learnUrls(callbacks: EventRedactor, { body, ...event }: RequestEvent): void {
  const text = body ? Buffer.from(body.bytes).toString('utf8').replaceAll('\\/', '/') : '';
  for (const [, url = ''] of text.matchAll(CALLBACK_URL))
    callbacks.learn({ ...event, purpose: 'callback', url });
}

/** The message of a callback request, if it has this type. */
function messageOf(event: Event, type: CallbackType): Readonly<Record<string, unknown>> | null {
  if (event.kind !== 'request' || event.purpose !== 'callback' || !event.body?.json.ok) return null;
  const { value } = event.body.json;
  return isRecord(value) && value['type'] === type ? value : null;
}

/** The tokens in a question's `response_url`, without ids of the event and names of the protocol. */
function questionSecrets(event: Event): string[] {
  const { response_url: url, id, group_id } = messageOf(event, 'user_choice') ?? {};
  const ids = [...(event.calls ?? []), event.thread, id, group_id].map(String);
  const tokens =
    typeof url === 'string' ? possibleSecretsIn(url).flatMap(word => word.match(TOKEN) ?? []) : [];
  return tokens.filter(token => !NAME.test(token) && !ids.some(each => each.includes(token)));
}

/** Parameters of an authorization request that are no secrets (RFC 6749, section 4.1.1). */
const PUBLIC_PARAMETERS: ReadonlySet<string> = new Set([
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
]);

/** The secrets in the query of an `auth_url`: only the user may see them (RT-OAUTH). */
export function consentSecrets(event: Event): readonly string[] {
  const url = stringOrJson(messageOf(event, 'oauth')?.['auth_url'] ?? '');
  const parameters = URL.canParse(url) ? [...new URL(url).searchParams] : [];
  return parameters.flatMap(([name, value]) =>
    PUBLIC_PARAMETERS.has(name) ? [] : (value.match(TOKEN) ?? []),
  );
}

/** What the callback URLs of probes have after their token, decoded, by call: the same in every check, and the evidence for TOOL-OPAQUE. */
class ProbeEndings {
  readonly #byCall = new RecentMap<string, string>(LIMITS.callsRemembered.value);

  /** Returns the ending of the event's call; empty for a call that no probe made. */
  of(event: Event): string {
    const [key] = event.calls ?? [];
    if (key === undefined) return '';
    if (event.kind === 'planned' && event.by === 'probe') this.#byCall.set(key, '');
    if (this.#byCall.get(key) === '' && event.kind === 'request' && event.purpose === 'invocation') {
      const json = event.body?.peekJson();
      const url = json?.ok && isRecord(json.value) ? json.value['callback_url'] : null;
      if (typeof url === 'string') this.#byCall.set(key, decoded(callbackEnding(url) ?? ''));
    }
    return this.#byCall.get(key) ?? '';
  }
}

/** Long words are redacted anywhere, short ones in URLs. Each event adds its own again. */
class UrlSecrets {
  readonly #long = new SecretFinder({ remembered: LIMITS.callsRemembered.value, wholeBelow: MAX_COMPARED });
  readonly #short = new RecentMap<string, true>(LIMITS.callsRemembered.value);
  #isEmpty = true;

  add(word: string): void {
    this.#isEmpty = false;
    const plain = word.slice(0, MAX_COMPARED).replace(/^\/+/, ''); // a slash at the start could be half of an escape
    if (plain.length >= SHORTEST) this.#long.add(plain);
    else for (const form of urlForms(plain)) this.#short.set(form, true);
  }

  replaceIn(text: string): string {
    if (this.#isEmpty) return text;
    const rest = text.replace(URLS, url => this.#replaceShort(url));
    return redactSpans(rest, this.#long.find(rest));
  }

  #replaceShort(url: string): string {
    const [host = ''] = HOST.exec(url) ?? [];
    const rest = url.slice(host.length);
    return host + rest.replace(/[^/\\?&=#]+/g, part => (this.#short.get(part) ? REDACTED : part));
  }
}

/** The forms of a short word in a URL. */
function urlForms(word: string): readonly string[] {
  const percent = encodeURIComponent(word.toWellFormed());
  return [word, percent, percent.replace(/%[\dA-F]{2}/g, code => code.toLowerCase())];
}

/** Secret URLs and public ids of an event; a path may contain the id of the call. */
function namedIn(event: Event): { readonly urls: readonly string[]; readonly known: readonly unknown[] } {
  if (event.kind !== 'request') return { urls: [], known: [] };
  const json = event.body?.peekJson();
  const fields = json?.ok && isRecord(json.value) ? json.value : {};
  const urls = [
    ...(event.purpose === 'callback' ? [event.url] : []),
    ...URL_FIELDS.map(name => fields[name]),
  ];
  return {
    urls: urls.filter(url => typeof url === 'string'),
    known: [...(event.calls ?? []), event.thread, ...ID_FIELDS.map(name => fields[name])],
  };
}

/** The words of a URL's path, query and fragment, both encoded and decoded. The host is public. */
function possibleSecretsIn(url: string): string[] {
  const [path = '', query = ''] = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/\?(.*)/s);
  const values = query.split(/[&#]/).map(each => each.slice(each.indexOf('=') + 1));
  const written = [...path.split(/[/#]/), ...values, ...values.flatMap(value => value.split('/'))];
  return [...new Set(written.flatMap(word => [word, decoded(word)]).flatMap(splitAtDelimiters))];
}

/** Splits at characters that could end a text or an escape. */
function splitAtDelimiters(word: string): string[] {
  const words = word.split(/["'<>\\\s\p{Cc}]+/u);
  const bare = words.map(each => each.replace(/[.=]+$/, ''));
  return [...words, ...bare, ...(word.match(TOKEN) ?? [])].filter(each => each !== '' && !isPublic(each));
}

function isPublic(word: string): boolean {
  return COMMON.test(word) || PROTOCOL_WORDS.has(word);
}

function decoded(text: string): string {
  return text.replace(/(?:%[\da-f]{2})+/gi, bytes =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
  );
}
