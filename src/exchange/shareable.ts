import type { Callback } from '../protocol/callbacks/index.js';
import { foreignWords } from '../text/foreign-words.js';
import { isRecord } from '../text/is-record.js';
import { decodeUtf8 } from '../text/json.js';
import { bareUrl, type Redactor, tokenlessUrl } from '../text/redact.js';
import { redactJson } from '../text/redact-json.js';
import type { Content } from './content.js';
import type { Event, RequestEvent } from './events.js';
import type { Arrival } from './exchange.js';

/**
 * A body as it may leave the machine: secrets out, an `auth_url` without its query, a `response_url` without its token (threats,
 * row 25). Null where it is no text.
 */
export function shareableText(content: Content, redactor: Redactor): string | null {
  const text = decodeUtf8(content.bytes);
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

/** Where a request went, as it may leave the machine: whoever has the address of a question can answer it. */
export function shareableUrl({ purpose, url }: RequestEvent, redactor: Redactor): string {
  if (purpose === 'choice') return redactor.text(tokenlessUrl(url));
  return purpose === 'callback' && url.startsWith('/') ? shareableTarget(url, redactor) : redactor.text(url);
}

/** A request line has no origin, and what is secret in it is what is secret in the whole address, which a body names. */
function shareableTarget(target: string, redactor: Redactor): string {
  return redactor.text(SOMEWHERE + target).slice(SOMEWHERE.length);
}

const SOMEWHERE = 'http://callback.invalid';

/** How an agent session stands, as it may leave the machine: its foreign JSON may repeat what it was told. */
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
  return shareable === value ? text : JSON.stringify(shareable);
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

/** The same in a text that is no JSON, or is a part of one: of URLs after such a name, what comes after the path. */
export function withoutPowerInText(text: string): string {
  return text.replace(POWERFUL_IN_TEXT, '$1');
}

const POWERFUL_IN_TEXT = /((?:auth_url|response_url)\W{1,12}\w{1,20}:[^\s"'<>?#]{0,2000})[?#][^\s"'<>]*/gi;
