import type { Conversation } from '../conversation/conversation.js';
import type { HandlerCall } from './define-tool.js';

const NO_QUESTION = 'a choice needs choices, and the index of one of them as its default';

/** A conversation as a handler sees it. */
export function handlerCall(conversation: Conversation, operation: string): HandlerCall {
  const { key, addressee } = conversation.caller;
  const about = { calls: [key], thread: addressee.group_id };
  const isLate = (what: string, isOver = conversation.isClosed) => {
    if (isOver && !conversation.isCancelled)
      conversation.warn(`${what} came after the end, and was not sent`);
    return isOver;
  };
  return {
    async event(event) {
      if (isLate('an event', conversation.isClosed || conversation.isFinal)) return;
      await conversation.event(typeof event === 'string' ? { text: event } : { ...event });
    },
    async view(view) {
      if (!isLate('a view')) await conversation.view({ ...view });
    },
    async choice({ prompt, choices, default: preset = 0, withinMs }) {
      if (choices[preset] === undefined) throw new RangeError(NO_QUESTION);
      if (isLate('a choice')) return null;
      const question = { prompt, choices, default: preset, ...about, id: addressee.id };
      const selected = await conversation.choice(question, withinMs);
      return selected === null ? null : { selected, choice: choices[selected] ?? '' };
    },
    async oauth({ scopes = [], authUrl, withinMs } = {}) {
      if (isLate('a consent')) return null;
      return conversation.consent({ operation, scopes, ...about }, withinMs, authUrl);
    },
  };
}
