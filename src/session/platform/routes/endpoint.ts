import type { Log } from '../../../exchange/log.js';
import type { FindingsCollector } from '../../../exchange/verification/findings.js';
import type { SessionProblem } from '../../../exchange/verification/session-report.js';
import type { SessionScript } from '../../../fixtures/session/script.js';
import type { Incoming, Route } from '../../../transport/server.js';
import type { Detail } from '../judge/detail.js';
import type { NewsWait } from '../news-wait.js';
import type { Served } from './served.js';

/** What the routes of a platform work with. */
export interface Api extends NewsWait {
  readonly log: Log;
  readonly key: string;
  readonly script: SessionScript;
  /** Posts of results and creations of sessions that were not accepted. */
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
  /** What a refusal of it is, to the verification; nothing unless told. */
  readonly verifies?: 'results' | 'session';
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

type Refused = Extract<SessionProblem, { kind: 'refused' }>;

/** A post of results that is not accepted is a finding of the verification, and so is a session that could not be created. */
export function refuse({ refused }: Api, about: Omit<Refused, 'kind'>): void {
  refused.add({ kind: 'refused', ...about });
}

/** The first fault stands for all. */
export function reasonOf(detail: string | readonly Detail[]): string {
  if (typeof detail === 'string') return detail;
  const [first] = detail;
  return first ? `${first.loc.join('.')}: ${first.msg}` : '';
}
