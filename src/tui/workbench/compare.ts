import type { CallLog } from '../../events/call-log.js';
import { type Exchange, llmTextOf } from '../../events/exchange.js';
import { quote, say } from '../../render/line.js';
import { parsePatch } from '../../segments/diff.js';
import { Memo } from '../../util/collections.js';
import { patchOf } from '../../util/patch-of.js';
import type { Redactor } from '../../util/redact.js';
import { formatDuration } from '../../util/text.js';
import { onePart, panePart, type Sheet } from '../reading/parts.js';
import type { MadeCall } from './made-call.js';
import type { Source } from './model.js';

/** A call and the redactor for its secrets. */
export interface Compared {
  readonly exchange: Exchange;
  readonly redactor: Redactor;
}

const COMPARE_HELP = onePart(
  [say('COMPARE', 'title')],
  [
    [say('There is no earlier call of this operation.', 'dim')],
    [say('= marks this call; select another one and press = to compare them', 'dim')],
  ],
);

/** Maximum length of a compared text, in characters: a diff of longer ones would take too long. */
const MAX_COMPARED = 200_000;

/** Compares a call with the marked one, else with the previous call of the same operation. */
export function compareWith(
  { key, redactor }: Pick<MadeCall, 'key' | 'redactor'>,
  { callLog }: Pick<Source, 'callLog'>,
  marked: () => Compared | null,
): () => Sheet {
  const compared = new Memo<Sheet>();
  return () => {
    const exchange = callLog.history.exchanges.get(key);
    const mark = marked();
    if (!exchange) return COMPARE_HELP;
    const previous = previousCall(exchange, callLog);
    const one = mark && mark.exchange.key !== key ? mark : previous && { exchange: previous, redactor };
    if (!one) return COMPARE_HELP;
    return compared.of([one.exchange, exchange], () => comparedSheet(one, { exchange, redactor }));
  };
}

function previousCall({ key, invocation }: Exchange, { keys, history }: CallLog): Exchange | undefined {
  const before = keys.slice(0, keys.indexOf(key)).map(each => history.exchanges.get(each));
  return before.findLast(each => each?.invocation.operation === invocation.operation);
}

/** A diff of two calls: operation, arguments, time until the result, text for the LLM. */
function comparedSheet(one: Compared, other: Compared): Sheet {
  const about = `${one.exchange.invocation.id} → ${other.exchange.invocation.id}`;
  const areSame = llmTextOf(one.exchange) === llmTextOf(other.exchange);
  const title = [
    say('COMPARE ', 'title'),
    ...quote(about, 'dim'),
    say(areSame ? ' · same text' : '', 'good'),
  ];
  const [before, after] = [comparedText(one), comparedText(other)];
  if (before === after) return onePart(title, [[say('✓ ', 'good'), say('no difference')]]);
  const patch = patchOf('call', before, after);
  const parsed = parsePatch(patch);
  if (!parsed.ok) return onePart(title, [quote(parsed.reason, 'bad')]);
  const drawing = { kind: 'diff', path: 'call', raw: patch, diff: parsed.diff } as const;
  return [panePart({ title: 'view', about, notes: [], drawing }, title)];
}

function comparedText({ exchange, redactor }: Compared): string {
  const { invocation, attempts, settled } = exchange;
  const after = settled ? formatDuration(settled.at - (attempts[0]?.sentAt ?? settled.at)) : 'pending';
  const text = [
    `operation: ${invocation.operation}`,
    `arguments: ${JSON.stringify(invocation.arguments, null, 2)}`,
    `result after: ${after}`,
    'text for the LLM:',
    llmTextOf(exchange) ?? '(none)',
  ].join('\n');
  return `${redactor.text(text).slice(0, MAX_COMPARED).toWellFormed()}\n`;
}
