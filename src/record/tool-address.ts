import { Content } from '../events/content.js';
import { allowedDestinations, isLoopback } from '../http/addresses.js';
import type { HttpAnswer } from '../http/client.js';
import { readToolset } from '../protocol/read-toolset.js';
import { baseOf, discoveryCandidates, displayScriptsOf } from '../protocol/toolset.js';
import { readUrl } from '../util/url.js';
import { type Forwarder, stringIn } from './forwarder.js';

interface DiscoveryRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Where the tool is, by its latest discovery document. */
export class ToolAddress {
  /** Credentials go to this origin only. */
  readonly origin: string;
  #base: string;
  #endpoint: string | null = null;
  #known = '';
  #finding: Promise<HttpAnswer> | null = null;

  /** @param url http or https */
  constructor(
    private readonly forwarder: Forwarder,
    private readonly url: string,
  ) {
    this.origin = new URL(url).origin;
    this.#base = baseOf(url);
  }

  /** Where notices go. */
  get base(): string {
    return this.#base;
  }

  /** Whether the tool may have answers sent to a URL: its own origins, or this machine if it is on this machine (threats, row 9). */
  takesAnswersAt(url: string): boolean {
    const endpoint = readUrl(this.#endpoint ?? this.url);
    const origins = [this.origin, ...(endpoint ? [endpoint.origin] : [])];
    return allowedDestinations(origins)(url) === null && (!isLocal(url) || isLocal(this.url));
  }

  /** Where invocations go; null if the discovery document does not say. @throws as {@link discover}. */
  async endpoint(): Promise<string | null> {
    if (this.#endpoint === null) await this.#find();
    return this.#endpoint;
  }

  /** Once for all who wait for it. */
  #find(): Promise<HttpAnswer> {
    this.#finding ??= this.discover({ headers: { accept: 'application/json' } }).finally(() => {
      this.#finding = null;
    });
    return this.#finding;
  }

  /**
   * Requests the toolset at the URL, then at its origin. Returns the first 200, else the first answer.
   * @throws TransportError if no answer came; `Unkept`.
   */
  async discover(request: DiscoveryRequest): Promise<HttpAnswer> {
    let first: HttpAnswer | undefined;
    for (const { base, url } of discoveryCandidates(this.url)) {
      const about = { purpose: 'discovery' } as const;
      const answer = await this.forwarder.send(about, { method: 'GET', url, ...request });
      if (answer.status === 200) return this.#learn(base, answer);
      first ??= answer;
    }
    if (first) return first;
    throw new Error('there is always a first candidate');
  }

  /** An invalid toolset has an endpoint all the same: the recorder does not judge. */
  async #learn(base: string, answer: HttpAnswer): Promise<HttpAnswer> {
    const document = new Content(answer.body);
    const endpoint = endpointIn(document);
    if (endpoint !== null) [this.#base, this.#endpoint] = [base, endpoint];
    if (document.sha256 === this.#known) return answer;
    this.#known = document.sha256;
    const reading = await readToolset(document.json);
    if (!reading.ok) return answer;
    const { name, tools, ...toolset } = reading.toolset;
    const operations = tools.map(tool => tool.name);
    const loaded = { base, endpoint: toolset.endpoint, toolset: name, operations };
    this.forwarder.log.emit({ kind: 'loaded', ...loaded, ...displayScriptsOf(tools) });
    return answer;
  }
}

function isLocal(url: string): boolean {
  return isLoopback(readUrl(url)?.hostname ?? '');
}

/** The endpoint that a discovery document names; null if it could not be called. */
export function endpointIn(document: Content): string | null {
  const endpoint = stringIn(document, 'endpoint');
  return endpoint !== undefined && /^https?:$/.test(readUrl(endpoint)?.protocol ?? '') ? endpoint : null;
}
