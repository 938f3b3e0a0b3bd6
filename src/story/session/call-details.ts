import { acknowledgedAfter, type Exchange } from '../../exchange/exchange.js';
import { compactJson } from '../../text/compact-json.js';
import { formatDuration } from '../../text/format-duration.js';
import { createRedactor } from '../../text/redact.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import { jsonLines } from '../tool-calls/details/body-lines.js';
import { labelled } from '../tool-calls/details/labelled.js';
import { elapsed } from '../tool-calls/index.js';
import { callStanding } from './call-state.js';
import { givenOf } from './given.js';
import type { KnownCall } from './known.js';
import { outcomeWords } from './words.js';

/** Neither leg has secrets in its bodies. */
const NO_SECRETS = createRedactor();

/** How a call of a session was asked, and how it stands on its legs. @param now ms since the start */
export function callHead(known: KnownCall, now: number): Line[] {
  const { session, call, exchange } = known;
  const given = givenOf(known);
  return [
    [...clipped(call.tool, 'title'), say(' '), ...clipped(call.key)],
    labelled('session', ...clipped(session.id)),
    ...(call.id === null ? [labelled('id', say('null: told by its tool and arguments', 'dim'))] : []),
    labelled('asked', say(`at ${elapsed(call.askedAt)} in round ${call.round + 1}`)),
    ...(exchange ? [labelled('invoked', ...invoked(exchange))] : []),
    ...(given ? [labelled('outcome', ...outcomeWords(given.outcome))] : []),
    labelled('state', ...callStanding(known, now).line),
    ...(call.answer?.unexpected ?? []).map(words =>
      labelled('expected', say('✗ ', 'bad'), ...clipped(words, 'bad')),
    ),
    ...call.warnings.map(words => labelled('warning', ...clipped(words, 'warn'))),
    ...(call.posts > 1 ? [labelled('posted', say(`${call.posts} times`))] : []),
  ];
}

/** Its arguments, and what the model gets. Depends on nothing but the call. */
export function callBodies(known: KnownCall): Line[] {
  const given = givenOf(known);
  return [
    [],
    [say('ARGUMENTS', 'title')],
    ...jsonLines(compactJson(known.call.args) ?? 'none', NO_SECRETS),
    ...(given ? [[], [say('LLM', 'title')], ...jsonLines(given.text ?? '(not remembered)', NO_SECRETS)] : []),
  ];
}

function invoked(exchange: Exchange): Line {
  const after = acknowledgedAfter(exchange);
  const [first] = exchange.attempts;
  if (!first) return [say('not sent', 'warn')];
  const at = say(`at ${elapsed(first.sentAt)}`);
  return after === null ? [at] : [at, say(`, acknowledged after ${formatDuration(after)}`, 'dim')];
}
