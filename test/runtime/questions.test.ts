import { describe, expect, test } from 'vitest';
import { type Answering, answerQuestions } from '../../src/runtime/runtime.js';
import { type Clock, systemClock } from '../../src/system/clock.js';
import { eventually } from '../e2e/support/eventually.js';
import { startTool } from '../e2e/support/own-tool.js';
import {
  acknowledged,
  arrives,
  CHOICE,
  call,
  INVOCATION,
  KEY,
  type Moment,
  resultArrives,
  timedOut,
  VIEW,
} from '../events/build.js';
import { fakeClock } from '../support/fake-clock.js';
import { leaks } from '../support/leaks.js';
import { startServing } from '../support/serving.js';
import { openWires } from './open-wires.js';

/** A call with a tool that accepts selections, and a user who answers when asked. */
async function asking(clock: Clock = systemClock) {
  const tool = await startTool({});
  const wires = openWires();
  const warnings: string[] = [];
  wires.log.subscribe(event => event.kind === 'warned' && warnings.push(event.message));
  const asked: {
    prompt: string;
    signal: AbortSignal;
    answer: (index: number | null) => void;
    fail: (error: Error) => void;
  }[] = [];
  const select: Answering['select'] = ({ prompt }, signal) =>
    new Promise((answer, fail) => asked.push({ prompt, signal, answer, fail }));
  const stop = answerQuestions(wires.wireTo(), wires.history, INVOCATION, { by: 'person', select }, clock);
  return {
    asked,
    stop,
    question: { ...CHOICE, response_url: `${tool.url}/choice` },
    sent: () => tool.received.map(({ raw }) => raw),
    tell: (...parts: readonly (readonly Moment[])[]) => {
      for (const fact of parts.flat()) wires.log.emit(fact);
    },
    exchange: () => wires.history.exchanges.get(KEY),
    warnings: () => warnings,
    untracked: () => wires.history.untracked.values(),
    async [Symbol.asyncDispose]() {
      await wires[Symbol.asyncDispose]();
      await tool[Symbol.asyncDispose]();
    },
  };
}

describe('a user who answers questions', () => {
  test('RT-CHOICE: is asked when the question arrives, and the selection is sent', async () => {
    await using run = await asking();
    run.tell(call(), acknowledged(), arrives(run.question));
    expect(run.asked.map(({ prompt }) => prompt)).toEqual(['Where to?']);
    run.asked[0]?.answer(1);
    await eventually('the selection is sent', () => run.sent().length === 1);
    expect(run.sent()).toEqual([JSON.stringify({ id: KEY, selected: 1 })]);
    expect(run.exchange()?.waitingFor).toBeNull();
  });

  test('answers the question that was shown, even if another one is older', async () => {
    await using run = await asking();
    run.tell(call(), acknowledged(), arrives(run.question, { leg: 'where' }));
    run.tell(arrives({ ...run.question, prompt: 'And when?' }, { leg: 'when' }));
    run.asked[1]?.answer(1);
    await eventually('the selection is sent', () => run.sent().length === 1);
    expect(run.exchange()?.selections).toMatchObject([{ selected: 1, question: 'when' }]);
    expect(run.exchange()?.waitingFor).toMatchObject({ prompt: 'Where to?' });
  });

  test('is asked once, even if the question is repeated and views arrive meanwhile', async () => {
    await using run = await asking();
    run.tell(call(), acknowledged(), arrives(run.question));
    run.tell(arrives(run.question, { leg: 'again' }), arrives(VIEW, { leg: 'view' }));
    expect(run.asked).toHaveLength(1);
  });

  test('is asked even if another event arrives before the question was answered with 200', async () => {
    await using run = await asking();
    const [request = [], response = []] = arrives(run.question).map(moment => [moment]);
    run.tell(call(), acknowledged(), request, arrives(VIEW, { leg: 'view' }), response);
    expect(run.asked).toHaveLength(1);
  });

  test.each([
    ['the result arrives', resultArrives({}, { leg: 'result' })],
    ['the call timed out', timedOut()],
  ])('is no longer asked once %s, and nothing is sent', async (_, end) => {
    await using run = await asking();
    run.tell(call(), acknowledged(), arrives(run.question));
    expect(run.asked[0]?.signal.aborted).toBe(false);
    run.tell(end);
    expect(run.asked[0]?.signal.aborted).toBe(true);
    run.asked[0]?.answer(0);
    await new Promise(setImmediate);
    expect(run.sent()).toEqual([]);
  });

  test('may leave many questions open without a listener warning from Node', async () => {
    await using run = await asking();
    using leaking = leaks();
    run.tell(call(), acknowledged());
    for (let count = 0; count < 12; count++)
      run.tell(arrives({ ...run.question, prompt: `${count}?` }, { leg: `${count}` }));
    for (const { signal } of run.asked) signal.addEventListener('abort', () => {});
    expect(run.asked).toHaveLength(12);
    expect(await leaking.warnings()).toEqual([]);
  });

  test('the call waits until the selection has arrived', async () => {
    await using run = await asking();
    run.tell(call(), acknowledged(), arrives(run.question));
    run.asked[0]?.answer(1);
    await new Promise(setImmediate);
    run.tell(resultArrives({}, { leg: 'result' }));
    await run.stop();
    expect(run.sent()).toEqual([JSON.stringify({ id: KEY, selected: 1 })]);
    expect([...run.untracked()]).toMatchObject([{ purpose: 'choice', status: 200 }]);
  });

  test('the call ends soon if the tool never answers the selection', async () => {
    await using hanging = await startServing(() => {});
    const clock = fakeClock();
    await using run = await asking(clock);
    run.tell(call(), acknowledged(), arrives({ ...run.question, response_url: hanging.url }));
    run.asked[0]?.answer(1);
    await eventually('the selection is sent', () => hanging.requests.length === 1);
    run.tell(resultArrives({}, { leg: 'result' }));
    const stopped = run.stop();
    clock.advance(1_000);
    await stopped;
    expect([...run.untracked()]).toMatchObject([{ purpose: 'choice', broken: 'ABORTED' }]);
  });

  test('a failure to answer is reported, and nothing is sent', async () => {
    await using run = await asking();
    run.tell(call(), acknowledged(), arrives(run.question));
    run.asked[0]?.fail(new Error('out to lunch'));
    await eventually('it is said', () => run.warnings().length === 1);
    expect(run.warnings()).toEqual(["the tool's question was not answered: out to lunch"]);
    expect(run.sent()).toEqual([]);
  });

  test('is no longer asked once the call is left', async () => {
    await using run = await asking();
    run.tell(call(), acknowledged(), arrives(run.question));
    run.stop();
    expect(run.asked[0]?.signal.aborted).toBe(true);
    run.tell(arrives({ ...run.question, prompt: 'And now?' }, { leg: 'next' }));
    expect(run.asked).toHaveLength(1);
  });
});
