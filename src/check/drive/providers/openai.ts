import { jsonAnswer, MODEL_CANNOT, MODEL_NAME, type Provider } from './api.js';
import { chatCompletions } from './chat-completions.js';
import { responses } from './responses.js';

const MODELS = {
  object: 'list',
  data: [{ id: MODEL_NAME, object: 'model', created: 0, owned_by: 'protocol-cli' }],
};

export const openai: Provider = {
  apis: [chatCompletions, responses],
  fixedEndpoints: [{ method: 'GET', path: '/models', answer: () => jsonAnswer(200, MODELS) }],
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
