import type { ContentItem } from '../../protocol/callbacks/index.js';
import type { Evidence } from '../evidence/evidence.js';
import { type Told, toldAs } from '../evidence/messages.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { sent } from '../spot.js';

/** TOOL-IMAGE: a picture is described to a model that sees none, and a person whose client draws none gets a text. */
export const describesImages: Rule = {
  id: 'TOOL-IMAGE',
  masks: ['TOOL-FALLBACK'],
  isOffered: true,
  absent: 'no result had an image',
  observe: ({ calls }: Evidence) =>
    calls.flatMap(call =>
      toldAs(call, 'tool_result').flatMap(each => [...onContent(each), ...onDisplay(each)]),
    ),
};

function onContent({ callback, message: { content = [] } }: Told<'tool_result'>): readonly Observation[] {
  if (!content.some(({ type }) => type === 'image')) return [];
  return isDescribing(content[0])
    ? [held([callback])]
    : [
        broken('content has an image, and does not begin with a text that describes it', [callback], {
          spots: [sent(callback, 'content')],
        }),
      ];
}

function isDescribing(item: ContentItem | undefined): boolean {
  return item?.type === 'text' && item.text.trim() !== '';
}

function onDisplay({ callback, message: { display_as: segments = [] } }: Told<'tool_result'>) {
  const image = segments.findLastIndex(({ type }) => type === 'image');
  if (image < 0) return [];
  return segments.slice(image + 1).some(({ type }) => type === 'text')
    ? [held([callback])]
    : [
        broken(`display_as[${image}] is an image, and no text follows it`, [callback], {
          spots: [sent(callback, 'display_as')],
        }),
      ];
}
