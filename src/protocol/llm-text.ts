import { bytesText } from '../text/bytes-text.js';
import type { ContentItem, ToolResult } from './callbacks/index.js';

/**
 * What the LLM gets: `text`, unchanged (RT-TEXT). A message with `content` follows the later text of the protocol:
 * its items, joined by a line feed in a text view, each image as a placeholder. An empty `content` counts as absent.
 */
export function llmText({ text, content }: ToolResult): string {
  return !content?.length ? (text ?? '') : content.map(itemText).join('\n');
}

/** An item in a text view: an image is a placeholder. */
export function itemText(item: ContentItem): string {
  if (item.type === 'text') return item.text;
  return `[image: ${item.mediaType}, ${bytesText(Buffer.byteLength(item.data, 'base64'))}]`;
}
