import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Operations that are odd in what goes over the wire after a good acknowledgement. */
export const deliveries = {
  async delivered_twice(call) {
    await call.deliver(call.reply());
    await call.deliver(call.reply());
  },

  async two_results(call) {
    await call.deliver(call.reply({ text: 'first result' }));
    await call.deliver(call.reply({ text: 'second result' }));
  },

  async then_right(call) {
    await call.deliver(call.reply({ id: 'forged-id', text: 'forged' }));
    await call.deliver(call.reply());
  },

  async subscription_event_unknown(call) {
    const { group_id } = call.invocation;
    await call.deliver({
      type: 'subscription_event',
      group_id,
      tool_call_id: 'never-subscribed',
      text: 'event of an unknown subscription',
    });
    await call.deliver(call.reply());
  },

  async late_ms(call) {
    await sleep(call.invocation.arguments.ms);
    await call.deliver(call.reply());
  },

  misdirected: call => call.deliver(call.reply(), { url: `${call.invocation.callback_url}x` }),

  misdirected_origin_header: call =>
    call.deliver(call.reply(), { headers: { origin: 'https://evil.example' } }),

  wrong_type: call => call.deliver(call.reply(), { headers: { 'content-type': 'text/plain' } }),

  malformed_json: call => call.deliver(Buffer.from('{"type":')),

  bom: call => call.deliver(Buffer.concat([BYTE_ORDER_MARK, Buffer.from(JSON.stringify(call.reply()))])),

  /** In Latin-1 the ÿ is the byte ff, which UTF-8 never has. */
  invalid_utf8: call =>
    call.deliver(Buffer.from(JSON.stringify(call.reply({ text: 'before ÿ after' })), 'latin1')),

  gzip_callback: call =>
    call.deliver(gzipSync(JSON.stringify(call.reply())), { headers: { 'content-encoding': 'gzip' } }),

  big_header(call) {
    const padding = Array.from({ length: 40 }, (_, index) => [`x-padding-${index}`, 'p'.repeat(1024)]);
    return call.deliver(call.reply(), { headers: Object.fromEntries(padding) });
  },
};
