import type { CallEvidence } from '../call.js';
import { answeredOther, broken, defineRules, doubtful, held, type Observed, scant } from '../rule.js';

/** What a runtime does with the results of a tool. */
export const runtimeResultRules = defineRules({
  'RT-VALIDATE': {
    level: 'MUST',
    statement: 'validates every callback against its schema; answers an invalid one with 4xx and ignores it',
    advice: 'Validate a callback before you use it, and answer an invalid one with 400.',
    absent: 'no callback came',
    observe: ({ calls, strays }) => {
      const callbacks = [...calls.flatMap(call => call.callbacks), ...strays];
      const invalid = callbacks.filter(({ reading, status }) => reading?.ok === false && status !== null);
      if (invalid.length === 0 && callbacks.length > 0) return scant('every callback matched its schema', []);
      return invalid.map(callback => {
        const { reading, status, isRefused } = callback;
        if (isRefused || reading?.ok !== false) return held(callback);
        const what = `a callback that does not match its schema was answered ${status}: ${reading.faults[0]}`;
        return broken(what, callback, answeredOther(callback, '4xx'));
      });
    },
  },
  'RT-MATCH': {
    level: 'MUST',
    statement: 'logs and discards a result that matches no pending call',
    advice:
      'Compare group_id and id with the pending calls; answer 404 if none matches, and do not inform the model.',
    resultPage: 'It MUST NOT inject unmatched results into any conversation.',
    absent: 'no result came with ids that match no pending call',
    observe: ({ calls }) => calls.map(onUnmatched),
  },
  'RT-SANITIZE': {
    level: 'SHOULD',
    statement: 'validates text before it passes it to the model',
    advice: 'Check text for control characters and invisible characters before you pass it to the model.',
    resultPage:
      'Runtimes SHOULD also validate the text content before passing it to the LLM — while the LLM is generally resilient to unexpected input, sanitization reduces the risk of prompt injection through tool results.',
    unobservable: 'not visible in HTTP traffic: it happens before the text goes to the model',
  },
  'RT-DUP': {
    level: 'SHOULD',
    statement: 'processes a duplicate delivery once and answers it with 200',
    advice: 'Remember which results were processed, and answer duplicates with 200.',
    resultPage:
      'Runtimes SHOULD implement idempotent result processing to handle duplicate deliveries gracefully, since network retries may cause the same result to arrive more than once.',
    absent: 'no delivery came twice',
    observe: ({ calls }) => calls.map(onDuplicates),
  },
  'RT-TEXT': {
    level: 'MUST',
    statement: 'gives the model text or content in full and unchanged, independent of display_as',
    advice: 'Give the model text or content unchanged; display_as is only for people.',
    resultPage:
      "When display_as is present, the runtime MUST still pass the full text value to the LLM as the tool's response.",
    unobservable: 'not visible in HTTP traffic: it concerns what the model gets',
  },
  'RT-DISPLAY': {
    level: 'SHOULD',
    statement: 'shows the user the first supported display segment, else text',
    advice: 'Show the first segment of display_as that you support, else text.',
    resultPage:
      'Runtimes SHOULD iterate the display_as array and render the first segment whose type they support.',
    unobservable: 'not visible in HTTP traffic: it concerns what the user sees',
  },
  'RT-SERIAL': {
    level: 'MUST',
    statement: 'handles messages of one thread in order, and threads in parallel',
    advice: 'Queue the messages of a thread, and handle them one after another.',
    unobservable: 'not visible in HTTP traffic: it concerns work after the answer',
  },
});

/** A forged result that was answered 2xx may have been discarded, unless it took the place of the real one. */
function onUnmatched({ callbacks }: CallEvidence): Observed {
  const unmatched = callbacks.filter(
    ({ verdict, response, message }) =>
      verdict?.kind === 'discarded' && response !== null && message?.type !== 'subscription_event',
  );
  const real = callbacks.find(({ verdict, isRefused }) => verdict?.kind === 'settles' && isRefused);
  return unmatched.map(forged => {
    if (forged.isRefused) return held(forged);
    return real
      ? broken("was accepted as the call's result, and the real result was then refused", [forged, real])
      : doubtful('was accepted; the transcript does not show whether it was discarded', forged);
  });
}

/** A callback that was not accepted can have no duplicates. */
function onDuplicates({ callbacks }: CallEvidence): Observed {
  const accepted = new Set<string | null>();
  return callbacks.map(callback => {
    const { fingerprint, status, verdict } = callback;
    const isRepeated =
      accepted.has(fingerprint) && verdict?.kind === 'duplicate' && verdict.identical && status !== null;
    if (status !== null && status >= 200 && status < 300) accepted.add(fingerprint);
    if (!isRepeated) return null;
    if (status === 200) return held(callback);
    const what = `a delivery that came again was answered ${status}`;
    return broken(what, callback, answeredOther(callback));
  });
}
