/** A tool in Express, with the idiom of its documentation: `res.sendStatus(200)`, whose body is `OK`. */
import express from 'express';
import { announce, deliver } from './deliver.mjs';
import { toolset } from './operations.mjs';

const app = express();
app.use(express.json());

app.get('/.well-known/rap-toolset', (req, res) => {
  res.json(toolset('express-tool', `http://${req.headers.host}/invoke`));
});

app.post('/invoke', (req, res) => {
  res.sendStatus(200);
  deliver(req.body);
});

app.post(['/close_thread', '/cancel_tool_call'], (_req, res) => {
  res.end();
});

const server = app.listen(0, '127.0.0.1', () => announce(server.address().port));
