#!/usr/bin/env node
'use strict';
// CommonJS and tiny: the version is answered before anything else is loaded.
const { version } = require('../package.json');
const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) process.stdout.write(`${version}\n`);
else {
  require('node:module').enableCompileCache?.(); // Node 22 and later
  import('../dist/cli.js').then(({ main }) => main(argv, version));
}
