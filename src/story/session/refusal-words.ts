import type { Content } from '../../exchange/content.js';
import { refusalIn } from '../../protocol/session/refusal.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';

/** What a platform says of a request that it refuses, after a colon; nothing where it says nothing. */
export function refusalWords(body: Content | undefined): Line {
  const said = body?.json.ok ? refusalIn(body.json.value) : '';
  return said === '' ? [] : [say(': '), ...clipped(said)];
}
