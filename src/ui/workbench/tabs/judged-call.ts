import { concerning, judgedLines } from '../../../story/calls/index.js';
import type { Redactor } from '../../../text/redact.js';
import type { Judged } from '../../calls/sheets/problems.js';
import type { CallStory } from './call-story.js';

/** A call to be judged by the requirements of both sides. */
export function judgedCall(story: CallStory, redactor: Redactor): Judged {
  return {
    get age() {
      return story.age;
    },
    async judge() {
      const { exchange } = story;
      const { book } = story.subject;
      return exchange ? judgedLines(concerning(book, exchange), exchange, redactor, book.observer) : [];
    },
  };
}
