import { type SessionPlatform, startSessionPlatform } from '../../../src/agent-session/platform/platform.js';

export interface Answered {
  readonly status: number;
  /** As it came. */
  readonly text: string;
  /** Of JSON; undefined without a body. */
  readonly body: unknown;
}

export type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answered>;

/** A platform, and how to ask it: with its key, below `/api/v2/sessions`; a text is sent as it is. */
export async function platformWith(
  options: Parameters<typeof startSessionPlatform>[0] = {},
): Promise<{ readonly platform: SessionPlatform; readonly ask: Ask } & AsyncDisposable> {
  const platform = await startSessionPlatform(options);
  const ask: Ask = async (method, path, body, headers = {}) => {
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const response = await fetch(`${platform.url}/api/v2/sessions${path}`, {
      method,
      ...sent,
      headers: {
        authorization: `Bearer ${platform.key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json';
    return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
  };
  return { platform, ask, [Symbol.asyncDispose]: () => platform.close() };
}
