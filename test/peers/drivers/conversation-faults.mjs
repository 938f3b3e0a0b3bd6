/** The faults of `faults.mjs` that concern questions, subscriptions and views. */

const isEmpty = ({ content }) => Object.keys(content).length === 0;

const selects = change => ({
  selection(question, selected) {
    return { ...super.selection(question, selected), selected: change(question, selected) };
  },
});

const deliversEvents = state => ({
  isSubscribed(call) {
    return call.state === state || super.isSubscribed(call);
  },
});

export const CONVERSATION_FAULTS = {
  'RT-OAUTH': {
    'gives-the-auth-url-to-the-model': {
      async onConsent(call, message) {
        await super.onConsent(call, message);
        await this.agent.model(call.id, `The user must visit ${message.auth_url}`);
        return 200;
      },
    },
    'logs-the-auth-url': {
      async onConsent(call, message) {
        this.audit({ operation: call.operation, id: call.id, outcome: `visit ${message.auth_url}` });
        return super.onConsent(call, message);
      },
    },
    'does-not-show-the-auth-url': { onConsent: async () => 200 },
    'leaks-the-auth-url-when-canceled': {
      async onConsent(call, message) {
        call.page = message.auth_url;
        return super.onConsent(call, message);
      },
      async cancelCall(call) {
        await super.cancelCall(call);
        if (call.page) await this.agent.failure(call.id, `Error: the user did not visit ${call.page}`);
      },
    },
  },
  'RT-CHOICE': {
    'sends-the-label-of-the-choice': selects(({ choices }, selected) => choices[selected]),
    'counts-choices-from-one': selects((_, selected) => selected + 1),
    'sends-nothing-when-dismissed': {
      async dismiss() {
        this.questions.shift();
      },
    },
    'sends-the-first-choice-when-dismissed': {
      async dismiss() {
        await this.select(0);
      },
    },
    'answers-the-newest-question-first': {
      oldestQuestion() {
        this.questions.reverse();
        return super.oldestQuestion();
      },
    },
    'posts-to-the-response-url-of-the-latest-question': {
      async onQuestion(call, question) {
        this.latestUrl = question.response_url;
        return super.onQuestion(call, question);
      },
      async post(address, body, limit) {
        return super.post('selected' in body ? this.latestUrl : address, body, limit);
      },
    },
    'sends-the-selection-twice': {
      async post(address, body, limit) {
        if ('selected' in body) await super.post(address, body, limit);
        return super.post(address, body, limit);
      },
    },
    'writes-the-response-url-anew': {
      async post(address, ...rest) {
        const url = new URL(address);
        if (url.search) url.search = new URLSearchParams(url.searchParams);
        return super.post(url.href, ...rest);
      },
    },
  },
  'RT-SUB': {
    'ends-all-subscriptions-at-once': {
      async onEvent(call, event) {
        const status = await super.onEvent(call, event);
        const open = [...this.calls.values()].filter(each => this.isSubscribed(each));
        if (event.final) for (const each of open) each.state = 'ended';
        return status;
      },
    },
    'delivers-events-of-unknown-subscriptions': {
      match(callback) {
        const found = super.match(callback);
        if (found || callback.type !== 'subscription_event') return found;
        return [...this.calls.values()].find(({ state }) => state === 'subscribed');
      },
      isSubscribed: ({ state }) => ['subscribed', 'done', 'pending'].includes(state),
    },
    'delivers-events-after-a-cancel': deliversEvents('canceled'),
    'delivers-events-after-the-model-canceled': {
      async cancelSubscription(id) {
        const sent = super.cancelSubscription(id);
        for (const call of this.calls.values()) if (call.id === id) call.state = 'subscribed';
        await sent;
      },
    },
    'delivers-events-after-the-final-one': deliversEvents('ended'),
    'ignores-events': { onEvent: async () => 200 },
  },
  'RT-VIEW': {
    'keeps-the-first-view': {
      async onView(view) {
        this.shown ??= new Set();
        const isFirst = !this.shown.has(view.view_type);
        this.shown.add(view.view_type);
        return isFirst || isEmpty(view) ? super.onView(view) : 200;
      },
    },
    'merges-the-contents-of-a-view': {
      async onView(view) {
        this.merged = isEmpty(view) ? {} : { ...this.merged, ...view.content };
        return super.onView({ ...view, content: this.merged });
      },
    },
    'never-clears-a-view': {
      async onView(view) {
        return isEmpty(view) ? 200 : super.onView(view);
      },
    },
    'drops-views-of-unknown-types': {
      async onView(view) {
        return view.view_type === 'diff' ? super.onView(view) : 200;
      },
    },
    'crashes-on-an-unknown-view-type': {
      async onView(view) {
        if (view.view_type === 'diff') return super.onView(view);
        this.crash(new Error(`no view is called ${view.view_type}`));
        return new Promise(() => {});
      },
    },
  },
};
