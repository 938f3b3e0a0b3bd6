/** Ink looks once, when it is loaded, and draws nothing in CI until its end: to be imported before it. */
for (const name of Object.keys(process.env))
  if (name === 'CI' || name === 'CONTINUOUS_INTEGRATION' || name.startsWith('CI_')) delete process.env[name];
