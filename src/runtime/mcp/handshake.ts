import type { Log } from '../../exchange/log.js';
import { failureOfMcp, type McpFailure } from './explain.js';

/** With whom hands are shaken, in a transcript's terms. */
export interface Place {
  readonly endpoint: string;
  /** What the user had sent with it, told redacted. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks what there is, and tells the log: while it goes on, and what came of it. */
export async function asking<T>(
  log: Log,
  { endpoint, headers }: Place,
  method: 'initialize' | 'tools/list',
  work: () => Promise<T>,
): Promise<T> {
  const leg = log.leg();
  const about = { from: 'client', to: 'tool', purpose: 'discovery', dialect: 'mcp' } as const;
  log.emit({ kind: 'request', ...about, leg, method, url: endpoint, headers: { ...headers }, attempt: 1 });
  return work().then(
    done => {
      log.emit({ kind: 'response', leg, status: 200, headers: {} });
      return done;
    },
    (error: unknown) => {
      log.emit({ ...endOf(failureOfMcp(error)), leg });
      throw error;
    },
  );
}

function endOf(failure: McpFailure) {
  if (failure.kind === 'broken') return failure;
  const status = failure.kind === 'status' ? failure.status : 200; // a refusal in JSON-RPC is an answer
  return { kind: 'response', status, headers: {} } as const;
}
