import { callbackSecrets } from '../../../exchange/callback-secrets.js';
import { unread } from '../../../exchange/event-weight.js';
import type { CallFile } from '../../../exchange/recent-events.js';
import type { ToldEvent } from '../../../story/calls/index.js';
import type { Story } from '../../calls/sheets/story.js';

/** A call as its tool tells of it. What its events mean is told by the tool itself: the steps of a runtime are not its own. */
export class ToolStory implements Story {
  /** Knows the secrets of all that is told. */
  readonly redactor = callbackSecrets();
  readonly running = [];
  readonly #told: ToldEvent[] = [];

  constructor(readonly file: CallFile) {}

  /** What is read of the bodies goes with the story: it is remembered for few calls only. */
  get told(): readonly ToldEvent[] {
    const { events } = this.file;
    for (let event = events[this.#told.length]; event; event = events[this.#told.length]) {
      const own = unread(event);
      this.redactor.learn(own);
      this.#told.push({ event: own, steps: [] });
    }
    return this.#told;
  }

  get forgotten(): number {
    return this.file.forgotten;
  }
}
