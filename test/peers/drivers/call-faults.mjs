/** The faults of `faults.mjs` that concern invocations, their acknowledgements and what follows from them. */
/** As far as the members of an object go, not those of objects in it. */
const firstLevel = ({ properties = {}, ...schema }) => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, { items, ...property }]) => [name, property]),
  ),
});

export const CALL_FAULTS = {
  'RT-OP': {
    'finds-operations-in-any-case': {
      find(operation) {
        const names = this.servers.flatMap(({ toolset }) => toolset?.tools.map(({ name }) => name) ?? []);
        const isSame = name => name.toLowerCase() === operation.toLowerCase();
        return super.find(names.find(isSame) ?? operation);
      },
    },
  },
  'RT-ARGS': {
    'validates-no-argument-within-another': {
      argumentFault(tool, args) {
        return super.argumentFault({ ...tool, inputSchema: firstLevel(tool.inputSchema) }, args);
      },
    },
  },
  'RT-ANCESTORS': {
    'sends-the-thread-among-its-ancestors': {
      invocation(call, args, ancestors) {
        return super.invocation(call, args, ancestors.length > 0 ? [...ancestors, call.thread] : ancestors);
      },
    },
  },
  'RT-NON200': {
    'waits-after-202': {
      isAccepted: status => status === 200 || status === 202,
    },
  },
  'RT-NORETRY': {
    'retries-429': {
      mayRetry(status) {
        return super.mayRetry(status) || status === 429;
      },
    },
  },
  'RT-RETRY': {
    'retries-no-lost-connection': { mayRetry: status => status >= 500 },
  },
  'RT-MIGRATE': {
    'sends-no-session-id': {
      post(url, { session_id, ...body }, limit) {
        return super.post(url, body, limit);
      },
    },
  },
  'RT-DUP': {
    'asks-a-repeated-question-again': {
      isRepeated(call, callback, digest) {
        return callback.type !== 'user_choice' && super.isRepeated(call, callback, digest);
      },
    },
  },
  'RT-SUB': {
    'drops-the-last-event': {
      async onEvent(call, event) {
        if (!event.final || !this.isSubscribed(call)) return super.onEvent(call, event);
        call.state = 'ended';
        return 200;
      },
    },
  },
  'RT-TEXT': {
    'writes-json-anew': {
      modelText(result) {
        const text = super.modelText(result);
        try {
          return JSON.stringify(JSON.parse(text));
        } catch {
          return text;
        }
      },
    },
  },
  'RT-VALIDATE': {
    'takes-null-for-a-text': {
      callbackFault(callback) {
        const isNull = callback?.type === 'tool_result' && callback.text === null;
        return super.callbackFault(isNull ? { ...callback, text: '' } : callback);
      },
      modelText(result) {
        return super.modelText({ ...result, text: result.text ?? '' });
      },
    },
  },
};
