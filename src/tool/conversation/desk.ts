import type { Log } from '../../exchange/log.js';
import { systemClock } from '../../system/clock.js';
import { allowedDestinations } from '../../transport/allowed-destinations.js';
import type { HttpClient } from '../../transport/client.js';
import { DEFAULTS } from '../defaults.js';
import { Outbox } from '../delivery/outbox.js';
import type { MockToolOptions } from '../options.js';
import { CHOICE_PREFIX } from '../routes/choice.js';
import { CONSENT_PREFIX } from '../routes/consent.js';
import { Demands } from './demands.js';
import { Pauses } from './pauses.js';
import { Questions } from './questions.js';
import type { Desk } from './rap-conversation.js';

/** What conversations need, set up as the options say. @throws ProtocolCliError `usage` for an origin that is none. */
export function deskOf(log: Log, client: HttpClient, options: MockToolOptions): Desk {
  const { clock = systemClock, allowCallbacks = [], maxPending, retries } = options;
  return {
    log,
    outbox: new Outbox({
      log,
      client,
      clock,
      random: Math.random,
      allows: allowedDestinations(allowCallbacks),
      queueLimit: maxPending ?? DEFAULTS.maxPending,
      queueBytes: DEFAULTS.maxPendingBytes,
      perOrigin: DEFAULTS.perOrigin,
      retries: retries ?? DEFAULTS.retries,
      maxPauseMs: DEFAULTS.maxPauseMs,
      timeoutMs: DEFAULTS.attemptMs,
    }),
    pauses: new Pauses(clock),
    demands: new Demands(),
    choices: new Questions(CHOICE_PREFIX),
    consents: new Questions(CONSENT_PREFIX),
  };
}
