import { bytesText } from '../text/bytes-text.js';
import { isRecord } from '../text/is-record.js';
import { otherFields } from './checked.js';
import type { Answer, Image } from './dialect.js';

/** One piece of what a model gets, where a wire hands it over in pieces. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: Image }
  /** Sound, a resource, what a later version has: as it is. */
  | { readonly kind: 'other'; readonly block: unknown };

/** Pieces as the one model has them: the texts joined by a line feed, the rest beside. */
export interface Gathered {
  /** Undefined where there is no text among them. */
  readonly text: string | undefined;
  readonly beside: NonNullable<Answer['beside']>;
}

export function gather(blocks: readonly Block[]): Gathered {
  const texts = blocks.flatMap(each => (each.kind === 'text' ? [each.text] : []));
  const images = blocks.flatMap(each => (each.kind === 'image' ? [each.image] : []));
  const others = blocks.flatMap(each => (each.kind === 'other' ? [each.block] : []));
  return {
    text: texts.length > 0 ? texts.join('\n') : undefined,
    beside: {
      ...(images.length > 0 && { images }),
      ...(others.length > 0 && { 'other content': others }),
      ...(!isPlain(blocks) && { 'order of content': orderOf(blocks) }),
    },
  };
}

/**
 * What pieces of content have beside what is known of them (annotations, alt …), by their place.
 * @param content as it came: a schema's copy has less
 * @param known by type; of a type that is not there nothing is asked
 */
export function extrasOf(
  content: unknown,
  known: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, unknown>> {
  const items: readonly unknown[] = Array.isArray(content) ? content : [];
  return Object.fromEntries(
    items.flatMap((item, index) => {
      const type = isRecord(item) ? item['type'] : undefined;
      const isKnown = typeof type === 'string' && Object.hasOwn(known, type);
      const others = isKnown ? otherFields(item, known[type] ?? []) : undefined;
      return others ? [[`content[${index}]`, others]] : [];
    }),
  );
}

/** The images of an answer. */
export function imagesOf({ beside = {} }: Answer): readonly Image[] {
  const { images } = beside;
  return Array.isArray(images) ? images.filter(isImage) : [];
}

/** What a person sees of an image in a text. */
export function imagePlaceholder({ data, mediaType }: Image): string {
  return `[image: ${mediaType}, ${bytesText(Buffer.byteLength(data, 'base64'))}]`;
}

const RANK = { text: 0, image: 1, other: 2 };
const MOST_NAMED = 20;

/** Whether they come out the same when they are written again: one text, then images, then others. */
function isPlain(blocks: readonly Block[]): boolean {
  const ranks = blocks.map(({ kind }) => RANK[kind]);
  return ranks.every((rank, index) => index === 0 || rank >= Math.max(1, ranks[index - 1] ?? 0));
}

function orderOf(blocks: readonly Block[]): string {
  const kinds = blocks.slice(0, MOST_NAMED).map(({ kind }) => kind);
  return kinds.join(', ') + (blocks.length > MOST_NAMED ? ' …' : '');
}

function isImage(value: unknown): value is Image {
  return typeof value === 'object' && value !== null && 'data' in value && 'mediaType' in value;
}
