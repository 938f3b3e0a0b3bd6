/** A driver of our own library as users get it: `connect` for each tool server. It cannot cancel or migrate. */
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { connect, llmTextOf } from '../../../dist/index.js';

/** Observations made of the callbacks of a call that do not end it. */
const NOTED = {
  oauth: id => ({ saw: 'consent', id }),
  subscription_event: (id, { text }) => ({ saw: 'model', id, text }),
  view_update: (_, { view_type, content }) => ({ saw: 'view', view_type, content }),
};

/** Runs the driver in this process; resolves when it has ended. */
export async function runConnect({ input, output, env }) {
  const say = observation => void output.write(`${JSON.stringify(observation)}\n`);
  const note = error => void process.stderr.write(`${error.message}\n`);
  say({ cannot: ['cancel', 'migrate', 'human'] });
  const questions = [];

  const groupId = `thread_${randomUUID()}`;
  const open = async url => {
    const connection = await connect(url, {
      groupId,
      onEvent(event) {
        const [id] = event.calls ?? [];
        if (event.kind !== 'response' || id === undefined) return;
        const arrival = connection.history.exchanges
          .get(id)
          ?.arrivals.findLast(({ leg }) => leg === event.leg);
        const isNew = arrival?.verdict.kind === 'noted' || arrival?.verdict.kind === 'holds';
        if (isNew && arrival.message.type in NOTED) say(NOTED[arrival.message.type](id, arrival.message));
      },
    });
    return connection;
  };
  const opened = await Promise.allSettled(JSON.parse(env.TOOL_URLS).map(open));
  for (const { reason } of opened) if (reason) note(reason);
  const connections = opened.flatMap(({ value }) => value ?? []);

  const invoke = async ({ operation, arguments: args, id }) => {
    const offers = connections.filter(({ toolset }) => toolset.tools.some(({ name }) => name === operation));
    if (offers.length !== 1) throw new Error(`unknown operation ${operation}`);
    const choose = ({ prompt, choices, default: byDefault }) => {
      say({ saw: 'question', id, prompt, choices });
      return new Promise(answer => questions.push({ choices, byDefault, answer }));
    };
    const exchange = await offers[0].invoke(operation, args, { id, choose });
    const saw = exchange.settled?.by === 'result' ? 'model' : 'failure';
    say({ saw, id, text: llmTextOf(exchange) ?? '' });
  };
  const fail = (id, { message, faults = [] }) =>
    say({ saw: 'failure', id, text: ['Error:', message, ...faults].join(' ') });

  const perform = {
    invoke: instruction => invoke(instruction).catch(error => fail(instruction.id, error)),
    answer({ choice }) {
      const question = questions.shift();
      question?.answer(typeof choice === 'number' ? choice : question.choices.indexOf(choice));
    },
    dismiss() {
      const question = questions.shift();
      question?.answer(question.byDefault);
    },
  };
  for await (const line of createInterface({ input })) {
    const instruction = JSON.parse(line);
    if (instruction.do === 'end') break;
    perform[instruction.do]?.(instruction);
  }
  await Promise.all(connections.map(connection => connection.close().catch(note)));
}
