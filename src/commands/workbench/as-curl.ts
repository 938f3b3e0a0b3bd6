import { randomUUID } from 'node:crypto';
import { redactHeaders } from '../../text/redact.js';
import type { ShellLine } from '../../ui/workbench/controls.js';
import { curlOf, gapsIn, YOUR_CALLBACK } from '../invoke/dry-request.js';
import type { SentCall } from './sent.js';

/** Of the connection that it was sent on: curl has its own. */
const CARRIAGE = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'date',
  'host',
  'keep-alive',
  'transfer-encoding',
  'user-agent',
]);

/**
 * An invocation as a command for a shell: a call of its own, or a tool would take it for a retry of the old one. What is secret in
 * it, and where its callbacks go, has to be put in.
 * @param keepsThread it was named; else a fresh one is
 */
export function asCurl({ request, url, invocation, redactor }: SentCall, keepsThread: boolean): ShellLine {
  const ours = Object.entries(redactHeaders(request.headers)).filter(
    ([name]) => !CARRIAGE.has(name.toLowerCase()),
  );
  const byHand = {
    method: 'POST',
    url: redactor.text(url),
    headers: Object.fromEntries(ours),
    body: {
      ...invocation,
      id: `call_${randomUUID()}`,
      call_id: null,
      callback_url: YOUR_CALLBACK,
      group_id: keepsThread ? invocation.group_id : `thread_${randomUUID()}`,
    },
  } as const;
  return { text: curlOf(byHand), gaps: gapsIn(byHand) };
}
