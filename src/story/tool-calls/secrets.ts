import { urlSecrets } from '../../exchange/callback-secrets.js';
import type { CallbackDelivery, ToolCall } from '../../exchange/tool-call.js';
import { isRecord } from '../../text/is-record.js';
import type { Redactor } from '../../text/redact.js';

/** What nobody else may see of a call: who has its callback URL can speak for the tool, who has a response URL for the user. */
export function secretsOf({ addressee, deliveries }: ToolCall): Redactor {
  if (!addressee) return urlSecrets([]);
  const { callback_url, id, group_id, call_id = '' } = addressee;
  return urlSecrets([callback_url, ...deliveries.flatMap(responseUrl)], [id, group_id, call_id ?? '']);
}

/** The URL of a consent page is for the person in front of the screen, and stays. */
function responseUrl({ body }: CallbackDelivery): string[] {
  const value = body?.json.ok ? body.json.value : null;
  const url = isRecord(value) ? value['response_url'] : null;
  return typeof url === 'string' ? [url] : [];
}
