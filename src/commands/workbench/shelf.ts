import type { Tool } from '../../protocol/toolset.js';
import { definitionsIn, type Server } from '../../ui/workbench/world.js';
import type { ConfiguredTarget } from '../target.js';
import { type Desk, type Found, type Origin, Place } from './place.js';

/** An operation that may be called, and where. */
export interface Offer extends Found {
  readonly tool: Tool;
  readonly target: ConfiguredTarget;
}

/** The tool servers of a session. */
export class Shelf {
  #places: readonly Place[] = [];
  /** Places that were taken out, until they are stopped. */
  readonly #leaving: Promise<void>[] = [];
  /** Names of those of them that had answered. */
  readonly #gone = new Set<string>();
  #opened = 0;

  constructor(private readonly desk: Desk) {}

  get servers(): readonly Server[] {
    return this.#places.map(({ server }) => server);
  }

  /** Of those that ever answered. */
  get names(): ReadonlySet<string> {
    const answered = this.#places.filter(place => place.hasAnswered).map(({ server }) => server.about);
    return new Set([...this.#gone, ...answered]);
  }

  /** Those that answered. */
  get found(): readonly Found[] {
    return this.#places.flatMap(({ found }) => found ?? []);
  }

  /** One more, or one that is there, asked now unless somebody has to allow it first. Returns its id. */
  add(target: ConfiguredTarget, about: Pick<Origin, 'isConfigured' | 'hasKeys'>): string {
    const known = this.#places.find(({ origin }) => !about.isConfigured && isSame(origin, target));
    const place = known ?? this.#put(target, about);
    if (place.server.state.kind !== 'asleep') void place.ask();
    return place.origin.id;
  }

  restart(id: string): void {
    void this.#placeOf(id)?.restart();
  }

  wake(id: string): void {
    void this.#placeOf(id)?.ask();
  }

  /** Takes one out that failed: what of it may still run is stopped. */
  dismiss(id: string): void {
    const place = this.#placeOf(id);
    if (place?.server.state.kind !== 'failed') return;
    this.#places = this.#places.filter(each => each !== place);
    this.#leaving.push(place.stop());
    if (place.hasAnswered) this.#gone.add(place.server.about);
    this.desk.onChange();
  }

  /** What a draft means; else why it cannot be called (RT-OP, RT-TOOLSET). */
  offer(id: string, operation: string): Offer | string {
    const place = this.#placeOf(id);
    if (!place?.found) return 'its server is not ready';
    const tool = place.found.discovered.toolset.tools.find(({ name }) => name === operation);
    if (!tool) return `its toolset has no operation "${operation}"`;
    const count = place.origin.isConfigured ? (definitionsIn(this.servers).get(operation) ?? 1) : 1;
    if (count === 1)
      return {
        ...place.found,
        tool: strictest(tool, this.#sameAs(place.found, tool)),
        target: place.origin.target,
      };
    return `"${operation}" is defined by ${count} configured toolsets, so neither is used (RT-TOOLSET): open one by its URL`;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#leaving, ...this.#places.map(place => place.stop())]);
  }

  #put(target: ConfiguredTarget, about: Pick<Origin, 'isConfigured' | 'hasKeys'>): Place {
    const place = new Place({ id: `s${++this.#opened}`, target, ...about }, this.desk);
    this.#places = [...this.#places, place];
    this.desk.onChange();
    return place;
  }

  #placeOf(id: string): Place | undefined {
    return this.#places.find(({ origin }) => origin.id === id);
  }

  /** The operation as each server describes it that has its calls go to the same endpoint. */
  #sameAs({ discovered: { toolset } }: Found, { name }: Tool): readonly Tool[] {
    return this.found
      .filter(({ discovered }) => discovered.toolset.endpoint === toolset.endpoint)
      .flatMap(({ discovered }) => discovered.toolset.tools.filter(tool => tool.name === name));
  }
}

/** What one toolset marks destructive no other one unmarks: whoever answers is the same. */
function strictest(tool: Tool, same: readonly Tool[]): Tool {
  const isDestructive = same.some(({ annotations }) => annotations?.destructive === true);
  return isDestructive ? { ...tool, annotations: { ...tool.annotations, destructive: true } } : tool;
}

function isSame({ target: one, isConfigured }: Origin, other: ConfiguredTarget): boolean {
  if (isConfigured || one.kind !== other.kind) return false;
  return one.kind !== 'url' || (other.kind === 'url' && one.url === other.url);
}
