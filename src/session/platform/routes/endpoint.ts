import type { Log } from '../../../exchange/log.js';
import type { FindingsCollector } from '../../../exchange/verification/findings.js';
import type { SessionProblem } from '../../../exchange/verification/session-report.js';
import type { SessionScript } from '../../../fixtures/session/script.js';
import type { Incoming, Route } from '../../../transport/server.js';
import type { NewsWait } from '../news-wait.js';
import type { Served } from './served.js';

/** What the routes of a platform work with. */
export interface Api extends NewsWait {
  readonly log: Log;
  readonly key: string;
  readonly script: SessionScript;
  /** Posts of results that were not accepted. */
  readonly refused: FindingsCollector<SessionProblem>;
}

type Purpose = ConstructorParameters<typeof Served>[2]['purpose'];

export interface Endpoint {
  readonly method: Route['method'];
  readonly purpose: Purpose;
  /** What it reads of a request; `nothing` unless told. */
  readonly accepts?: Route['accepts'];
  /** Whether its path names a session, which must be there. */
  readonly ofSession?: boolean;
}

export const API = '/api/v2';
export const SESSIONS = `${API}/sessions`;
export const ONE = /^\/api\/v2\/sessions\/([^/]+)(?:\/([^/]+))?$/;

/** The id in the path of a request; empty where there is none that could be meant. */
export function idIn(incoming: Pick<Incoming, 'target'>): string {
  const [, id = ''] = ONE.exec(pathOf(incoming)) ?? [];
  try {
    return decodeURIComponent(id);
  } catch {
    return '';
  }
}

export function pathOf({ target }: Pick<Incoming, 'target'>): string {
  return target.split('?', 1)[0] ?? '';
}

/** A post of results that is not accepted is a finding of the verification. */
export function refuse(
  { refused }: Api,
  about: Omit<Extract<SessionProblem, { kind: 'refused' }>, 'kind'>,
): void {
  refused.add({ kind: 'refused', ...about });
}
