import type { Outcome } from '../outcome/outcome.js';
import { type Answer, type AnsweredCall, FEATURES, type Feature } from './dialect.js';

/** What an answer has, each feature with its value: all that a wire may carry or lose. */
export function featuresOf({ call, outcome, payload, beside = {} }: Answer): ReadonlyMap<Feature, unknown> {
  const all: Partial<Record<Feature, unknown>> = {
    ...beside,
    ...outcomeFeatures(outcome),
    ...(hasPayload(outcome) && payloadFeature(payload)),
    ...callFeatures(call),
  };
  return new Map(
    FEATURES.flatMap(feature => (all[feature] === undefined ? [] : [[feature, all[feature]] as const])),
  );
}

/** Whether it is told by its payload, and not by words of its own. */
export function hasPayload({ type }: Outcome): boolean {
  return type === 'success' || type === 'unknown';
}

/** Those that are a matter of the payload. */
export const PAYLOAD_FEATURES: readonly Feature[] = ['text', 'JSON', 'no payload'];

/** The keys of a `tool_req` that every one has. */
const REQUEST_KEYS = ['tool_name', 'args', 'id'];

function outcomeFeatures(outcome: Outcome): Partial<Record<Feature, unknown>> {
  switch (outcome.type) {
    case 'success':
      return { success: true };
    case 'error':
      return {
        error: outcome.message,
        'error code': outcome.code,
        'error type': outcome.errorType,
        'error origin': outcome.origin,
      };
    case 'canceled':
      return { canceled: [outcome.reason, outcome.by] };
    case 'timeout':
      return { timeout: [outcome.durationMs] };
    case 'denied':
      return { denied: [outcome.tool, outcome.reason] };
    case 'unknown':
      return { unknown: [outcome.raw] };
  }
}

function payloadFeature(payload: unknown): Partial<Record<Feature, unknown>> {
  if (payload === undefined) return { 'no payload': true };
  return typeof payload === 'string' ? { text: payload } : { JSON: [payload] };
}

function callFeatures({ id, tool, args, thread, secondaryId, request = {} }: AnsweredCall) {
  const others = Object.entries(request).filter(([key]) => !REQUEST_KEYS.includes(key));
  return {
    id: id ?? undefined,
    tool,
    arguments: args,
    'other request fields': others.length > 0 ? others : undefined,
    thread,
    'secondary id': secondaryId,
  };
}
