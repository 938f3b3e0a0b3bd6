import { discoveryUrl, type Toolset } from '../protocol/toolset.js';
import { groupBy } from '../util/collections.js';
import { stringsIn, valueAt } from '../util/values.js';
import type { Discovery } from './call.js';

/** A tool server that was asked for its toolset. */
export interface KnownServer {
  readonly base: string;
  readonly discoveries: readonly Discovery[];
  /** Its first valid toolset, which counts for the whole session; null without one. */
  readonly toolset: Toolset | null;
  /** The names of the tools of invalid documents, as far as they can be read; none with a valid one. */
  readonly invalidNames: readonly string[];
}

const PATH = discoveryUrl('');

export function serversOf(discoveries: readonly Discovery[]): readonly KnownServer[] {
  const byUrl = groupBy(discoveries, ({ request }) => [request.url]);
  return [...byUrl].map(([url, own]) => {
    const toolset = own.map(({ reading }) => (reading?.ok ? reading.toolset : null)).find(Boolean) ?? null;
    const invalidNames = toolset ? [] : own.flatMap(namesIn);
    return { base: url.slice(0, url.lastIndexOf(PATH)), discoveries: own, toolset, invalidNames };
  });
}

function namesIn({ response }: Discovery): readonly string[] {
  const json = response?.body?.json;
  const tools = json?.ok ? valueAt(json.value, 'tools') : [];
  return (Array.isArray(tools) ? tools : []).flatMap(tool => stringsIn(valueAt(tool, 'name') ?? []));
}

/** Whether a request went to this server. */
export function isTo({ base }: KnownServer, { request }: Pick<Discovery, 'request'>): boolean {
  return request.url.startsWith(`${base}/`);
}
