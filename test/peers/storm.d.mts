export interface StormOptions {
  args?: Record<string, unknown>;
  /** 2000, 50 and 100 by default. */
  calls?: number;
  connections?: number;
  threads?: number;
  /** The calls of a thread one after another, whose results must say 1, 2, 3… in each thread. */
  keyed?: boolean;
  /** An argument that gets a text of its own in each call; the result must say it back. */
  own?: string;
  /** Posted to directly, without discovery. */
  endpoint?: string;
  withinMs?: number;
}

export interface StormSummary {
  sent: number;
  acked: number;
  delivered: number;
  missing: number;
  /** Results beyond the first of a call. */
  twice: number;
  /** Callbacks at a URL that is not their call's. */
  crossed: number;
  /** Results with another text than expected (`keyed`, `own`). */
  disordered: number;
  /** Acknowledgements other than 200: status, or what broke, and how often. */
  refusals: Record<string, number>;
  ms: number;
}

export function storm(base: string, operation: string, options?: StormOptions): Promise<StormSummary>;
