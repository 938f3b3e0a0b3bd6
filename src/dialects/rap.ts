import { type ContentItem, type ToolResult, toolResultSchema } from '../protocol/callbacks.js';
import { llmText, outcomeOfText, textOfOutcome } from '../protocol/outcome.js';
import { valueAt } from '../util/values.js';
import {
  type Answer,
  type Block,
  type Dialect,
  type Feature,
  fromBlocks,
  imagesOf,
  otherFields,
  outcomeSentence,
  type Reading,
  unsupported,
  validateNative,
  type WriteWarning,
  type Writing,
  withResourceTexts,
} from './dialect.js';

const TITLE = 'a tool_result of RAP';

const SUPPORTED: ReadonlySet<Feature> = new Set([
  ...(['success', 'error', 'canceled', 'timeout', 'denied'] as const),
  ...(['images', 'display', 'subscription', 'id', 'thread', 'secondary id'] as const),
]);

const FIELDS = Object.keys(toolResultSchema.shape);

const ITEM_FIELDS = { text: ['type', 'text'], image: ['type', 'data', 'mediaType'] };

/** RAP has no type for an outcome: the text expresses it, by convention (seed 000, TOOL-ERRPREFIX). */
export const rapDialect: Dialect = { name: 'rap', title: TITLE, read, write };

function read(native: unknown): Reading {
  const validation = validateNative(toolResultSchema, native);
  if (!validation.ok) return validation;
  const result = validation.value;
  const { group_id: thread, id, call_id, text, content } = result;
  const gathered = fromBlocks(content?.map(blockOf) ?? [{ kind: 'text', text: text ?? '' }]);
  const payload = gathered.text ?? '';
  const hasOtherText = content !== undefined && text !== undefined && text !== payload;
  const answer: Answer = {
    call: { id, thread, ...(typeof call_id === 'string' && { secondaryId: call_id }) },
    outcome: outcomeOfText(payload),
    payload,
    beside: { ...gathered.beside, ...besideText(result, native, hasOtherText) },
  };
  const notes = hasOtherText ? ['text is not what content says; content counts'] : [];
  return { ok: true, dialect: 'rap', native, answer, text: llmText(result), notes };
}

function blockOf(item: ContentItem): Block {
  if (item.type === 'text') return { kind: 'text', text: item.text };
  return { kind: 'image', image: { data: item.data, mediaType: item.mediaType } };
}

/** Segments and items are kept as received: they may have fields that the schema does not have. */
function besideText(
  { subscription, text }: ToolResult,
  native: unknown,
  hasOtherText: boolean,
): Answer['beside'] {
  const display = valueAt(native, 'display_as');
  return {
    ...(display !== undefined && { display }),
    ...(subscription === true && { subscription }),
    ...otherFields(native, FIELDS, ITEM_FIELDS, hasOtherText ? { text } : {}),
  };
}

function write(given: Answer): Writing {
  const answer = withResourceTexts(given);
  const { call, outcome, beside = {} } = answer;
  const { display, subscription } = beside;
  const sentence = outcomeSentence(answer);
  const text = outcome.type === 'success' ? sentence : (textOfOutcome(outcome) ?? `Error: ${sentence}`);
  const images = imagesOf(answer).map(({ data, mediaType }) => ({ type: 'image', data, mediaType }));
  const content = text === '' ? images : [{ type: 'text', text }, ...images];
  const body = {
    type: 'tool_result',
    group_id: call.thread ?? '',
    id: call.id ?? '',
    ...(call.secondaryId !== undefined && { call_id: call.secondaryId }),
    text,
    ...(images.length > 0 && { content }),
    ...(display !== undefined && { display_as: display }),
    ...(subscription !== undefined && { subscription }),
  };
  return { body, warnings: [...unsupported(TITLE, SUPPORTED, answer), ...misread(answer, text)] };
}

/** Warns if a text follows a convention by chance, or is too long for one. */
function misread({ outcome: { type: feature } }: Answer, text: string): WriteWarning[] {
  const { type } = outcomeOfText(text);
  if (type === feature || !SUPPORTED.has(feature)) return [];
  return [{ feature, message: `${TITLE} cannot carry this ${feature}: its text is read as ${type}` }];
}
