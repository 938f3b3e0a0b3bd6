import { callbackSecrets } from '../../exchange/callback-secrets.js';
import type { Event } from '../../exchange/events.js';
import {
  type CallbackDelivery,
  isDelivered,
  type ToolCall,
  toolCallState,
  typeOfDelivery,
} from '../../exchange/tool-call.js';
import { ToolCalls } from '../../exchange/tool-calls.js';
import { transcriptWriter } from '../../exchange/transcript-writer.js';
import { redactJson } from '../../text/redact-json.js';

/** What a mock remembers of its calls, for tests in any language: plain JSON, without the secrets of callback URLs. */
export function journalReport(events: readonly Event[], forgotten: number): object {
  const redactor = callbackSecrets(events);
  const calls = ToolCalls.of(events).list.map(callReport);
  const clean: unknown = JSON.parse(redactJson(JSON.stringify(calls), redactor));
  return { calls: clean, events: events.length, forgotten };
}

/** The same, event by event: the lines of a transcript, which ends where somebody asked for it. */
export function journalTranscript(
  events: readonly Event[],
  about: { readonly startedAt: string; readonly program: string },
): string {
  const writer = transcriptWriter(callbackSecrets(events));
  const lines = events.flatMap(event => writer.event(event));
  return `${[writer.header({ ...about, observer: 'tool' }), ...lines, writer.end('asked')].join('\n')}\n`;
}

function callReport(call: ToolCall): object {
  const {
    invocation,
    addressee,
    answeredBy,
    nearest,
    receivedAt,
    arrivals,
    acknowledgement,
    warnings,
    dropped,
  } = call;
  return {
    id: addressee?.id ?? null,
    group_id: addressee?.group_id ?? null,
    operation: invocation?.operation ?? null,
    invocation,
    fixture: answeredBy,
    ...(nearest && { nearest }),
    state: toolCallState(call),
    receivedAt,
    arrivals,
    acknowledgement: { status: acknowledgement.status ?? null, at: acknowledgement.at ?? null },
    deliveries: call.deliveries.map(deliveryReport),
    dropped,
    warnings,
  };
}

function deliveryReport(delivery: CallbackDelivery): object {
  const { url, body, attempts } = delivery;
  return {
    type: typeOfDelivery(delivery),
    url,
    message: body?.json.ok ? body.json.value : null,
    delivered: isDelivered(delivery),
    attempts: attempts.map(({ leg: _, ...attempt }) => attempt),
  };
}
