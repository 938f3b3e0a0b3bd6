#!/usr/bin/env node
'use strict';
// CommonJS and tiny: the version is answered, and an old Node refused, before anything else is loaded.
const { version, engines } = require('../package.json');
const argv = process.argv.slice(2);
const needed = engines.node.replace('>=', '');
const compare = (have, want) => have[0] - want[0] || have[1] - want[1];
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) process.stdout.write(`${version}\n`);
else if (compare(process.versions.node.split('.'), needed.split('.')) < 0) {
  const { node } = process.versions;
  process.stderr.write(
    `error: protocol-cli needs Node.js ${needed} or newer; this is ${node}\nhint: Install a newer Node.js from https://nodejs.org.\n`,
  );
  process.exitCode = 2;
} else {
  require('node:module').enableCompileCache?.(); // Node 22 and later
  import('../dist/cli.js').then(({ main }) => main(argv, version));
}
