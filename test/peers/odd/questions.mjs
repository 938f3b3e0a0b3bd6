import { setTimeout as sleep } from 'node:timers/promises';

const CHOICES = ['Yes', 'No'];

/** Operations that are odd in what they ask of the user. */
export const questions = {
  /** Nothing listens on port 9. */
  choice_dead: call => call.deliver(choice(call, { response_url: 'http://127.0.0.1:9/choice' })),

  async choice_lost(call) {
    await call.deliver(choice(call, { response_url: `${call.origin}/nowhere` }));
    await sleep(400);
    await call.deliver(call.reply({ text: 'Error: no one answered. Ask the user and call again.' }));
  },

  choice_link_local: call => call.deliver(choice(call, { response_url: 'http://169.254.169.254/choice' })),

  async choice_bad_default(call) {
    await call.deliver(choice(call, { default: CHOICES.length, response_url: `${call.origin}/nowhere` }));
    await call.deliver(call.reply());
  },

  async consent_in_the_open(call) {
    await call.deliver(
      call.reply({ type: 'oauth', text: undefined, auth_url: 'http://auth.example.com/authorize?state=s1' }),
    );
    await call.deliver(call.reply());
  },
};

function choice(call, fields) {
  const question = { type: 'user_choice', prompt: 'Go on?', choices: CHOICES, default: 1 };
  return call.reply({ ...question, text: undefined, ...fields });
}
