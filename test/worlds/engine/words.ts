import type { RequiredStatus } from '../../../src/engine/model/check.ts';
import type { PrNumber } from '../../../src/engine/model/pull-request.ts';
import type { EntryState } from '../../../src/engine/model/queue.ts';
import type { QueueSettings } from '../../../src/engine/model/settings.ts';
import { ALL_TARGETS, type ImpactedTargets } from '../../../src/engine/model/targets.ts';
import type { Sha } from '../../../src/lib/sha.ts';

const MINUTE = 60_000;

/** Short names of states for `states`. */
export const STATES: { readonly [name: string]: EntryState } = {
  waiting: 'NOT_READY',
  pending: 'PENDING',
  testing: 'TESTING',
  passed: 'TESTS_PASSED',
  held: 'PENDING_FAILURE',
  merged: 'MERGED',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
};

export function numberOf(word: string): PrNumber {
  return (word.charCodeAt(0) - 64) as PrNumber;
}

export function letter(prNumber: number): string {
  return String.fromCharCode(64 + prNumber);
}

export function suffix(headSha: string): string {
  const count = headSha.split('@')[1];
  return count === '1' ? '' : (count ?? '');
}

export function shaToHistory(sha: string): string[] {
  return sha.replace(/^head:/, '').split('+');
}

export function treeName(parts: readonly string[]): Sha {
  return `tree:${[...parts].sort().join('+')}` as Sha;
}

export function parseTargets(word: string): ImpactedTargets | undefined {
  const match = /\[(.*)\]$/.exec(word);
  if (match === null) return undefined;
  if (match[1] === 'ALL') return ALL_TARGETS;
  const targets = (match[1] ?? '')
    .split(',')
    .filter((target) => target !== '')
    .sort();
  return { kind: 'list', digest: targets.join(), count: targets.length, targets };
}

export function parseSettings(words: readonly string[]): Partial<QueueSettings> {
  return Object.fromEntries(
    words.map((word) => {
      const [name = '', ...rest] = word.split('=');
      const value = rest.join('=');
      try {
        return [name, JSON.parse(value)];
      } catch {
        return [name, value];
      }
    }),
  );
}

/** Accepts `5m`, `2h30m`, `-1h`. */
export function parseDuration(text: string): number {
  const match = /^(-?)(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)ms)?$/.exec(text);
  if (match === null) throw new Error(`${text} is no duration`);
  const [, sign, hours = '0', minutes = '0', rest = '0'] = match;
  const duration = (Number(hours) * 60 + Number(minutes)) * MINUTE + Number(rest);
  return sign === '-' ? -duration : duration;
}

/** Splits `A=x B=y` into pairs. */
export function pairsOf(words: readonly string[]): [string, string][] {
  return words.map((word) => {
    const at = word.indexOf('=');
    return [word.slice(0, at), word.slice(at + 1)];
  });
}

/** `unit@actions`: the check unit, of the app actions. */
export function parseStatus(word: string): RequiredStatus {
  const [name = '', app] = word.split('@');
  return app === undefined ? name : { name, app };
}

export function parseReporter(word: string): { readonly name: string; readonly reporter?: string } {
  const [name = '', reporter] = word.split('@');
  return reporter === undefined ? { name } : { name, reporter };
}

/** The value of `name=value` among the words. */
export function optionOf(words: readonly string[], name: string): string | undefined {
  return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
}
