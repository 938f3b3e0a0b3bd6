/** What `session-client.mjs` is reported by its words and its environment. */
export function lived(told: {
  readonly base: string;
  readonly asked?: string;
  readonly key?: string;
  readonly waitSeconds?: string;
}): Promise<object>;
