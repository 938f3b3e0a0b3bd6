import * as z from 'zod/mini';
import type { HttpClient } from '../../http/client.js';
import { explainFailure, TransportError } from '../../http/transport-error.js';
import { isSuccess } from '../../protocol/http-status.js';
import { refusalIn } from '../../protocol/session.js';
import { validate } from '../../protocol/validate.js';
import { ProtocolCliError } from '../../util/errors.js';
import { readJson } from '../../util/json.js';
import { LIMITS } from '../../util/limits.js';
import { createRedactor } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';
import { apiUrl } from './session-url.js';

const pageSchema = z.object({ items: z.array(z.object({ id: z.string(), status: z.string() })) });

const TIMEOUT_MS = 30_000;

/** How many sessions an error names. */
const NAMED = 10;

const HINT = 'Give the id of the session after the base URL.';

/**
 * Returns the id of the only session of a platform.
 * @throws ProtocolCliError `usage` if there is none, or several; `unreachable`, `platform-refused`, `bad-answer`.
 */
export async function onlySession(
  client: HttpClient,
  base: string,
  key: string,
  signal: AbortSignal,
): Promise<string> {
  const url = `${apiUrl(base)}/sessions?size=${NAMED}`;
  const headers = { accept: 'application/json', authorization: `Bearer ${key}` };
  const read = { maxBytes: LIMITS.errorBytes.value };
  const { status, body } = await client
    .send({ method: 'GET', url, headers, timeoutMs: TIMEOUT_MS, signal, read })
    .catch((error: unknown): never => {
      throw error instanceof TransportError ? explainFailure(error, url, 'platform') : error;
    });
  const reading = readJson(body);
  const { text: clean } = createRedactor([key]);
  if (!isSuccess(status)) {
    const reason = visibleLine(clean(reading.ok ? refusalIn(reading.value) : ''));
    const message = `the platform answered ${status} to GET ${url}${reason === '' ? '' : `: ${reason}`}`;
    throw new ProtocolCliError('platform-refused', message, { hint: HINT });
  }
  const page = reading.ok ? validate(pageSchema, reading.value) : null;
  if (!page?.ok)
    throw new ProtocolCliError('bad-answer', `the list of sessions at ${url} cannot be read`, { hint: HINT });
  const { items } = page.value;
  const [only] = items;
  if (!only) throw new ProtocolCliError('usage', 'the platform has no session', { hint: HINT });
  if (items.length === 1) return only.id;
  const faults = items.map(({ id, status: state }) => visibleLine(clean(`${id} (${state})`)));
  throw new ProtocolCliError('usage', 'the platform has several sessions', { faults, hint: HINT });
}
