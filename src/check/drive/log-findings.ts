import type { Event } from '../../events/events.js';
import type { Finding } from '../../protocol/driver.js';
import { leaksIn } from './leaked-secrets.js';
import { auditLog } from './log-audit.js';
import { rememberEnd } from './log-tail.js';

interface Findings {
  readonly findings: readonly Finding[];
  /** Why the log was not read, or only in part. */
  readonly warning?: string;
}

/**
 * Remembers where the runtime's own log ends. Returns a function that finds, after a scenario, leaked secrets, and what the log contains
 * since then of the calls and of discarded results. Without a log, it finds only what the model got.
 */
export async function findingsSince(
  path: string | undefined,
): Promise<(events: readonly Event[]) => Promise<Findings>> {
  if (path === undefined) return async events => ({ findings: leaksIn(events) });
  const readAppended = await rememberEnd(path);
  return async events => {
    const part = await readAppended();
    if (!part) {
      const warning = `cannot read ${path}: it was not written, or is not a file that may be read`;
      // A runtime that writes no log names no operation in it.
      return { findings: [...leaksIn(events), { saw: 'log', operations: [], isWhole: true }], warning };
    }
    const findings = [
      ...leaksIn(events, part.text),
      { saw: 'log', ...auditLog(events, part.text), isWhole: part.isWhole } as const,
    ];
    if (part.isWhole) return { findings };
    const warning = `only a part of ${path} was read: it is too long, or the runtime began it anew`;
    return { findings, warning };
  };
}
