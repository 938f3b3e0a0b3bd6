import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { FLOWS } from './flows.mjs';

const BIN = fileURLToPath(new URL('../../bin/protocol-cli.cjs', import.meta.url));
const FIXTURES = fileURLToPath(new URL('../e2e/flows/fixtures.yaml', import.meta.url));
const TARGET = fileURLToPath(new URL('../../fixtures/transcripts/', import.meta.url));
/** Always the same, so that a new recording differs in little but its times. */
const TOOL_PORT = '4310';
const CALLBACK_PORT = '4311';

/** Records `fixtures/transcripts` anew, each from a real run against `mock-tool`; with names: these only. */
const names = process.argv.slice(2);
await mkdir(TARGET, { recursive: true });
const tool = start('mock-tool', FIXTURES, '--port', TOOL_PORT, '--seed', 'transcripts', '-q');
await once(createInterface(tool.stdout), 'line');
for (const name of names.length > 0 ? names : Object.keys(FLOWS)) await record(name, FLOWS[name]);
tool.kill();

async function record(name, { args, after, person }) {
  const file = join(TARGET, `${name}.ndjson`);
  await rm(file, { force: true });
  const ids = ['--id', `call_${name}`, '--group-id', `thread_${name}`, '--callback-port', CALLBACK_PORT];
  const call = start('invoke', `:${TOOL_PORT}`, ...args, ...ids, '-o', 'plain', '--save', file);
  if (after) await person(await said(call, after), call);
  await once(call, 'close');
  await chmod(file, 0o644); // it is meant to be shared
  process.stdout.write(`${name}: exit ${call.exitCode}\n`);
}

function start(...args) {
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  return child;
}

/** The first group of what was waited for, on stdout or stderr. */
function said({ stdout, stderr }, what) {
  let text = '';
  return new Promise(resolve => {
    for (const stream of [stdout, stderr])
      stream.on('data', chunk => {
        text += chunk;
        const found = what.exec(text);
        if (found) resolve(found[1]);
      });
  });
}
