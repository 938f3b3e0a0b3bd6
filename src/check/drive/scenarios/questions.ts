import type { Scenario } from '../scenario.js';
import type { ScenarioSession } from '../scenario-session.js';
import { on, serving } from './fixtures.js';

interface Question {
  readonly prompt: string;
  readonly choices: readonly string[];
  readonly default: number;
  readonly query?: string;
}

const DEPLOY: Question = {
  prompt: 'Where should it be deployed?',
  choices: ['staging', 'a copy of production', 'production'],
  default: 0,
  query: 'of=a/b%20c&token', // must be sent back unchanged
};

const COLOR: Question = { prompt: 'Which color?', choices: ['red', 'green'], default: 1 };

/** Overrides the direction of text, moves the cursor, hides characters. */
const HOSTILE: Question = {
  prompt: 'Delete \u202Egpj.exe\u202C?\u001B[2J\u001B[H\u0000 \u200BReally?\r\n> yes',
  choices: ['\u001B]0;title\u0007Yes', '\u2066No\u2069', '\u202E\u0008\u0008Later', ''],
  default: 3,
};

/** The operation that asks a question; its result names the choice. */
function asking(operation: string, question: Question, faults?: object): object {
  const results = question.choices.map((label, index) => [
    label,
    { payload: `${operation} got choice ${index}` },
  ]);
  // biome-ignore lint/suspicious/noThenProperty: the word of the file format; never a function
  return on(operation, { choice: question, then: Object.fromEntries(results) }, faults);
}

/** Calls an operation, and waits until the user is asked. */
async function ask(session: ScenarioSession, operation: string, { choices }: Question): Promise<string> {
  const id = session.invoke(operation);
  await session.waitForObservation('question', each => each.choices.length === choices.length);
  return id;
}

const NEEDS = ['question', 'answer'] as const;

/** A scenario with one question and the user's action. */
const answering = (
  name: string,
  title: string,
  question: Question,
  choice: number | string | null,
): Scenario => ({
  name,
  title,
  checks: ['RT-CHOICE'],
  needs: choice === null ? [...NEEDS, 'dismiss'] : NEEDS,
  servers: [serving(asking('decide', question))],
  run: async session => {
    const id = await ask(session, 'decide', question);
    session.instruct(choice === null ? { do: 'dismiss' } : { do: 'answer', choice });
    await session.waitForResult(id);
  },
});

const CONSENT = 'https://auth.example/authorize?client_id=mail&state=canary_{{uuid}}';

/** A tool that asks for consent at another server; firing its trigger grants it. */
const MAIL = on('read_mail', {
  oauth: { auth_url: CONSENT },
  granted: { payload: 'you have no mail' },
  refused: { error: { message: 'consent was refused' } },
});

async function consent(session: ScenarioSession): Promise<string> {
  const id = session.invoke('read_mail');
  await session.waitForObservation('consent');
  await session.settle(); // after it, a text for the model would have arrived
  return id;
}

/** Questions for the user, and requests for consent. */
export const questionScenarios: readonly Scenario[] = [
  {
    name: 'choice',
    title: 'a question that the user answers by index',
    checks: ['RT-CHOICE', 'RT-PENDING'],
    needs: NEEDS,
    servers: [serving(asking('deploy', DEPLOY))],
    run: async session => {
      const id = await ask(session, 'deploy', DEPLOY);
      await session.waitQuietly();
      session.instruct({ do: 'answer', choice: 1 });
      await session.waitForResult(id);
    },
  },
  answering('choice-label', 'a question that the user answers by label', DEPLOY, 'production'),
  answering('choice-dismissed', 'a question that the user dismisses', COLOR, null),
  {
    name: 'choice-refused',
    title: 'a response_url that answers 500; the result comes anyway',
    checks: ['RT-CHOICE', 'RT-PENDING'],
    needs: NEEDS,
    servers: [{ ...serving(asking('deploy', DEPLOY)), faults: { choice: { status: 500 } } }],
    run: async session => {
      const id = await ask(session, 'deploy', DEPLOY);
      session.instruct({ do: 'answer', choice: 2 });
      await session.waitForRequests('choice');
      await session.waitQuietly();
      session.fire('deploy');
      await session.waitForResult(id);
    },
  },
  {
    name: 'choice-repeated',
    title: 'a question that is sent twice, as after a lost answer; so is the result',
    checks: ['RT-DUP'],
    needs: NEEDS,
    servers: [serving(asking('decide', COLOR, { callback: ['duplicate'] }))],
    run: async session => {
      const id = await ask(session, 'decide', COLOR);
      await session.waitForRequests('callback', 3); // that of ping and both questions
      await session.waitQuietly();
      session.instruct({ do: 'answer', choice: 0 });
      await session.waitForResult(id);
      await session.settle();
    },
  },
  {
    name: 'choices-open',
    title: 'two open questions; the oldest is answered first',
    checks: ['RT-CHOICE'],
    needs: NEEDS,
    servers: [serving(asking('deploy', DEPLOY), asking('color', COLOR))],
    run: async session => {
      const ids = [await ask(session, 'deploy', DEPLOY), session.invoke('color')];
      await session.waitForRequests('callback', 3); // the result of ping and both questions; a runtime may show one at a time
      session.instruct({ do: 'answer', choice: 2 });
      if (!(await session.waitForRequests('choice'))) return;
      if (!(await session.waitForObservation('question', ({ prompt }) => prompt.includes(COLOR.prompt))))
        return;
      session.instruct({ do: 'answer', choice: 'red' });
      for (const id of ids) await session.waitForResult(id);
    },
  },
  answering('choice-hostile', 'a question with control characters and invisible characters', HOSTILE, 2),
  {
    name: 'consent',
    title: 'a consent page that the user must visit, with a secret in its URL',
    checks: ['RT-OAUTH', 'RT-PENDING'],
    servers: [serving(MAIL)],
    run: async session => {
      const id = await consent(session);
      session.fire('read_mail');
      await session.waitForResult(id);
    },
  },
  {
    name: 'consent-canceled',
    title: 'a call that is canceled before the user visits the consent page',
    checks: ['RT-OAUTH'],
    needs: ['cancel', 'consent'],
    servers: [serving(MAIL)],
    run: async session => {
      await consent(session);
      await session.cancel();
    },
  },
];
