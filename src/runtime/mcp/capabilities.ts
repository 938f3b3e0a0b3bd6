import { truncateBeforeToken } from '../../util/text.js';
import { isRecord, valueAt } from '../../util/values.js';
import { visibleLine } from '../../util/visible.js';

/** Number of capabilities that are named. */
const MAX_NAMED = 5;

const MISSING_CAPABILITY = -32_021;

const URL_ELICITATION_REQUIRED = -32_042;

/** Returns the capabilities that a server's message requires and this client does not offer. */
export function missingCapabilities({
  method,
  params,
  result,
  error,
}: Record<string, unknown>): readonly string[] {
  if (typeof method === 'string') return capabilitiesFor(method, params);
  if (isRecord(result) && result['resultType'] === 'input_required') {
    const { inputRequests } = result;
    const requests = Object.values(isRecord(inputRequests) ? inputRequests : {}).filter(isRecord);
    return requests.flatMap(request => capabilitiesFor(String(request['method']), request['params']));
  }
  if (!isRecord(error)) return [];
  if (error['code'] === URL_ELICITATION_REQUIRED) return ['elicitation.url'];
  const { requiredCapabilities: required } = isRecord(error['data']) ? error['data'] : {};
  if (error['code'] !== MISSING_CAPABILITY || !isRecord(required)) return [];
  const names = Object.entries(required).flatMap(([name, value]) => {
    const parts = isRecord(value) ? Object.keys(value) : [];
    return parts.length === 0 ? [name] : parts.map(part => `${name}.${part}`);
  });
  return names.slice(0, MAX_NAMED).map(name => visibleLine(truncateBeforeToken(name, 100)));
}

/** Whether the answer says that the server may not ask for a form by itself, as since version 2026-07-28. */
export function refusesToAsk({ error, result }: Record<string, unknown>): boolean {
  const failed = isRecord(result) && result['isError'] === true ? result['content'] : [];
  const texts = Array.isArray(failed) ? failed.map(block => valueAt(block, 'text')) : [];
  return [valueAt(error, 'message'), ...texts].some(
    text => typeof text === 'string' && /server-(?:initiated|to-client) requests/i.test(text),
  );
}

function capabilitiesFor(method: string, params: unknown): string[] {
  if (method === 'sampling/createMessage') return ['sampling'];
  if (method === 'roots/list') return ['roots'];
  const isUrl = method === 'elicitation/create' && isRecord(params) && params['mode'] === 'url';
  return isUrl ? ['elicitation.url'] : [];
}
