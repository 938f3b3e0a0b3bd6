import { type Ended, type RunOptions, run, type Started, start } from './program.js';
import type { PlatformPeer } from './session-platform.js';

export const KEY = 'KEY-CANARY-0815';

/** Runs `session answer` for the session of a platform, to its end; the key is in the environment. */
export function answer(
  platform: Pick<PlatformPeer, 'url'>,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  return startAnswer(platform, args, options).ended;
}

/** The same, as a process that can be interrupted. */
export function startAnswer(
  { url }: Pick<PlatformPeer, 'url'>,
  args: readonly string[],
  { env, ...options }: RunOptions = {},
): Started {
  return start(['session', 'answer', url, 'session_1', ...args], {
    env: { API_KEY: KEY, ...env },
    ...options,
  });
}

/** A pending call, as a platform publishes it. */
export function pendingCall(tool_name: string, args: object, id: string | null) {
  return { tool_name, args, id };
}

/** `session answer` with any words. */
export function answerWith(words: readonly string[], options?: RunOptions): Promise<Ended> {
  return run(['session', 'answer', ...words], options);
}
