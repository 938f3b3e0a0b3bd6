import { concerning } from '../../../story/calls/index.js';
import type { Judged } from '../../calls/sheets/problems.js';
import type { CallStory } from './call-story.js';

/** A call to be judged by the requirements of both sides. */
export function judgedCall(story: CallStory): Judged {
  return {
    get age() {
      return story.age;
    },
    async judge() {
      const { exchange } = story;
      const { book, redactor } = story.subject;
      if (!exchange) return [];
      const { judgedLines } = await import('../../../story/calls/judged-lines.js');
      return judgedLines(concerning(book, exchange), exchange, redactor, book);
    },
  };
}
