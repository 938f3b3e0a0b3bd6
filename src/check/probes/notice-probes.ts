import { randomUUID } from 'node:crypto';
import { NOTICES } from '../../protocol/invocation.js';
import { readAcknowledgement } from '../../runtime/wire.js';
import type { Probe } from './probe.js';

/** Ids in notices that a tool must not use as a path, a query or a log line. */
const HOSTILE_IDS: readonly string[] = [
  '../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '',
  'x'.repeat(4_096),
  'Zoë 工具 🛠️ \u0000 \u202e',
];

const CANCEL: Probe = {
  id: 'cancel',
  checks: ['TOOL-CANCEL'],
  alone: true,
  run: async (client, target) => {
    const { prober } = target;
    await Promise.all(
      [`call_${randomUUID()}`, ...HOSTILE_IDS].map(id => {
        const message = { thread_id: id, tool_call_id: id };
        return prober.wire.notify({ kind: 'cancel', message }, prober.check.requestLimits);
      }),
    );
    const operation = await target.samples.operation;
    if (!operation) return;
    const call = client.send(operation);
    await call.acknowledged;
    prober.check.recordCancel(call.key);
    for (let time = 0; time < 2; time++) await call.cancel();
  },
};

const CLOSE: Probe = {
  id: 'close',
  checks: ['TOOL-CLOSE'],
  alone: true,
  run: async (client, target) => {
    const { prober } = target;
    const unknown = [`thread_${randomUUID()}`, ...HOSTILE_IDS];
    await Promise.all(unknown.map(thread => prober.closeThread(thread)));
    const operation = await target.samples.operation;
    if (!operation) return;
    const { thread } = await client.call(operation);
    for (let time = 0; time < 2; time++) await prober.closeThread(thread);
  },
};

const MIGRATE: Probe = {
  id: 'migrate',
  checks: ['TOOL-MIGRATE'],
  isFor: ({ toolset }) => toolset?.needsMigration === true,
  run: async (_, { prober }) => {
    const { wire } = prober;
    const request = {
      method: 'POST',
      url: wire.base + NOTICES.migrate.path,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{}'), // cannot succeed: a check never migrates a session
      read: readAcknowledgement,
      timeoutMs: prober.check.windowMs,
      signal: prober.check.signal,
    } as const;
    await wire.send({ purpose: 'migrate' }, request).catch(() => {}); // the log has the error
  },
};

/** Cancel, close and migrate. */
export const NOTICE_PROBES: readonly Probe[] = [CANCEL, CLOSE, MIGRATE];
