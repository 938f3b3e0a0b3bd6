import { serve } from './kit/http.mjs';
import { plainTool } from './plain/tool.mjs';

await serve(plainTool(process.env));
