import { REDACTED } from '../../text/redact.js';
import { hasControls } from './controls.js';
import { asJson, checkDepth } from './json-value.js';
import type { Rules } from './rules.js';
import type { Secrets } from './secrets.js';

/**
 * Looks a value through, adds its secrets to `secrets`, and says whether it could stay as it is, were it not for those.
 * @throws RangeError where it is nested too deep.
 */
export function survey(value: unknown, rules: Rules, secrets: Secrets): boolean {
  const tour = new Tour(rules, secrets);
  tour.visit(value, false, 0);
  return tour.isClean;
}

class Tour {
  isClean = true;

  constructor(
    private readonly rules: Rules,
    private readonly secrets: Secrets,
  ) {}

  visit(value: unknown, isSecret: boolean, depth: number): void {
    if (typeof value === 'string') this.#text(value, isSecret);
    else if (typeof value === 'number' && isSecret) this.secrets.add(String(value));
    else if (typeof value === 'object' && value !== null) this.#inside(value, isSecret, depth + 1);
  }

  #text(text: string, isSecret: boolean): void {
    if (isSecret) this.secrets.add(text);
    else this.#note(text);
  }

  #inside(holder: object, isSecret: boolean, depth: number): void {
    checkDepth(depth);
    const value = asJson(holder);
    if (value !== holder) this.visit(value, isSecret, depth);
    else if (Array.isArray(value)) for (const each of value) this.visit(each, isSecret, depth);
    else
      for (const [key, member] of Object.entries(holder)) {
        const isSecretKey = this.rules.isSecret(key);
        this.#note(key);
        if (isSecretKey && member !== REDACTED) this.isClean = false;
        this.visit(member, isSecret || isSecretKey, depth);
      }
  }

  #note(text: string): void {
    if (this.isClean && this.rules.sanitize && hasControls(text)) this.isClean = false;
  }
}
