import { excerpt } from '../../text/excerpt.js';
import { isRecord } from '../../text/is-record.js';
import { readJson } from '../../text/json.js';
import { didYouMean } from '../../text/nearest.js';
import type { Answer, Incoming, Route } from '../../transport/server.js';
import type { JournalReports } from '../journal/report.js';
import { get, jsonAnswer, post } from './route.js';

export interface AdminParts {
  /** What happened, call by call or event by event. */
  readonly journal: Pick<JournalReports, 'report' | 'transcript'>;
  readonly reset: (key?: string) => void;
  /** How many were fired; all that wait where no id is given, and in every thread where none is. */
  readonly fire: (id?: string, groupId?: string) => number;
}

/** The mock's own controls, for tests in any language. Guarded like everything else; none of it is part of the protocol. */
export function adminRoutes({ journal, reset, fire }: AdminParts): Route[] {
  return [
    get('/__mock__/journal', ({ headers }) =>
      headers.accept?.includes('application/x-ndjson')
        ? streamed('application/x-ndjson', journal.transcript())
        : streamed('application/json', journal.report()),
    ),
    control('/__mock__/reset', ['key'], ({ key }) => {
      reset(key);
      return { reset: key ?? 'all' };
    }),
    control('/__mock__/fire', ['id', 'group_id'], ({ id, group_id }) => ({ fired: fire(id, group_id) })),
  ];
}

function streamed(type: string, pieces: Iterable<Uint8Array>): Answer {
  return { status: 200, headers: { 'Content-Type': type }, pieces };
}

/** A POST with no body at all, or with these fields, each of which is optional. */
function control<F extends string>(
  path: string,
  fields: readonly [F, ...F[]],
  work: (values: Values<F>) => unknown,
): Route {
  return {
    ...post(path, incoming => {
      const asked = valuesOf(incoming, fields);
      return asked.ok ? jsonAnswer(work(asked.values)) : refused(asked.why);
    }),
    accepts: 'json?',
  };
}

type Values<F extends string> = { readonly [K in F]?: string };
type Asked<F extends string> =
  | { readonly ok: true; readonly values: Values<F> }
  | { readonly ok: false; readonly why: string };

/** A misspelt field must not mean everything. */
function valuesOf<F extends string>({ body }: Incoming, fields: readonly [F, ...F[]]): Asked<F> {
  const values: { [K in F]?: string } = {};
  if (body.length === 0) return { ok: true, values };
  const json = readJson(body);
  if (!json.ok || !isRecord(json.value)) return { ok: false, why: unreadable(fields[0]) };
  for (const [key, value] of Object.entries(json.value)) {
    const field = fields.find(each => each === key);
    if (field === undefined) return { ok: false, why: unknownField(key, fields) };
    if (typeof value !== 'string') return { ok: false, why: unreadable(field) };
    values[field] = value;
  }
  return { ok: true, values };
}

function unreadable(field: string): string {
  return `The body must be empty, or JSON such as {"${field}":"…"}.`;
}

function unknownField(unknown: string, fields: readonly string[]): string {
  const meant = didYouMean(unknown, fields) || `Known here: "${fields.join('", "')}".`;
  return `unknown field ${excerpt(unknown)}. ${meant}`;
}

function refused(why: string): Answer {
  return { status: 400, body: `${why}\n` };
}
