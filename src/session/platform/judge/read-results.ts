import {
  errorEventSchema,
  type SettledCall,
  sessionResultSchema,
} from '../../../protocol/session/tool-results.js';
import { isRecord } from '../../../text/is-record.js';
import type { JsonReading } from '../../../text/json.js';
import { type Detail, detail, read } from './detail.js';

type Path = readonly (string | number)[];

/** One settled call of a body, or what is wrong with it. */
export interface Item {
  readonly loc: Path;
  /** Null where it could not be read. */
  readonly answer: SettledCall | null;
  /** Of its `tool_req` as it was sent: a schema's copy would lose a key named `__proto__` (threats, row 19). */
  readonly args: unknown;
  readonly details: readonly Detail[];
}

export type ResultsReading =
  | { readonly ok: true; readonly items: readonly Item[] }
  | { readonly ok: false; readonly details: readonly Detail[] };

const BODY: Path = ['body'];

/** A body of `tool_results`: one settled call, or a batch of them (seed 001). Never throws. */
export function readResults(body: JsonReading): ResultsReading {
  if (!body.ok) return refused(detail('json_invalid', BODY, `JSON decode error: ${body.reason}`, {}));
  const { value } = body;
  if (!isRecord(value))
    return refused(detail('dict_type', BODY, 'Input should be a valid dictionary', value));
  if (value['type'] === 'batch') return readBatch(value);
  if (value['kind'] === undefined && value['type'] !== undefined)
    return refused(detail('literal_error', [...BODY, 'type'], "Input should be 'batch'", value['type']));
  return { ok: true, items: [readItem(value, BODY)] };
}

function readBatch({ results }: Readonly<Record<string, unknown>>): ResultsReading {
  const loc = [...BODY, 'results'];
  if (results === undefined) return refused(detail('missing', loc, 'Field required', null));
  if (!Array.isArray(results))
    return refused(detail('list_type', loc, 'Input should be a valid list', results));
  return { ok: true, items: results.map((each, index) => readItem(each, [...loc, index])) };
}

function readItem(value: unknown, loc: Path): Item {
  const unread = (...details: Detail[]) => ({ loc, answer: null, args: undefined, details });
  if (!isRecord(value)) return unread(detail('dict_type', loc, 'Input should be a valid dictionary', value));
  const { kind, tool_req } = value;
  if (kind === undefined) return unread(detail('missing', [...loc, 'kind'], 'Field required', null));
  const schema =
    kind === 'tool_result' ? sessionResultSchema : kind === 'error_event' ? errorEventSchema : null;
  if (!schema) return unread(detail('literal_error', [...loc, 'kind'], KINDS, kind));
  const settled = read(schema, value, loc);
  if (!settled.ok) return unread(...settled.details);
  return { loc, answer: settled.value, args: isRecord(tool_req) ? tool_req['args'] : undefined, details: [] };
}

const KINDS = "Input should be 'tool_result' or 'error_event'";

function refused(...details: Detail[]): ResultsReading {
  return { ok: false, details };
}
