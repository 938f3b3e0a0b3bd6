import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LATE_UNDER_LOAD } from '../late-under-load.mjs';
import { go, java, node, pinnedVersion, python, rust } from './kits.mjs';

/** Tools in the frameworks that people write them in, each with its defaults, checked and invoked as their authors would. */

const PROGRAM = fileURLToPath(new URL('../../../bin/protocol-cli.cjs', import.meta.url));
const GUIDE = fileURLToPath(new URL('../../../src/guides/peers.md', import.meta.url));

const ROWS = [
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

export const TOOLS = ROWS.map(row => ({ name: row.name, kit: row.kit, run: () => checkTool(row) }));

/** The verdict of `check` is the expected one, and a call shows what the human and the LLM get. */
async function checkTool({ start, failed = {}, warnings = {} }) {
  const folder = await mkdtemp(join(tmpdir(), 'protocol-cli-peers-'));
  try {
    const file = join(folder, 'report.json');
    const reports = ['--reporter', 'human', '--reporter', `json:${file}`];
    const { stdout, stderr } = await program([
      'check',
      '--command',
      start,
      '--ready-timeout',
      '2m',
      ...reports,
    ]);
    const { checks } = JSON.parse(
      await readFile(file, 'utf8').catch(() => Promise.reject(new Error(stdout + stderr))),
    );
    const ids = wanted =>
      checks
        .filter(({ status, reason }) => status === wanted && !LATE_UNDER_LOAD.test(reason ?? ''))
        .map(({ id }) => id)
        .sort();
    const found = { failed: ids('fail'), warnings: ids('warn'), couldNotRun: ids('could-not-run') };
    const expected = {
      failed: Object.keys(failed).sort(),
      warnings: Object.keys(warnings).sort(),
      couldNotRun: [],
    };
    assert.deepEqual(found, expected, `unexpected verdict\n${stdout}${stderr}`);
  } finally {
    await rm(folder, { recursive: true });
  }
  const call = [
    'invoke',
    '--command',
    start,
    '--ready-timeout',
    '2m',
    'preview_edit',
    'path=src/main.rs',
    '-o',
    'text',
  ];
  assert.equal((await program(call)).stdout, 'Would replace line 1 of src/main.rs');
}

function program(args) {
  return new Promise(resolve => {
    execFile(
      process.execPath,
      [PROGRAM, ...args],
      { maxBuffer: 64 * 1024 * 1024 },
      (_error, stdout, stderr) => resolve({ stdout, stderr }),
    );
  });
}

export async function updateGuide() {
  await writeFile(GUIDE, await guideText());
}

/** The guide `peers` with the table of the expected verdicts. */
export async function guideText() {
  const rows = await Promise.all(
    ROWS.map(async ({ name, version: [manifest, pin], failed = {}, warnings = {} }) => {
      const broken = Object.entries({ ...failed, ...warnings }).map(([id, advice]) => `${id}: ${advice}`);
      const verdict = verdictOf(failed, warnings);
      return `| ${name} | ${await pinnedVersion(manifest, pin)} | ${verdict} | ${broken.join('; ') || '–'} |`;
    }),
  );
  const table = [
    '| framework | version | verdict | what its default breaks, and what to set |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
  const [start, end] = ['<!-- tools:start -->\n', '<!-- tools:end -->'];
  const text = await readFile(GUIDE, 'utf8');
  const [before, rest = ''] = text.split(start);
  const [, after = ''] = rest.split(end);
  return `${before}${start}\n${table}\n\n${end}${after}`;
}

function verdictOf(failed, warnings) {
  if (Object.keys(failed).length > 0) return 'failed';
  return Object.keys(warnings).length > 0 ? 'passed, with warnings' : 'passed';
}
