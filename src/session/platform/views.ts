import { isRecord } from '../../text/is-record.js';
import { type Session, statusOf } from './state/session.js';

/** `GET …/status`: the live status, cheap to ask for. */
export function statusView(session: Session) {
  return {
    status: statusOf(session),
    error: session.error,
    steps: session.round + 1,
    usage_per_model: [],
    subagent_session_ids: [],
  };
}

/** `GET …/{id}`: everything but the events. */
export function sessionView(session: Session) {
  return {
    id: session.id,
    request: session.request,
    status: statusView(session),
    latest_answer: session.answer,
    tools: session.tools,
    ...timesOf(session),
  };
}

/** One of the list. */
export function summaryView(session: Session) {
  const { request } = session;
  return {
    id: session.id,
    agent: isRecord(request) ? (request['agent'] ?? null) : null,
    status: statusOf(session),
    ...timesOf(session),
  };
}

/** `GET …/changes`: what is new from an index on. */
export function changesView(session: Session, { from, limit, events }: ChangesQuery) {
  const news = session.events.slice(from, limit === null ? undefined : from + limit);
  return {
    status: statusOf(session),
    started_at: session.startedAt,
    finished_at: session.finishedAt,
    error: session.error,
    answer: session.answer,
    metrics: { steps: session.round + 1 },
    new_events: events ? news : [],
  };
}

export interface ChangesQuery {
  /** Index of an event, from 0. */
  readonly from: number;
  /** Null has no limit. */
  readonly limit: number | null;
  /** Whether events are told, or only counted. */
  readonly events: boolean;
}

/** A part of a list, as all lists of the API are given. @param page from 1 */
export function pageView<T>(
  all: readonly T[],
  { page, size }: { readonly page: number; readonly size: number },
) {
  return { items: all.slice((page - 1) * size, page * size), page, total: all.length };
}

function timesOf({ createdAt, startedAt, finishedAt }: Session) {
  return { created_at: createdAt, started_at: startedAt, finished_at: finishedAt };
}
