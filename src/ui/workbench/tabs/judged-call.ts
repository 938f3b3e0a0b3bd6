import type { Judged } from '../../calls/sheets/problems.js';
import type { CallStory } from './call-story.js';
import type { Verdicts } from './verdicts.js';

/** A call to be judged by the requirements of both sides. */
export function judgedCall(story: CallStory, verdicts: Verdicts): Judged {
  return {
    get age() {
      return story.age;
    },
    judge: () => verdicts.judge(story.subject),
  };
}
