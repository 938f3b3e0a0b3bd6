import { urlSecrets } from '../../exchange/callback-secrets.js';
import type { Invocation } from '../../protocol/invocation.js';
import { prettyJson } from '../../text/json-pretty.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';
import { textLines } from '../text-lines.js';
import { labelled, withoutPath } from '../tool-calls/details/labelled.js';
import { callHeading } from './call-lines.js';

/** An invocation by itself: what is asked for, by whom, with which arguments. @param isPrivate whether only the user sees it, and with it the token of its callback URL */
export function invocationLines(invocation: Invocation, isPrivate: boolean): Line[] {
  const { operation, call_id, thread_ancestors, user_id, callback_url } = invocation;
  const ids: readonly (readonly [string, string | null | undefined])[] = [
    ['call_id', call_id],
    ['ancestors', thread_ancestors?.join(' → ')],
    ['user', user_id],
    ['callback', isPrivate ? callback_url : withoutPath(callback_url)],
  ];
  return [
    callHeading(operation, { id: invocation.id, group_id: invocation.group_id }),
    ...ids.flatMap(([label, value]) => (value ? [labelled(label, ...quote(value))] : [])),
    [],
    [say('ARGUMENTS', 'title')],
    ...argumentLines(invocation, isPrivate),
  ];
}

/** Secrets of an invocation, for whatever else is told of it. */
export function invocationSecrets({ callback_url, id, group_id, call_id }: Invocation) {
  return urlSecrets([callback_url], [id, group_id, call_id ?? '']);
}

function argumentLines(invocation: Invocation, isPrivate: boolean): readonly Line[] {
  const written = JSON.stringify(invocation.arguments);
  const text = isPrivate ? written : invocationSecrets(invocation).text(written);
  return textLines(prettyJson(text) ?? text, Number.POSITIVE_INFINITY).lines;
}
