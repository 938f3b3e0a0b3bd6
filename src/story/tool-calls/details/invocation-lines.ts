import type { ToolCall } from '../../../exchange/tool-call.js';
import { formatDuration } from '../../../text/format-duration.js';
import type { Redactor } from '../../../text/redact.js';
import type { Line, Span } from '../../line.js';
import { quote, say } from '../../spans.js';
import { answeredBy } from '../answered-by.js';
import { callName } from '../call-name.js';
import { clipped } from '../clip.js';
import { decidedBy, decidedLabel } from '../decision.js';
import { elapsed } from '../elapsed.js';
import { jsonLines } from './body-lines.js';
import { labelled, MOST, withoutPath } from './labelled.js';
import { waitLines } from './wait-lines.js';

/** What came, who answers it, and what there is to be warned of. */
export function invocationLines(call: ToolCall, secrets: Redactor): Line[] {
  const { invocation, addressee, warnings, decisions, plans } = call;
  const { call_id, user_id, thread_ancestors } = invocation ?? {};
  const ids: readonly (readonly [string, string | null | undefined])[] = [
    ['call_id', call_id],
    ['ancestors', thread_ancestors?.join(', ')],
    ['user', user_id],
    ['callback', addressee && withoutPath(addressee.callback_url)],
  ];
  return [
    callName(call),
    ...ids.flatMap(([label, value]) => (value ? [labelled(label, ...clipped(value, 'plain', MOST))] : [])),
    labelled('received', ...received(call)),
    labelled('answer', ...(answer(call).length > 0 ? answer(call) : [say('not decided yet', 'dim')])),
    ...waitLines(call, secrets),
    ...plans.map(plan => labelled('planned', ...quote(plan, 'warn'))),
    ...decisions.map(decision =>
      labelled(
        'decided',
        say(`${decision.what} `),
        ...clipped(decidedLabel(decision, call), 'title'),
        say(` ${decidedBy(decision)}`, 'dim'),
      ),
    ),
    ...warnings.map(warning => labelled('warning', ...clipped(secrets.text(warning), 'warn', MOST))),
    ...(invocation ? argumentLines(invocation.arguments, secrets) : []),
  ];
}

function argumentLines(args: Readonly<Record<string, unknown>>, secrets: Redactor): Line[] {
  return [[], [say('ARGUMENTS', 'title')], ...jsonLines(JSON.stringify(args), secrets)];
}

function received({ receivedAt, acknowledgement, arrivals }: ToolCall): Span[] {
  const { status, at = receivedAt } = acknowledgement;
  const again = arrivals > 1 ? `, came ${arrivals}×, last` : '';
  const took = arrivals > 1 ? '' : ` in ${formatDuration(at - receivedAt)}`;
  return [
    say(`at ${elapsed(receivedAt)}${again}`),
    status === undefined
      ? say(' not acknowledged', 'warn')
      : say(` answered ${status}`, status === 200 ? 'plain' : 'warn'),
    say(status === undefined ? '' : took, 'dim'),
  ];
}

/** The nearest fixture and where it differs tell what to change. */
function answer(call: ToolCall): Line {
  const { nearest } = call;
  if (!nearest) return answeredBy(call);
  const { fixture, path, reason } = nearest;
  return [
    ...answeredBy(call),
    say('; the nearest is '),
    ...quote(fixture, 'title'),
    say(', but at '),
    ...quote(path, 'title'),
    say(': '),
    ...clipped(reason, 'plain', MOST),
  ];
}
