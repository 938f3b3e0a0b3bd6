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

/** How to ask a platform: with its key; a text is sent as it is. */
interface Platform extends AsyncDisposable {
  readonly platform: SessionPlatform;
  /** Below `/api/v2`. */
  readonly api: Ask;
  /** Below `/api/v2/sessions`. */
  readonly ask: Ask;
}

export async function platformWith(
  options: Parameters<typeof startSessionPlatform>[0] = {},
): Promise<Platform> {
  const platform = await startSessionPlatform(options);
  const api: Ask = async (method, path, body, headers = {}) => {
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const response = await fetch(`${platform.url}/api/v2${path}`, {
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
  const ask: Ask = (method, path, ...rest) => api(method, `/sessions${path}`, ...rest);
  return { platform, api, ask, [Symbol.asyncDispose]: () => platform.close() };
}
