import type { Line } from '../../../story/line.js';
import type { KnownCall } from '../../../story/session/known.js';
import { callWords } from '../../../story/session/words.js';
import { quote, say } from '../../../story/spans.js';
import type { AnswerScene } from './scene.js';

/** Which call it is whose tool asks. */
export function askerLine({ call }: KnownCall): Line {
  return [say('? ', 'warn'), ...callWords(call), say(' asks')];
}

/** The page that a tool wants to be visited, its URL whole (RT-OAUTH), and for which call; nothing where there is none. */
export function pageLines({ asks, asking }: Pick<AnswerScene, 'asks' | 'asking'>): readonly Line[] {
  if (asks?.type !== 'oauth') return [];
  const asker = asking ? [askerLine(asking)] : [];
  return [...asker, [say('visit this URL to go on:')], quote(asks.auth_url, 'title')];
}
