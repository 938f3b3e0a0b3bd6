import { migrateUrl } from '../../protocol/addresses.js';
import { readAcknowledgement } from '../../runtime/read-acknowledgement.js';
import { recordedSend } from '../../runtime/wire.js';
import type { Probe } from '../probe.js';

/** A migration that cannot succeed: it names neither what is to move nor where to. No other is ever asked for. */
export const migrate: Probe = {
  id: 'migrate',
  checks: ['TOOL-MIGRATE'],
  isFor: ({ toolset }) => toolset?.needsMigration === true,
  run: async (_, { desk: { wire, base, windowMs, signal } }) => {
    const request = {
      method: 'POST',
      url: migrateUrl(base),
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{}'),
      read: readAcknowledgement,
      timeoutMs: windowMs,
      signal,
    } as const;
    await recordedSend(wire, { purpose: 'migrate', attempt: 1 }, request).catch(() => {}); // it is in the log
  },
};
