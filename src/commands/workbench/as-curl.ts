import { shareableUrl } from '../../exchange/shareable.js';
import { type Redactor, redactHeaders } from '../../text/redact.js';
import { curlOf } from '../invoke/dry-request.js';
import type { SentCall } from './sent.js';

/** An invocation as a command for a shell; what is secret in it, its callback's token too, has to be filled in. */
export function asCurl({ request, invocation }: SentCall, redactor: Redactor): string {
  const url = shareableUrl(request, redactor);
  return curlOf({ method: 'POST', url, headers: redactHeaders(request.headers), body: invocation });
}
