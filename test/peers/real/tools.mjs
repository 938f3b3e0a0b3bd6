import assert from 'node:assert/strict';
import { go, java, node, python, rust } from './kits.mjs';
import { expectVerdict, runProgram } from './verdict.mjs';

/** Tools in the frameworks that people write them in, each with its defaults. */
export const TOOLS = [
  {
    name: 'Flask',
    kit: 'python',
    start: python('flask_tool.py'),
    version: ['python/requirements.txt', 'flask'],
    warnings: {
      'TOOL-MALFORMED':
        '`request.get_json()` answers 400 or 415: call it with `force=True, silent=True`, and answer 200 to None',
    },
  },
  {
    name: 'aiohttp',
    kit: 'python',
    start: python('aiohttp_tool.py'),
    version: ['python/requirements.txt', 'aiohttp'],
    warnings: {
      'TOOL-MALFORMED': 'an exception of `request.json()` becomes a 500: catch it, and answer 200',
    },
  },
  {
    name: 'FastAPI',
    kit: 'python',
    start: python('fastapi_tool.py'),
    version: ['python/requirements.txt', 'fastapi'],
    warnings: {
      'TOOL-MALFORMED':
        'the model of the body answers 422: an `exception_handler(RequestValidationError)` that answers 200',
    },
  },
  {
    name: 'Django',
    kit: 'python',
    start: python('django_tool.py'),
    version: ['python/requirements.txt', 'django'],
    warnings: { 'TOOL-MALFORMED': 'answer 200 where `json.loads` raises' },
  },
  {
    name: 'Go net/http',
    kit: 'go',
    start: go('nethttp'),
    version: ['go/go.mod', 'go '],
    warnings: { 'TOOL-MALFORMED': 'answer 200 where `Decode` returns an error' },
  },
  {
    name: 'Go net/http, DisallowUnknownFields',
    kit: 'go',
    start: `STRICT=1 ${go('nethttp')}`,
    version: ['go/go.mod', 'go '],
    warnings: {
      'TOOL-MALFORMED': 'answer 200 where `Decode` returns an error',
      'TOOL-EXTRA': 'do not call `DisallowUnknownFields`',
    },
  },
  {
    name: 'Gin',
    kit: 'go',
    start: go('gin'),
    version: ['go/go.mod', 'github.com/gin-gonic/gin'],
    warnings: {
      'TOOL-MALFORMED': 'answer 200 where `ShouldBindJSON` returns an error (`BindJSON` answers 400 itself)',
    },
  },
  {
    name: 'Fiber',
    kit: 'go',
    start: go('fiber'),
    version: ['go/go.mod', 'github.com/gofiber/fiber/v3 '],
    warnings: { 'TOOL-MALFORMED': 'answer 200 where `Bind().JSON` returns an error' },
  },
  {
    name: 'Express',
    kit: 'node',
    start: node('express.mjs'),
    version: ['node/package.json', 'express'],
    warnings: {
      'TOOL-MALFORMED':
        '`express.json()` answers 400: an error handler `(error, req, res, next)` that answers 200',
    },
  },
  {
    name: 'Fastify',
    kit: 'node',
    start: node('fastify.mjs'),
    version: ['node/package.json', 'fastify'],
    warnings: { 'TOOL-MALFORMED': 'its parser answers 400: a `setErrorHandler` that answers 200' },
  },
  {
    name: 'Hono',
    kit: 'node',
    start: node('hono.mjs'),
    version: ['node/package.json', 'hono'],
    warnings: { 'TOOL-MALFORMED': 'an exception of `c.req.json()` becomes a 500: catch it, and answer 200' },
  },
  {
    name: 'NestJS',
    kit: 'node',
    start: node('nest.mjs'),
    version: ['node/package.json', '@nestjs/core'],
    warnings: { 'TOOL-MALFORMED': 'its parser answers 400: an exception filter that answers 200' },
  },
  {
    name: 'axum',
    kit: 'rust',
    start: rust('axum-tool'),
    version: ['rust/axum-tool/Cargo.toml', 'axum'],
    warnings: {
      'TOOL-MALFORMED':
        '`Json` answers 400, 415 or 422: take `Result<Json<T>, JsonRejection>`, and answer 200',
    },
  },
  {
    name: 'Spring Boot',
    kit: 'java',
    start: java('spring', 'spring.SpringTool'),
    version: ['java/pom.xml', 'spring.version'],
    warnings: {
      'TOOL-MALFORMED':
        '`@RequestBody` answers 400: an `@ExceptionHandler(HttpMessageNotReadableException.class)` that answers 200',
    },
  },
  {
    name: 'Javalin',
    kit: 'java',
    start: java('javalin', 'javalin.JavalinTool'),
    version: ['java/pom.xml', 'javalin.version'],
    warnings: {
      'TOOL-MALFORMED':
        'an exception of `bodyAsClass` becomes a 500: an `exception` handler that answers 200',
      'TOOL-EXTRA':
        'Jackson refuses unknown members: a `JavalinJackson` with `FAIL_ON_UNKNOWN_PROPERTIES` off',
    },
  },
];

/** The verdict of `check` is the expected one, and a call shows what the LLM gets. */
export async function tryTool({ start, failed, warnings }) {
  const server = ['--command', start, '--ready-timeout', '2m'];
  await expectVerdict(server, { failed, warnings });
  const call = await runProgram(['invoke', ...server, 'preview_edit', 'path=src/main.rs', '-o', 'text']);
  assert.equal(call.stdout, 'Would replace line 1 of src/main.rs');
}
