import { Content } from '../exchange/content.js';
import { baseOf, discoveryCandidates } from '../protocol/addresses.js';
import { readToolset } from '../protocol/read-toolset.js';
import { displayScriptsOf, type Tool } from '../protocol/toolset.js';
import { isRecord } from '../text/is-record.js';
import { readUrl } from '../text/url.js';
import { isLoopback } from '../transport/addresses.js';
import { allowedDestinations } from '../transport/allowed-destinations.js';
import type { HttpAnswer } from '../transport/client.js';
import type { Desk } from './desk.js';
import { sendOn } from './send-on.js';

/** How a toolset is asked for. */
interface Asking {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const PLAIN: Asking = { headers: { accept: 'application/json' } };

/** Where the tool is, by the latest discovery document that it gave. */
export class ToolAddress {
  /** Whose credentials we hand over. */
  readonly origin: string;
  #base: string;
  #endpoint: string | null = null;
  #known = '';
  #finding: Promise<HttpAnswer> | null = null;

  /** @param url as it was given, http or https */
  constructor(
    private readonly desk: Desk,
    private readonly url: string,
  ) {
    this.origin = new URL(url).origin;
    this.#base = baseOf(url);
  }

  /** Where notices go. */
  get base(): string {
    return this.#base;
  }

  /** Whether the tool may have answers sent there: to itself, or on this machine where it is on this machine too (threats, row 9). */
  takesAnswersAt(url: string): boolean {
    const endpoint = readUrl(this.#endpoint ?? this.url);
    const origins = [this.origin, ...(endpoint ? [endpoint.origin] : [])];
    return allowedDestinations(origins)(url) === null && (!isLocal(url) || isLocal(this.url));
  }

  /** Where invocations go, asked for where it is not known yet; null where the document names no such place. @throws as {@link ask}. */
  async endpoint(): Promise<string | null> {
    if (this.#endpoint === null) await this.#find();
    return this.#endpoint;
  }

  /** Once for all who wait for it. */
  #find(): Promise<HttpAnswer> {
    this.#finding ??= this.ask(PLAIN).finally(() => {
      this.#finding = null;
    });
    return this.#finding;
  }

  /**
   * Asks for the toolset at the url, then at its origin. The first answer counts where there is none.
   * @throws TransportError where no answer came; `Unkept`.
   */
  async ask(asking: Asking): Promise<HttpAnswer> {
    let first: HttpAnswer | undefined;
    for (const { base, url } of discoveryCandidates(this.url)) {
      const answer = await sendOn(this.desk, { purpose: 'discovery' }, { method: 'GET', url, ...asking });
      if (answer.status === 200) return this.#learn(base, answer);
      first ??= answer;
    }
    if (first) return first;
    throw new Error('there is always a first candidate');
  }

  /** A toolset that is not valid has an endpoint all the same: what it is worth is for others to judge. */
  async #learn(base: string, answer: HttpAnswer): Promise<HttpAnswer> {
    const document = new Content(answer.body);
    const endpoint = endpointIn(document);
    if (endpoint !== null) [this.#base, this.#endpoint] = [base, endpoint];
    if (document.sha256 === this.#known) return answer;
    this.#known = document.sha256;
    const { ok, ...reading } = await readToolset(document.json);
    if (ok && 'toolset' in reading) this.#tell(base, reading.toolset);
    return answer;
  }

  #tell(base: string, { name, endpoint, tools }: { name: string; endpoint: string; tools: Tool[] }) {
    const operations = tools.map(tool => tool.name);
    this.desk.log.emit({
      kind: 'loaded',
      base,
      endpoint,
      toolset: name,
      operations,
      ...displayScriptsOf(tools),
    });
  }
}

function isLocal(url: string): boolean {
  return isLoopback(readUrl(url)?.hostname ?? '');
}

/** The endpoint that a discovery document names; null where it is none that could be called. */
export function endpointIn({ json }: Content): string | null {
  const endpoint = json.ok && isRecord(json.value) ? json.value['endpoint'] : undefined;
  if (typeof endpoint !== 'string') return null;
  return /^https?:$/.test(readUrl(endpoint)?.protocol ?? '') ? endpoint : null;
}
