import { cut } from '../../text/cut.js';
import { excerpt } from '../../text/excerpt.js';
import { foreignWords } from '../../text/foreign-words.js';
import { type Block, imagePlaceholder } from '../content.js';

/** A content block of MCP that a schema has seen: its type, and what comes with that. */
export type ContentBlock = Readonly<Record<string, unknown>> & { readonly type: string };

export function blockOf(block: ContentBlock): Block {
  const { type, text, data, mimeType: mediaType } = block;
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text };
  const isImage = type === 'image' && typeof data === 'string' && typeof mediaType === 'string';
  return isImage ? { kind: 'image', image: { data, mediaType } } : { kind: 'other', block };
}

/** A block as one text that stands for it. */
export function blockText(block: ContentBlock): string {
  const known = blockOf(block);
  if (known.kind === 'text') return known.text;
  if (known.kind === 'image') return imagePlaceholder(known.image);
  const name = [block['uri'], block['mimeType']].filter(each => typeof each === 'string').map(excerptOf);
  return `[${[cut(block.type, 60), ...name].join(' ')}]`;
}

const excerptOf = (value: unknown) => excerpt(foreignWords(value));

/** What is known of texts and images, by type. */
export const KNOWN_OF_BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text'],
  image: ['type', 'data', 'mimeType'],
};
