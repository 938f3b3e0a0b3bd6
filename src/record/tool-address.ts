import { Content } from '../events/content.js';
import { allowedDestinations, isLoopback } from '../http/addresses.js';
import type { HttpAnswer } from '../http/client.js';
import { readToolset } from '../protocol/read-toolset.js';
import { discoveryCandidates, baseOf as toolBaseOf } from '../protocol/toolset.js';
import { readUrl } from '../util/url.js';
import type { Forwarder } from './forwarder.js';
import { httpUrlIn } from './message-members.js';

/** What a request for the toolset takes over from the request of a runtime. */
export interface DiscoveryRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Where the tool is: its base URL, and the endpoint that its discovery document names. */
export class ToolAddress {
  /** The only origin that receives credentials. */
  readonly origin: string;
  base: string;
  #endpoint: string | null = null;
  #known = '';
  #finding: Promise<HttpAnswer> | null = null;

  /** @param url http or https */
  constructor(
    private readonly forwarder: Forwarder,
    private readonly url: string,
  ) {
    this.origin = new URL(url).origin;
    this.base = toolBaseOf(url);
  }

  /** Whether the tool may receive answers at a URL: at its own origins, or on this machine if the tool runs there too (threats, row 9). */
  takesAnswersAt(url: string): boolean {
    const endpoint = readUrl(this.#endpoint ?? this.url);
    const origins = [this.origin, ...(endpoint ? [endpoint.origin] : [])];
    return allowedDestinations(origins)(url) === null && (!isLocal(url) || isLocal(this.url));
  }

  /** The URL for invocations; null if the discovery document has none. @throws as {@link discover}. */
  async endpoint(): Promise<string | null> {
    if (this.#endpoint !== null) return this.#endpoint;
    this.#finding ??= this.discover({ headers: { accept: 'application/json' } }).finally(() => {
      this.#finding = null;
    });
    await this.#finding;
    return this.#endpoint;
  }

  /**
   * Requests the toolset at the URL, then at its origin. Returns the first 200, otherwise the first response.
   * @throws TransportError without a response; `Unkept`.
   */
  async discover(request: DiscoveryRequest): Promise<HttpAnswer> {
    let first: HttpAnswer | undefined;
    for (const { base, url } of discoveryCandidates(this.url)) {
      const answer = await this.forwarder.send({ purpose: 'discovery' }, { method: 'GET', url, ...request });
      if (answer.status === 200) return this.#learn(base, answer);
      first ??= answer;
    }
    if (first) return first;
    throw new Error('there is always a first candidate');
  }

  /** Reads the endpoint of an invalid toolset too: the recorder does not check messages. */
  async #learn(base: string, answer: HttpAnswer): Promise<HttpAnswer> {
    const document = new Content(answer.body);
    const endpoint = httpUrlIn(document, 'endpoint');
    if (endpoint !== null) [this.base, this.#endpoint] = [base, endpoint];
    if (document.sha256 === this.#known) return answer;
    this.#known = document.sha256;
    const reading = await readToolset(document.json);
    if (!reading.ok) return answer;
    const { name, tools, ...toolset } = reading.toolset;
    const operations = tools.map(tool => tool.name);
    const loaded = { base, endpoint: toolset.endpoint, toolset: name, operations };
    this.forwarder.log.emit({ kind: 'loaded', ...loaded });
    return answer;
  }
}

function isLocal(url: string): boolean {
  return isLoopback(readUrl(url)?.hostname ?? '');
}
