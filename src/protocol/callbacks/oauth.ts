import * as z from 'zod/mini';

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Tool → runtime: the user must visit a URL first. The call stays pending (RT-PENDING). */
export const oauthSchema = z.object({
  type: z.literal('oauth'),
  group_id: z.string(),
  id: z.string(),
  call_id: z.nullish(z.string()),
  auth_url: z.url().check(z.refine(isSafeToVisit, 'must be an https URL (http only on loopback)')),
});

export type OAuth = z.infer<typeof oauthSchema>;

/** A loopback `http:` consent page is what a tool under development has; anywhere else the code would travel in the open. */
function isSafeToVisit(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}
