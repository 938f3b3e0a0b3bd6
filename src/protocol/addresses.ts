/** Where things are, relative to a tool server's base URL (protocol, section 1). */
const DISCOVERY_PATH = '/.well-known/rap-toolset';

/** The discovery URLs to ask, in order, each with the base it stands for: the URL as given, then its origin. */
export function discoveryCandidates(url: string): { readonly base: string; readonly url: string }[] {
  const bases = new Set([baseOf(url), new URL(url).origin]);
  return [...bases].map(base => ({ base, url: discoveryUrl(base) }));
}

export const discoveryUrl = (base: string) => base + DISCOVERY_PATH;
export const closeThreadUrl = (base: string) => `${base}/close_thread`;
export const cancelToolCallUrl = (base: string) => `${base}/cancel_tool_call`;
export const migrateUrl = (base: string) => `${base}/migrate`;

/** A URL as a base: without a query, and without a slash at its end. */
export function baseOf(text: string): string {
  const url = new URL(text);
  return url.origin + url.pathname.replace(/\/+$/, '');
}
