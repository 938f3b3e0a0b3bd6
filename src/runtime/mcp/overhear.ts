import { cut } from '../../text/cut.js';
import { isRecord } from '../../text/is-record.js';
import { visibleLine } from '../../text/visible.js';
import type { Link } from './link.js';

/** Gets every message of a link as it stands on the wire. */
export type Hearing = (message: unknown, way: 'sent' | 'received') => void;

/** Requests of a server that need a capability, by method. */
const CAPABILITIES: Readonly<Record<string, string>> = {
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

const MISSING_CAPABILITY = -32_021;
const URL_ELICITATION_REQUIRED = -32_042;
const MOST_NAMED = 5;

/** The capabilities that a message of the server needs, and that this client does not offer. */
export function missingCapabilities(message: unknown): readonly string[] {
  if (!isRecord(message)) return [];
  const { method, params, result, error } = message;
  if (typeof method === 'string') return capabilitiesFor(method, params);
  if (isRecord(result) && result['resultType'] === 'input_required') {
    const { inputRequests } = result;
    return Object.values(isRecord(inputRequests) ? inputRequests : {})
      .filter(isRecord)
      .flatMap(request => capabilitiesFor(String(request['method']), request['params']));
  }
  if (!isRecord(error)) return [];
  if (error['code'] === URL_ELICITATION_REQUIRED) return ['elicitation.url'];
  const { requiredCapabilities: required } = isRecord(error['data']) ? error['data'] : {};
  if (error['code'] !== MISSING_CAPABILITY || !isRecord(required)) return [];
  return Object.keys(required)
    .slice(0, MOST_NAMED)
    .map(name => visibleLine(cut(name, 60)));
}

function capabilitiesFor(method: string, params: unknown): string[] {
  if (method === 'elicitation/create')
    return isRecord(params) && params['mode'] === 'url' ? ['elicitation.url'] : [];
  const capability = Object.hasOwn(CAPABILITIES, method) ? CAPABILITIES[method] : undefined;
  return capability === undefined ? [] : [capability];
}

/** Tells what goes over a link, both ways; to be called before it is opened. */
export function overhear(link: Link, hear: Hearing): void {
  const send = link.send.bind(link);
  link.send = (message, options) => {
    hear(message, 'sent');
    return send(message, options);
  };
  const take = link.onmessage;
  link.onmessage = (message, extra) => {
    hear(message, 'received');
    take?.(message, extra);
  };
}
