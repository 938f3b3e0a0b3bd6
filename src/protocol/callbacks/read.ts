import type { JsonReading } from '../../text/json.js';
import type { Warning } from '../requirements.js';
import { validateTolerantly } from '../validate.js';
import { type Callback, callbackSchema } from './index.js';

/** A callback's body, judged against the schema of its type (RT-VALIDATE). */
export type CallbackReading =
  | {
      readonly ok: true;
      readonly message: Callback;
      readonly native: unknown;
      readonly warnings: readonly Warning[];
      /** Paths of optional members that are null, which counts as absent; left out where there are none. */
      readonly nulls?: readonly string[];
    }
  | { readonly ok: false; readonly faults: readonly string[] };

/**
 * `message` holds the fields the protocol knows; `native` is what came, whole.
 * The schema copies known keys only, so a foreign `__proto__` never reaches an object of ours (threats, row 19).
 */
export function readCallback(reading: JsonReading): CallbackReading {
  if (!reading.ok) return { ok: false, faults: [reading.reason] };
  const checked = validateTolerantly(callbackSchema, reading.value);
  if (!checked.ok) return checked;
  const { nulls } = checked;
  const message = withoutEmptyContent(checked.value);
  const warnings = [
    ...reading.notes.map(note => ({ id: 'TOOL-POST', message: note }) as const),
    ...remarks(message),
  ];
  return { ok: true, message, native: reading.value, warnings, ...(nulls.length > 0 && { nulls }) };
}

/** An empty `content` counts as absent: `text` is what the model gets. */
function withoutEmptyContent(message: Callback): Callback {
  if (message.type !== 'tool_result' || message.content?.length !== 0) return message;
  const { content: _, ...rest } = message;
  return rest;
}

function remarks(message: Callback): Warning[] {
  if (message.type === 'tool_result' && message.text === undefined)
    return [{ id: 'TOOL-POST', message: 'the result has content but no text, which older runtimes require' }];
  if (message.type === 'oauth' && new URL(message.auth_url).protocol === 'http:')
    return [{ id: 'TOOL-OAUTH', message: 'auth_url is http; that is fine on loopback only' }];
  return [];
}
