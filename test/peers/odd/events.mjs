import { setTimeout as sleep } from 'node:timers/promises';

/** Operations that are odd in what they say besides their result. */
export const events = {
  async event_after_final(call) {
    await subscribe(call);
    await call.deliver(event(call, 'first'));
    await call.deliver(event(call, 'last', { final: true }));
    await call.deliver(event(call, 'after the last'));
  },

  /** Goes on whatever it is reported. */
  async deaf_events(call) {
    await subscribe(call);
    for (let number = 1; number <= 100; number++) {
      await call.deliver(event(call, `Event ${number}`));
      await sleep(25);
    }
  },

  async event_unasked(call) {
    await call.deliver(call.reply());
    await call.deliver(event(call, 'no one subscribed'));
  },

  async unknown_view(call) {
    const { group_id } = call.invocation;
    const content = { rays: 3 };
    await call.deliver({ type: 'view_update', group_id, view_type: 'hologram', content });
    await call.deliver(call.reply());
  },
};

function subscribe(call) {
  return call.deliver(call.reply({ text: 'Subscribed', subscription: true }));
}

function event({ invocation: { group_id, id } }, text, fields) {
  return { type: 'subscription_event', group_id, tool_call_id: id, text, ...fields };
}
