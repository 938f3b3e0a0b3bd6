import type { Scenario, ScenarioSession } from '../scenario.js';

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
  query: 'of=a/b%20c&token', // must come back as it is
};

const COLOR: Question = { prompt: 'Which color?', choices: ['red', 'green'], default: 1 };

/** Overrides the direction of text, moves the cursor, hides characters. */
const HOSTILE: Question = {
  prompt: 'Delete \u202Egpj.exe\u202C?\u001B[2J\u001B[H\u0000 \u200BReally?\r\n> yes',
  choices: ['\u001B]0;title\u0007Yes', '\u2066No\u2069', '\u202E\u0008\u0008Later', ''],
  default: 3,
};

/** A tool that asks a question; its result names the choice. */
function asking(operation: string, question: Question): object {
  const results = question.choices.map((label, index) => [
    label,
    { payload: `${operation} got choice ${index}` },
  ]);
  // biome-ignore lint/suspicious/noThenProperty: the word of the file format; never a function
  return { match: { operation }, reply: { choice: question, then: Object.fromEntries(results) } };
}

/** Calls an operation, and waits until the user is asked. */
async function ask(session: ScenarioSession, operation: string, count = 1): Promise<string> {
  const id = session.invoke(operation);
  await session.saw('question', ({ choices }) => choices.length === count);
  return id;
}

const NEEDS = ['question', 'answer'] as const;

const CONSENT = 'https://auth.example/authorize?client_id=mail&state=canary_{{uuid}}';

/** A tool that asks for consent at another server; firing its trigger grants it. */
const MAIL = {
  match: { operation: 'read_mail' },
  reply: {
    oauth: { auth_url: CONSENT },
    granted: { payload: 'you have no mail' },
    refused: { error: { message: 'consent was refused' } },
  },
};

async function consent(session: ScenarioSession): Promise<string> {
  const id = session.invoke('read_mail');
  await session.saw('consent');
  await session.settle(); // after it, a text for the model would have arrived
  return id;
}

/** Questions to the user. */
export const questionScenarios: readonly Scenario[] = [
  {
    name: 'choice',
    title: 'a question that the user answers by index',
    checks: ['RT-CHOICE', 'RT-PENDING'],
    needs: NEEDS,
    servers: [{ fixtures: [asking('deploy', DEPLOY)] }],
    run: async session => {
      const id = await ask(session, 'deploy', 3);
      await session.quiet();
      session.ask({ do: 'answer', choice: 1 });
      await session.result(id);
    },
  },
  {
    name: 'choice-label',
    title: 'a question that the user answers by label',
    checks: ['RT-CHOICE'],
    needs: NEEDS,
    servers: [{ fixtures: [asking('deploy', DEPLOY)] }],
    run: async session => {
      const id = await ask(session, 'deploy', 3);
      session.ask({ do: 'answer', choice: 'production' });
      await session.result(id);
    },
  },
  {
    name: 'choice-dismissed',
    title: 'a question that the user dismisses',
    checks: ['RT-CHOICE'],
    needs: [...NEEDS, 'dismiss'],
    servers: [{ fixtures: [asking('color', COLOR)] }],
    run: async session => {
      const id = await ask(session, 'color', 2);
      session.ask({ do: 'dismiss' });
      await session.result(id);
    },
  },
  {
    name: 'choice-refused',
    title: 'a response_url that answers 500; the result comes anyway',
    checks: ['RT-CHOICE', 'RT-PENDING'],
    needs: NEEDS,
    servers: [{ fixtures: [asking('deploy', DEPLOY)], faults: { choice: { status: 500 } } }],
    run: async session => {
      const id = await ask(session, 'deploy', 3);
      session.ask({ do: 'answer', choice: 2 });
      await session.arrives('choice');
      await session.quiet();
      session.tool.fire();
      await session.result(id);
    },
  },
  {
    name: 'choices-open',
    title: 'two open questions; the oldest is answered first',
    checks: ['RT-CHOICE'],
    needs: NEEDS,
    servers: [{ fixtures: [asking('deploy', DEPLOY), asking('color', COLOR)] }],
    run: async session => {
      const ids = [await ask(session, 'deploy', 3), session.invoke('color')];
      await session.arrives('callback', 3); // the result of ping and both questions; a runtime may show one at a time
      session.ask({ do: 'answer', choice: 2 });
      if (!(await session.arrives('choice'))) return;
      if (!(await session.saw('question', ({ prompt }) => prompt.includes(COLOR.prompt)))) return;
      session.ask({ do: 'answer', choice: 'red' });
      for (const id of ids) await session.result(id);
    },
  },
  {
    name: 'choice-hostile',
    title: 'a question with control characters and invisible characters',
    checks: ['RT-CHOICE'],
    needs: NEEDS,
    servers: [{ fixtures: [asking('remove', HOSTILE)] }],
    run: async session => {
      const id = await ask(session, 'remove', 4);
      session.ask({ do: 'answer', choice: 2 });
      await session.result(id);
    },
  },
  {
    name: 'consent',
    title: 'a consent page that the user must visit, with a secret in its URL',
    checks: ['RT-OAUTH', 'RT-PENDING'],
    servers: [{ fixtures: [MAIL] }],
    run: async session => {
      const id = await consent(session);
      session.tool.fire();
      await session.result(id);
    },
  },
  {
    name: 'consent-canceled',
    title: 'a call that is canceled before the user visits the consent page',
    checks: ['RT-OAUTH'],
    needs: ['cancel'],
    servers: [{ fixtures: [MAIL] }],
    run: async session => {
      await consent(session);
      session.ask({ do: 'cancel' });
      await session.arrives('cancel');
      await session.settle();
    },
  },
];
