import { parsePatch } from '../../display/diff.js';
import { type Exchange, llmTextOf } from '../../events/exchange.js';
import { type Line, quote, say } from '../../render/line.js';
import { patchOf } from '../../util/patch-of.js';
import type { Redactor } from '../../util/redact.js';
import { formatDuration } from '../../util/text.js';
import { onePart, type Sheet, type SheetLook } from '../calls/tabs.js';
import { diffDocument } from '../document/documents.js';

/** A call and the redactor that knows its secrets. */
export interface Compared {
  readonly exchange: Exchange;
  readonly redactor: Redactor;
}

/** Longer texts are cut: a diff of them would take too long. */
const MOST = 200_000;

function textOf({ exchange, redactor }: Compared): string {
  const { invocation, attempts, settled } = exchange;
  const after = settled ? formatDuration(settled.at - (attempts[0]?.sentAt ?? settled.at)) : 'pending';
  const text = [
    `operation: ${invocation.operation}`,
    `arguments: ${JSON.stringify(invocation.arguments, null, 2)}`,
    `result after: ${after}`,
    'text for the LLM:',
    llmTextOf(exchange) ?? '(none)',
  ].join('\n');
  return `${redactor.text(text).slice(0, MOST).toWellFormed()}\n`;
}

/** A diff of two calls: operation, arguments, time until the result, text for the LLM. */
export function comparedSheet(one: Compared, other: Compared, look: SheetLook): Sheet {
  const ids = `${one.exchange.invocation.id} → ${other.exchange.invocation.id}`;
  const title: Line = [say('COMPARE ', 'title'), ...quote(ids, 'dim')];
  const [before, after] = [textOf(one), textOf(other)];
  if (before === after) return onePart(title, [[say('✓ ', 'good'), say('no difference')]]);
  const parsed = parsePatch(patchOf('call', before, after));
  if (!parsed.ok) return onePart(title, [quote(parsed.reason, 'bad')]);
  const document = diffDocument(parsed.diff, { ...look, highlighter: null });
  return { parts: [{ title, document, pane: null }] };
}
