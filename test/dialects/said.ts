import { isDeepStrictEqual } from 'node:util';
import type { Answer, DialectName, Feature } from '../../src/dialects/dialect.js';
import { featuresOf } from '../../src/dialects/losses.js';
import { sent } from './survival.js';

type Fields = Readonly<Record<string, unknown>>;
type Said = ReadonlyMap<Feature, unknown>;

/**
 * What a sound message says, told from the message alone, by none of our code: whatever of it no reading has was dropped in silence.
 * Of other fields, those that must be among them.
 */
export function saidBy(name: DialectName, native: object): Said {
  const said = Object.entries(SAID[name](fieldsOf(native))).filter(([, value]) => value !== undefined);
  return new Map(said) as Said;
}

/** Those that are not in what was read. */
export function droppedFrom(answer: Answer, said: Said): [Feature, unknown][] {
  const has = featuresOf(answer);
  return [...said].filter(([feature, value]) => !isAmong(has.get(feature), value, feature));
}

const SAID: Readonly<Record<DialectName, (message: Fields) => Readonly<Partial<Record<Feature, unknown>>>>> =
  {
    rap: message => ({
      id: message['id'],
      thread: message['group_id'],
      'secondary id': message['call_id'] ?? undefined,
      display: message['display_as'],
      subscription: message['subscription'] === true ? true : undefined,
      images: imagesIn(message, 'mediaType'),
      'other fields': unknownIn(
        message,
        ['type', 'group_id', 'id', 'call_id', 'text', 'content', 'display_as', 'subscription'],
        { text: ['type', 'text'], image: ['type', 'data', 'mediaType'] },
      ),
    }),
    session: message => {
      const request = fieldsOf(message['tool_req']);
      const others = Object.entries(request).filter(([key]) => !['tool_name', 'args', 'id'].includes(key));
      const own = message['kind'] === 'error_event' ? ['error', 'origin'] : ['result'];
      return {
        id: request['id'] ?? undefined,
        tool: request['tool_name'],
        arguments: request['args'],
        'other request fields': others.length > 0 ? others : undefined,
        'other fields': unknownIn(message, ['kind', 'tool_req', ...own]),
      };
    },
    lmkit: message => ({
      id: message['ToolCallId'] ?? undefined,
      tool: message['ToolName'] ?? undefined,
      'other fields': unknownIn(message, ['Type', 'ResultJson', 'ToolCallId', 'ToolName']),
    }),
    mcp: message => ({
      meta: message['_meta'],
      images: imagesIn(message, 'mimeType'),
      'other content': some(itemsOf(message).filter(({ type }) => type !== 'text' && type !== 'image')),
      'other fields': unknownIn(message, ['content', 'isError', 'structuredContent', '_meta'], {
        text: ['type', 'text'],
        image: ['type', 'data', 'mimeType'],
      }),
    }),
  };

function unknownIn(
  message: Fields,
  known: readonly string[],
  ofItems: Readonly<Record<string, readonly string[]>> = {},
): Fields | undefined {
  const inItems = itemsOf(message).map((item, index): [string, Fields] => {
    const knownOf = ofItems[String(item['type'])] ?? Object.keys(item);
    return [`content[${index}]`, without(item, knownOf)];
  });
  const all = [
    ...Object.entries(without(message, known)),
    ...inItems.filter(([, fields]) => Object.keys(fields).length > 0),
  ];
  return all.length > 0 ? Object.fromEntries(all) : undefined;
}

function imagesIn(message: Fields, typeKey: string): unknown {
  const images = itemsOf(message).filter(({ type }) => type === 'image');
  return some(images.map(image => ({ data: image['data'], mediaType: image[typeKey] })));
}

function itemsOf({ content }: Fields): Fields[] {
  return Array.isArray(content) ? content.map(fieldsOf) : [];
}

function without(fields: Fields, known: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !known.includes(key)));
}

function isAmong(there: unknown, value: unknown, feature: Feature): boolean {
  if (there === undefined) return false;
  if (feature !== 'other fields') return isDeepStrictEqual(sent(there), sent(value));
  const fields = new Map(Object.entries(fieldsOf(there)));
  return Object.entries(fieldsOf(value)).every(([key, each]) => isDeepStrictEqual(fields.get(key), each));
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

const some = <T>(all: readonly T[]) => (all.length > 0 ? all : undefined);
