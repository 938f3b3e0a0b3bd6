import { bytesText } from '../../text/bytes-text.js';
import { cut } from '../../text/cut.js';
import { excerpt } from '../../text/excerpt.js';
import { foreignWords } from '../../text/foreign-words.js';
import { isRecord } from '../../text/is-record.js';
import { type Block, imagePlaceholder } from '../content.js';

/** A content block of MCP that a schema has seen: its type, and what comes with that. */
export type ContentBlock = Readonly<Record<string, unknown>> & { readonly type: string };

export function blockOf(block: ContentBlock): Block {
  const { type, text, data, mimeType: mediaType } = block;
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text };
  const isImage = type === 'image' && typeof data === 'string' && typeof mediaType === 'string';
  return isImage ? { kind: 'image', image: { data, mediaType } } : { kind: 'other', block };
}

/** The text of a block for the LLM: an embedded resource is its text, anything else that is not text is a line in brackets. */
export function blockText(block: ContentBlock): string {
  const known = blockOf(block);
  if (known.kind === 'text') return known.text;
  if (known.kind === 'image') return imagePlaceholder(known.image);
  const { text } = resourceIn(block);
  return typeof text === 'string' ? text : placeholder(block);
}

/** The text of a block for a person: an embedded resource begins with its URI. */
export function humanBlockText(block: ContentBlock): string {
  const text = blockText(block);
  return typeof resourceIn(block)['text'] === 'string' ? `${placeholder(block)}\n${text}` : text;
}

/** The contents of an embedded resource. */
function resourceIn({ type, resource }: ContentBlock): Readonly<Record<string, unknown>> {
  return type === 'resource' && isRecord(resource) ? resource : {};
}

function placeholder(block: ContentBlock): string {
  const about = block.type === 'resource' ? resourceIn(block) : block;
  const { uri, mimeType, blob } = about;
  const named = [uri, mimeType].filter(each => typeof each === 'string').map(excerptOf);
  const size = typeof blob === 'string' ? [bytesText(Buffer.byteLength(blob, 'base64'))] : [];
  return `[${[cut(block.type, 60), ...named, ...size].join(' ')}]`;
}

const excerptOf = (value: unknown) => excerpt(foreignWords(value));

/** What is known of texts and images, by type. */
export const KNOWN_OF_BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text'],
  image: ['type', 'data', 'mimeType'],
};
