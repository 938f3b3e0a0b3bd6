/** What a runtime makes of the contents: for the model, for the user, for the tool. */
export const modelFaults = {
  'trims-the-text': changingText(text => text.trim()),
  'cuts-a-long-text': changingText(text => text.slice(0, 10_000)),
  'drops-control-characters': changingText(text => text.replace(/[\p{Cc}\p{Cf}]/gu, '')),
  'gives-the-model-what-the-user-sees': {
    breaks: 'RT-TEXT',
    change: Base =>
      class extends Base {
        modelText(result) {
          const short = result.display_as?.findLast(({ type }) => type === 'text');
          return short?.content ?? super.modelText(result);
        }
      },
  },
  'gives-the-model-object-object': {
    breaks: 'RT-TEXT',
    change: Base =>
      class extends Base {
        modelText(result) {
          return result.content?.length ? result.content.map(String).join('\n') : super.modelText(result);
        }
      },
  },
  'ignores-content': {
    breaks: 'RT-TEXT',
    change: Base =>
      class extends Base {
        modelText(result) {
          return result.text ?? super.modelText(result);
        }
      },
  },
  'leaves-out-images': {
    breaks: 'RT-TEXT',
    change: Base =>
      class extends Base {
        modelText(result) {
          const content = result.content?.filter(({ type }) => type === 'text');
          return content?.length ? super.modelText({ ...result, content }) : (result.text ?? '');
        }
      },
  },
  'shows-the-last-segment': {
    breaks: 'RT-DISPLAY',
    change: Base =>
      class extends Base {
        shownSegment(result) {
          return super.shownSegment({ ...result, display_as: result.display_as?.toReversed() });
        }
      },
  },
  'shows-an-unknown-segment': {
    breaks: 'RT-DISPLAY',
    change: Base =>
      class extends Base {
        shownSegment(result) {
          return result.display_as?.[0] ?? super.shownSegment(result);
        }
      },
  },
  'gives-the-auth-url-to-the-model': {
    breaks: 'RT-OAUTH',
    change: Base =>
      class extends Base {
        async onConsent(call, message) {
          await super.onConsent(call, message);
          await this.agent.model(call.id, `The user must visit ${message.auth_url}`);
          return 200;
        }
      },
  },
  'logs-the-auth-url': {
    breaks: 'RT-OAUTH',
    change: Base =>
      class extends Base {
        async onConsent(call, message) {
          this.audit({ operation: call.operation, id: call.id, outcome: `visit ${message.auth_url}` });
          return super.onConsent(call, message);
        }
      },
  },
  'does-not-show-the-auth-url': {
    breaks: 'RT-OAUTH',
    change: Base =>
      class extends Base {
        async onConsent() {
          return 200;
        }
      },
  },
  'sends-the-label-of-the-choice': selecting(({ choices }, selected) => choices[selected]),
  'counts-choices-from-one': selecting((_, selected) => selected + 1),
  'sends-nothing-when-dismissed': {
    breaks: 'RT-CHOICE',
    change: Base =>
      class extends Base {
        async dismiss() {
          this.questions.shift();
        }
      },
  },
  'sends-the-first-choice-when-dismissed': {
    breaks: 'RT-CHOICE',
    change: Base =>
      class extends Base {
        async dismiss() {
          await this.select(0);
        }
      },
  },
  'answers-the-newest-question-first': {
    breaks: 'RT-CHOICE',
    change: Base =>
      class extends Base {
        oldestQuestion() {
          this.questions.reverse();
          return super.oldestQuestion();
        }
      },
  },
  'writes-the-response-url-anew': {
    breaks: 'RT-CHOICE',
    change: Base =>
      class extends Base {
        async post(address, ...rest) {
          const url = new URL(address);
          if (url.search) url.search = new URLSearchParams(url.searchParams);
          return super.post(url.href, ...rest);
        }
      },
  },
  'fails-the-call-when-the-selection-fails': {
    breaks: 'RT-PENDING',
    change: Base =>
      class extends Base {
        async select(selected) {
          const [open] = this.questions;
          await super.select(selected);
          if (this.questions.includes(open)) await this.fail(open.call, 'the selection was refused');
        }
      },
  },
  'leaks-the-auth-url-when-canceled': {
    breaks: 'RT-OAUTH',
    change: Base =>
      class extends Base {
        async onConsent(call, message) {
          call.page = message.auth_url;
          return super.onConsent(call, message);
        }
        async cancelCall(call) {
          await super.cancelCall(call);
          if (call.page) await this.agent.failure(call.id, `Error: the user did not visit ${call.page}`);
        }
      },
  },
  'ends-all-subscriptions-at-once': {
    breaks: 'RT-SUB',
    change: Base =>
      class extends Base {
        async onEvent(call, event) {
          const status = await super.onEvent(call, event);
          const open = [...this.calls.values()].filter(each => this.isSubscribed(each));
          if (event.final) for (const each of open) each.state = 'ended';
          return status;
        }
      },
  },
  'delivers-events-of-unknown-subscriptions': {
    breaks: 'RT-SUB',
    change: Base =>
      class extends Base {
        match(callback) {
          const found = super.match(callback);
          if (found || callback.type !== 'subscription_event') return found;
          return [...this.calls.values()].find(({ state }) => state === 'subscribed');
        }
        isSubscribed({ state }) {
          return ['subscribed', 'done', 'pending'].includes(state);
        }
      },
  },
  'delivers-events-after-a-cancel': deliveringEvents('canceled'),
  'delivers-events-after-the-final-one': deliveringEvents('ended'),
  'ignores-events': {
    breaks: 'RT-SUB',
    change: Base =>
      class extends Base {
        async onEvent() {
          return 200;
        }
      },
  },
  'keeps-the-first-view': {
    breaks: 'RT-VIEW',
    change: Base =>
      class extends Base {
        shown = new Set();
        async onView(view) {
          const isFirst = !this.shown.has(view.view_type);
          this.shown.add(view.view_type);
          return isFirst || Object.keys(view.content).length === 0 ? super.onView(view) : 200;
        }
      },
  },
  'merges-the-contents-of-a-view': {
    breaks: 'RT-VIEW',
    change: Base =>
      class extends Base {
        async onView({ content, ...view }) {
          const isEmpty = Object.keys(content).length === 0;
          this.merged = isEmpty ? {} : { ...this.merged, ...content };
          return super.onView({ ...view, content: this.merged });
        }
      },
  },
  'never-clears-a-view': {
    breaks: 'RT-VIEW',
    change: Base =>
      class extends Base {
        async onView(view) {
          return Object.keys(view.content).length === 0 ? 200 : super.onView(view);
        }
      },
  },
  'drops-views-of-unknown-types': {
    breaks: 'RT-VIEW',
    change: Base =>
      class extends Base {
        async onView(view) {
          return view.view_type === 'diff' ? super.onView(view) : 200;
        }
      },
  },
  'crashes-on-an-unknown-view-type': {
    breaks: 'RT-VIEW',
    change: Base =>
      class extends Base {
        async onView(view) {
          if (view.view_type === 'diff') return super.onView(view);
          this.crash(new Error(`no view is called ${view.view_type}`));
          return new Promise(() => {});
        }
      },
  },
};

function changingText(change) {
  return {
    breaks: 'RT-TEXT',
    change: Base =>
      class extends Base {
        modelText(result) {
          return change(super.modelText(result));
        }
      },
  };
}

function selecting(change) {
  return {
    breaks: 'RT-CHOICE',
    change: Base =>
      class extends Base {
        selection(question, selected) {
          return { ...super.selection(question, selected), selected: change(question, selected) };
        }
      },
  };
}

function deliveringEvents(state) {
  return {
    breaks: 'RT-SUB',
    change: Base =>
      class extends Base {
        isSubscribed(call) {
          return call.state === state || super.isSubscribed(call);
        }
      },
  };
}
