/** The options of `session-client.mjs`: its arguments and its environment. */
export function runSession(options: {
  readonly base: string;
  readonly asked?: string;
  readonly key?: string;
  readonly waitSeconds?: string;
}): Promise<object>;
