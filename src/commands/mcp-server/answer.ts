import type { CallToolResult } from '@modelcontextprotocol/server';
import { type Trouble, troubleText } from '../../render/outputs/trouble.js';
import { LIMITS } from '../../util/limits.js';
import { truncate } from '../../util/text.js';
import { isRecord } from '../../util/values.js';

/** Characters of the text of an answer; a model reads all of it. */
const MAX_TEXT = 20_000;

const CUT =
  'Long texts and lists are cut here; the command line has all of them (protocol-cli <command> --help).';

/** The answer to a call that worked: data, and the same as a text for people. */
export function answerOf(data: Readonly<Record<string, unknown>>, text: string): CallToolResult {
  const content = contentOf(data);
  if (!content)
    return failureOf({
      code: 'usage',
      message: 'the result is too large for an answer',
      hint: 'Ask for less, or use the command line.',
    });
  const isCut = content !== data || text.length > MAX_TEXT;
  return {
    content: [{ type: 'text', text: truncate(text, MAX_TEXT) + (isCut ? `\n${CUT}\n` : '') }],
    structuredContent: { ...content },
  };
}

/** The answer to a call that failed. */
export function failureOf(trouble: Trouble): CallToolResult {
  return failureWith(troubleText(trouble));
}

/** @param text says why it failed @param data what is known nevertheless */
export function failureWith(text: string, data?: Readonly<Record<string, unknown>>): CallToolResult {
  const content = data && contentOf(data);
  return {
    content: [{ type: 'text', text: truncate(text.trim(), MAX_TEXT) }],
    ...(content && { structuredContent: { ...content } }),
    isError: true,
  };
}

/** Length of texts and lists, in characters and items, from the longest. */
const LENGTHS = [16_384, 4_096, 1_024, 256, 64];

/** Cuts long texts and lists, as much as needed; null if that is not enough. */
export function contentOf(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | null {
  const fits = (value: unknown) => JSON.stringify(value).length <= LIMITS.agentAnswerChars.value;
  if (fits(data)) return data;
  for (const most of LENGTHS) {
    const cut = cutTo(most, data);
    if (isRecord(cut) && fits(cut)) return cut;
  }
  return null;
}

function cutTo(most: number, value: unknown): unknown {
  if (typeof value === 'string') return truncate(value, most);
  if (Array.isArray(value)) return value.slice(0, most).map(each => cutTo(most, each));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cutTo(most, member)]));
}
