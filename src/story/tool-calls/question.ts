import { type ToolCall, typeOfDelivery } from '../../exchange/tool-call.js';
import { isRecord } from '../../text/is-record.js';

/** What a call asked somebody last. Foreign words; empty where it says nothing. */
export interface AskedQuestion {
  readonly choices: readonly string[];
  /** Index of the choice that counts where nobody picks one. */
  readonly preset: number;
  readonly responseUrl: string;
  readonly authUrl: string;
}

export function questionOf(call: ToolCall | undefined): AskedQuestion {
  const asked = call?.deliveries.findLast(each => ASKING.has(typeOfDelivery(each)));
  const message = asked?.body?.json.ok ? asked.body.json.value : null;
  const { choices, default: preset, response_url, auth_url } = isRecord(message) ? message : NOTHING;
  return {
    choices: Array.isArray(choices) ? choices.map(String) : [],
    preset: Number(preset ?? 0),
    responseUrl: textOf(response_url),
    authUrl: textOf(auth_url),
  };
}

const ASKING = new Set<string | null>(['user_choice', 'oauth']);
const NOTHING: Readonly<Record<string, unknown>> = {};

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
