import * as z from 'zod/mini';

/** Tool → runtime: a question for the user. The call stays pending until the tool sends its result (TOOL-CHOICE). */
export const userChoiceSchema = z
  .object({
    type: z.literal('user_choice'),
    group_id: z.string(),
    id: z.string(),
    call_id: z.nullish(z.string()),
    prompt: z.string(),
    choices: z.array(z.string()).check(z.minLength(1)),
    default: z.int().check(z.nonnegative()),
    response_url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
  })
  .check(({ value, issues }) => {
    if (value.default >= value.choices.length)
      issues.push({
        code: 'custom',
        input: value,
        path: ['default'],
        message: 'is not the index of one of the choices',
      });
  });

export type UserChoice = z.infer<typeof userChoiceSchema>;
