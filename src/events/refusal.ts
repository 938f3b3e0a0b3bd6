import { isRecord } from '../util/values.js';
import type { ResponseEvent } from './events.js';

type Answer = Pick<ResponseEvent, 'status' | 'headers' | 'body'>;

/** Limits: messages of a body, depth of their members, and characters that are read of a body without JSON. */
const MAX = { messages: 5, depth: 6, text: 8 * 1024 };

/**
 * What an answer other than 200 says: where it redirects to, when to try again, or the messages in its body, with the field that each is about. Untrusted,
 * with secrets, and not cut.
 * @param url of the request
 */
export function refusalTexts({ status, headers, body }: Answer, url: string): readonly string[] {
  const location = headers['location'];
  if (status >= 300 && status < 400 && location !== undefined) return [redirectText(location, url)];
  const retryAfter = headers['retry-after'];
  const wait = status === 429 && retryAfter !== undefined ? [`Retry-After: ${retryAfter}`] : [];
  return [...wait, ...bodyTexts({ headers, body })];
}

function bodyTexts({ headers, body }: Pick<Answer, 'headers' | 'body'>): readonly string[] {
  const text = Buffer.from(body?.bytes ?? [])
    .toString('utf8')
    .trim();
  if (text === '') return [];
  if (body?.json.ok) {
    const found = [...new Set(messagesIn(body.json.value))].slice(0, MAX.messages);
    return found.length > 0 ? found : [text];
  }
  return [isPage(text, headers['content-type']) ? pageText(text.slice(0, MAX.text)) : text];
}

/** Names the slash at the end of the path, by which most frameworks redirect. A query may hold a secret. */
function redirectText(location: string, url: string): string {
  if (!URL.canParse(url) || !URL.canParse(location, url))
    return `it redirects to ${location.split('?', 1)[0]}`;
  const from = new URL(url);
  const to = new URL(location, url);
  const shown = (to.origin === from.origin ? '' : to.origin) + to.pathname + (to.search === '' ? '' : '?…');
  return `it redirects to ${shown}${differenceOf(from, to)}`;
}

function differenceOf(from: URL, to: URL): string {
  if (to.pathname === `${from.pathname}/`) return ', with a slash at the end';
  if (`${to.pathname}/` === from.pathname) return ', without the slash at the end';
  return '';
}

/** The members of an error that hold its message, and those that name its field: of FastAPI, Django, Spring, Fastify, ajv and RFC 9457. */
const MESSAGES = [
  'message',
  'msg',
  'detail',
  'error',
  'error_description',
  'title',
  'reason',
  'defaultMessage',
];
const LISTS = ['errors', 'details', 'violations', 'invalid_params', 'invalid-params'];
const FIELDS = [
  'loc',
  'field',
  'path',
  'pointer',
  'property',
  'propertyPath',
  'instancePath',
  'param',
  'name',
];

function messagesIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()];
  if (depth > MAX.depth) return [];
  if (Array.isArray(value)) return value.slice(0, MAX.messages).flatMap(each => messagesIn(each, depth + 1));
  if (!isRecord(value)) return [];
  const own = MESSAGES.flatMap(name => messagesIn(value[name], depth + 1));
  const field = FIELDS.map(name => fieldText(value[name])).find(text => text !== '');
  return [
    ...own.map(text => (field === undefined ? text : `${field}: ${text}`)),
    ...LISTS.flatMap(name => messagesOfFields(value[name], depth + 1)),
  ];
}

/** A list of errors, or an object that has them by field. */
function messagesOfFields(value: unknown, depth: number): readonly string[] {
  if (!isRecord(value) || MESSAGES.some(name => name in value)) return messagesIn(value, depth);
  return Object.entries(value)
    .slice(0, MAX.messages)
    .flatMap(([name, each]) => messagesIn(each, depth).map(text => `${name}: ${text}`));
}

/** `body.arguments.text` */
function fieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter(each => /^(?:string|number)$/.test(typeof each)).join('.') : '';
}

function isPage(text: string, type = ''): boolean {
  return /^text\/html\b/i.test(type) || /^<(?:!doctype|html)\b/i.test(text);
}

/** The text of a web page without its markup. */
function pageText(page: string): string {
  const body = page.replace(/<!--.*?-->/gs, ' ').replace(/<(head|style|script)\b.*?<\/\1\s*>/gis, ' ');
  const text = (part: string) =>
    part
      .replace(/<[^>]*>/g, ' ')
      .replace(/&(?:nbsp|#160);/g, ' ')
      .replace(/\s+/g, ' ')
      .trim();
  return text(body) || text(page);
}
