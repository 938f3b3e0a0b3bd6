import { openUrl } from '../system/open-url.js';
import type { ActionResult } from './screen/effects.js';

/** Opens a page that a tool asks the user to visit. */
export async function visitPage(url: string): Promise<ActionResult> {
  const opening = await openUrl(url);
  if (opening.ok) return { text: 'opened in the browser', isBad: false };
  return { text: `it could not be opened (${opening.reason}): visit it yourself`, isBad: true };
}
