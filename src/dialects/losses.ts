import { compactJson } from '../text/compact-json.js';
import { excerpt } from '../text/excerpt.js';
import type { Answer, Dialect, Feature, Loss } from './dialect.js';
import { featuresOf, hasPayload, PAYLOAD_FEATURES } from './features.js';

type Wire = Pick<Dialect, 'title' | 'carries'>;

/** What a wire cannot carry of an answer, by its table; with an unknown outcome its payload is lost, too. */
export function lossesOf(wire: Wire, answer: Answer): Loss[] {
  return [...featuresOf(answer)]
    .filter(([feature]) => isLost(wire, answer, feature))
    .map(([feature, value]) => lossOf(wire, feature, value));
}

/** One that the table does not tell: this answer has what the wire would take for something else. */
export function lossOf({ title }: Pick<Wire, 'title'>, feature: Feature, value: unknown): Loss {
  return { feature, message: `${title} cannot carry ${WORDS[feature](value)}` };
}

function isLost({ carries }: Wire, { outcome }: Answer, feature: Feature): boolean {
  const goesWithOutcome = PAYLOAD_FEATURES.includes(feature) && hasPayload(outcome);
  return carries[feature] === 'lost' || (goesWithOutcome && carries[outcome.type] === 'lost');
}

/** What is lost, in words that go on from "… cannot carry". */
const WORDS: Readonly<Record<Feature, (value: unknown) => string>> = {
  success: () => 'the success',
  error: message => `the error ${quoted(message)}`,
  canceled: () => 'that the call was canceled: it is told as an error',
  timeout: () => 'that the time ran out: it is told as an error',
  denied: () => 'that the call was denied: it is told as an error',
  unknown: raw => `the outcome ${quoted(first(raw))}: it is told as an error`,
  'error code': code => `the error's code ${quoted(code)}`,
  'error type': type => `the error's type ${quoted(type)}`,
  'error origin': origin => `the error's origin ${quoted(origin)}`,
  text: text => `the text ${quoted(text)}`,
  JSON: () => 'a payload that is JSON: it is written as a text',
  'no payload': () => 'that there is no payload',
  images: images => `${count(images, 'image')}`,
  'other content': blocks => `${count(blocks, 'content block')} of another kind than text and image`,
  'order of content': () =>
    'the order and the bounds of its content blocks: texts are joined and stand first',
  'structured content': () => 'structured content',
  meta: () => 'metadata (_meta)',
  display: segments => `what people see (display_as, ${count(segments, 'segment')})`,
  subscription: () => 'that events will follow (subscription)',
  id: id => `the id ${quoted(id)}`,
  tool: tool => `the tool's name ${quoted(tool)}`,
  arguments: () => 'the arguments',
  'other request fields': () => 'other fields of the call',
  thread: thread => `the thread ${quoted(thread)}`,
  'secondary id': id => `the call_id ${quoted(id)}`,
  'other fields': fields => `fields that are not known here: ${keys(fields)}`,
};

const MOST_KEYS = 5;

function quoted(value: unknown): string {
  return excerpt(typeof value === 'string' ? value : (compactJson(value) ?? 'no JSON'));
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}

function count(value: unknown, noun: string): string {
  const number = Array.isArray(value) ? value.length : 1;
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function keys(value: unknown): string {
  const names = Object.keys(typeof value === 'object' && value !== null ? value : {});
  const rest = names.length - MOST_KEYS;
  const told = names.slice(0, MOST_KEYS).map(excerpt).join(', ');
  return rest > 0 ? `${told} and ${rest} more` : told;
}
