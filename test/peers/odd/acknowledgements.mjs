/** Operations that are odd in how the invocation itself is answered. */
export const acknowledgements = {
  async before_ack(call) {
    await call.deliver(call.reply());
    call.acknowledge();
  },

  ack_201: call => acknowledgeAndDeliver(call, 201),

  ack_204: call => acknowledgeAndDeliver(call, 204),

  ack_302: call => call.acknowledge(302, { location: '/elsewhere' }),

  ack_400: call =>
    call.acknowledge(
      400,
      { 'content-type': 'application/json' },
      '{"message":"This call is not welcome here."}',
    ),

  ack_404: call => call.acknowledge(404),

  ack_500: call => call.acknowledge(500),

  ack_503_once: call => (call.attempt === 1 ? call.acknowledge(503) : acknowledgeAndDeliver(call, 200)),

  ack_reset: call =>
    call.attempt === 1 ? call.response.socket.resetAndDestroy() : acknowledgeAndDeliver(call, 200),

  ack_hang() {},

  ack_body_endless(call) {
    call.response.writeHead(200);
    const drip = setInterval(() => call.response.write('more '), 50);
    call.response.once('close', () => clearInterval(drip));
    return call.deliver(call.reply());
  },

  ack_gzip: call => acknowledgeAndDeliver(call, 200, { 'content-encoding': 'gzip' }, 'not gzip at all'),

  silent: call => call.acknowledge(),
};

function acknowledgeAndDeliver(call, status, headers, body) {
  call.acknowledge(status, headers, body);
  return call.deliver(call.reply());
}
