import { setTimeout as wait } from 'node:timers/promises';

const TYPES = ['tool_result', 'oauth', 'user_choice', 'subscription_event', 'view_update'];

/** What a runtime does with a delivery: whether it takes it, once, in its turn. */
export const deliveryFaults = {
  'accepts-unknown-types': {
    breaks: 'RT-VALIDATE',
    change: Base =>
      class extends Base {
        callbackFault(callback) {
          return TYPES.includes(callback?.type) ? super.callbackFault(callback) : null;
        }
        async handle(callback, digest) {
          return TYPES.includes(callback.type) ? super.handle(callback, digest) : 200;
        }
      },
  },
  'accepts-malformed-callbacks': answering200(/invalid callback: (?!type$)/),
  'processes-malformed-callbacks': {
    breaks: 'RT-VALIDATE',
    change: Base =>
      class extends Base {
        callbackFault(callback) {
          return TYPES.includes(callback?.type) ? null : super.callbackFault(callback);
        }
        modelText(result) {
          return String(super.modelText(result));
        }
      },
  },
  'answers-200-to-what-is-not-json': answering200(/not JSON/),
  'accepts-any-content-type': {
    breaks: 'RT-VALIDATE',
    change: Base =>
      class extends Base {
        checkHead({ url, method }) {
          super.checkHead({ url, method, headers: { 'content-type': 'application/json' } });
        }
      },
  },
  'accepts-a-foreign-id': {
    breaks: 'RT-MATCH',
    change: Base =>
      class extends Base {
        match(callback) {
          const ofResult = callback.type === 'tool_result' && callback.group_id;
          const calls = [...this.calls.values()].filter(({ thread }) => thread === ofResult);
          return super.match(callback) ?? calls.find(({ state }) => state === 'pending');
        }
      },
  },
  'accepts-a-foreign-thread': {
    breaks: 'RT-MATCH',
    change: Base =>
      class extends Base {
        isKnownThread() {
          return true;
        }
        match(callback) {
          const isResult = callback.type === 'tool_result';
          return super.match(isResult ? { ...callback, group_id: this.thread } : callback);
        }
        async onView(view) {
          return this.threads.has(view.group_id) ? super.onView(view) : 404;
        }
      },
  },
  'takes-a-second-result-for-the-call': {
    breaks: 'RT-DUP',
    change: Base =>
      class extends Base {
        awaitsResult({ state }) {
          return state === 'pending' || state === 'done';
        }
      },
  },
  'processes-a-duplicate-twice': {
    breaks: 'RT-DUP',
    change: Base =>
      class extends Base {
        async handle(callback, digest) {
          const call = this.match(callback);
          if (callback.type === 'tool_result' && call?.state === 'done' && call.digests.has(digest)) {
            call.state = 'pending';
            call.digests.clear();
          }
          return super.handle(callback, digest);
        }
      },
  },
  'refuses-a-duplicate': {
    breaks: 'RT-DUP',
    change: Base =>
      class extends Base {
        async handle(callback, digest) {
          const { digests } = this.match(callback) ?? {};
          const isSeries = ['subscription_event', 'view_update'].includes(callback.type);
          return !isSeries && digests?.has(digest) ? 409 : super.handle(callback, digest);
        }
      },
  },
  'takes-a-late-result-after-a-cancel': {
    breaks: 'RT-CANCEL',
    change: Base =>
      class extends Base {
        awaitsResult({ state }) {
          return state === 'pending' || state === 'canceled';
        }
      },
  },
  'sends-the-invocation-again-after-a-question': {
    breaks: 'RT-PENDING',
    change: Base =>
      class extends Base {
        async dispatch(call, ...rest) {
          call.sendAgain = () => this.post(rest[0], rest[1], 1_000);
          await super.dispatch(call, ...rest);
        }
        async onQuestion(call, question) {
          call.sendAgain();
          return super.onQuestion(call, question);
        }
        async onConsent(call, message) {
          call.sendAgain();
          return super.onConsent(call, message);
        }
      },
  },
  'takes-a-consent-for-the-result': {
    breaks: 'RT-PENDING',
    change: Base =>
      class extends Base {
        async onConsent(call, message) {
          await super.onConsent(call, message);
          call.state = 'subscribed'; // no longer pending, but can be canceled
          await this.agent.model(call.id, 'The user must sign in first.');
          return 200;
        }
      },
  },
  'fails-when-two-callbacks-come-at-once': {
    breaks: 'RT-SERIAL',
    change: Base =>
      class extends Base {
        isBusy = false;
        async inTurn(_, work) {
          if (this.isBusy) return 500;
          this.isBusy = true;
          await wait(30);
          this.isBusy = false;
          return work();
        }
      },
  },
  'handles-the-messages-of-a-thread-in-any-order': {
    breaks: 'RT-SERIAL',
    change: Base =>
      class extends Base {
        turn = 0;
        async inTurn(_, work) {
          this.turn += 1;
          if (this.turn % 2 === 1) await wait(500);
          return work();
        }
      },
  },
};

/** Ignores some callbacks as it should, and tells the tool that they are right. */
function answering200(reason) {
  return {
    breaks: 'RT-VALIDATE',
    change: Base =>
      class extends Base {
        async receive(request) {
          return super.receive(request).catch(error => {
            if (reason.test(error.message)) return 200;
            throw error;
          });
        }
      },
  };
}
