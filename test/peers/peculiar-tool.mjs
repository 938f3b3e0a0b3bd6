import { serve } from './kit.mjs';
import { peculiarTool } from './tools/peculiar.mjs';

await serve(peculiarTool(process.env));
