import { jsonAnswer, MODEL_CANNOT, type Provider } from './api.js';
import { chatCompletions } from './chat-completions.js';
import { responses } from './responses.js';

export const openai: Provider = {
  apis: [chatCompletions, responses],
  cannot: [...MODEL_CANNOT, 'failure'],
  env: url => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'sk-dummy' }),
  error: (status, message, code) =>
    jsonAnswer(status, {
      error: {
        message,
        type: 'invalid_request_error',
        param: null,
        code: code === 'unknown-response' ? 'previous_response_not_found' : null,
      },
    }),
};
