import { InvalidArgumentError } from 'commander';
import { parseRate, type Rate } from '../../tool/answers/rate-limit.js';

export function rate(text: string): Rate {
  const parsed = parseRate(text);
  if (!parsed) throw new InvalidArgumentError('A rate is 10/s, 100/m or 5/10s.');
  return parsed;
}
