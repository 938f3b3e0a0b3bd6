import * as z from 'zod/mini';
import { isSafeToVisit } from '../../text/safe-to-visit.js';

/** Tool → runtime: the user must visit a URL first. The call stays pending (RT-PENDING). */
export const oauthSchema = z.object({
  type: z.literal('oauth'),
  group_id: z.string(),
  id: z.string(),
  call_id: z.nullish(z.string()),
  auth_url: z
    .url()
    .check(z.refine(isSafeToVisit, 'must be an https URL without a user in it (http only on loopback)')),
});

export type OAuth = z.infer<typeof oauthSchema>;
