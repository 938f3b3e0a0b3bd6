import type { Desk } from '../desk.js';
import type { Letter } from '../mailbox.js';
import type { Conversing } from './flow.js';

/** A person is shown where to go; the call's own window is the time there is (TOOL-OAUTH). */
export function consent({ onConsent }: Desk, _: Conversing, { message }: Letter): undefined {
  if (message?.type === 'oauth') onConsent(message.auth_url);
}
