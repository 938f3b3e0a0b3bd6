import { RoundTrip } from '../events/round-trips.js';
import { readToolset, type ToolsetReading } from '../protocol/read-toolset.js';
import { discoveryUrl, type Toolset } from '../protocol/toolset.js';
import { groupBy } from '../util/collections.js';
import { stringsIn, valueAt } from '../util/values.js';

/** A request for a toolset. */
export class Discovery extends RoundTrip {
  /** @param reading null if no document came */
  constructor(
    { request, end }: RoundTrip,
    readonly reading: ToolsetReading | null,
  ) {
    super(request, end);
  }
}

/** A tool server that was asked for its toolset. */
export interface KnownServer {
  readonly base: string;
  readonly discoveries: readonly Discovery[];
  /** Its first valid toolset, which counts for the whole session; null without one. */
  readonly toolset: Toolset | null;
  /** The names of the tools of invalid documents, as far as they can be read; none with a valid one. */
  readonly invalidNames: readonly string[];
}

/** Reads each distinct document once: its schemas are compiled. */
export function readDiscoveries(trips: readonly RoundTrip[]): Promise<readonly Discovery[]> {
  const known = new Map<string, Promise<ToolsetReading>>();
  return Promise.all(
    trips.map(async trip => {
      const body = trip.status === 200 ? trip.response?.body : undefined;
      if (!body) return new Discovery(trip, null);
      const reading = known.get(body.sha256) ?? readToolset(body.json);
      known.set(body.sha256, reading);
      return new Discovery(trip, await reading);
    }),
  );
}

/** The toolsets that were loaded at a time, latest last. */
export function toolsetsAt(discoveries: readonly Discovery[], at: number): readonly Toolset[] {
  return discoveries.flatMap(({ reading, latestAt }) =>
    reading?.ok && latestAt <= at ? [reading.toolset] : [],
  );
}

const PATH = discoveryUrl('');

/** The servers that were asked for their toolset, by the URL of their discovery. */
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
