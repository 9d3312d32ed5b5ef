import type { PrNumber } from '../../engine/model/pull-request.ts';

const MAX_PR_NUMBER = 4_294_967_295;
const MAX_TITLE_LENGTH = 1_000;

export function pullRequestRef(number: PrNumber): string {
  return `refs/pull/${number}/head`;
}

/** Undefined for other refs, and for numbers such as `refs/pull/07/head`. */
export function findPullRequestNumber(ref: string): PrNumber | undefined {
  const number = Number(/^refs\/pull\/([1-9]\d{0,9})\/head$/.exec(ref)?.[1]);
  return isPullRequestNumber(number) ? number : undefined;
}

export function isPullRequestNumber(number: number): number is PrNumber {
  return Number.isInteger(number) && number >= 1 && number <= MAX_PR_NUMBER;
}

export function printable(text: string): string {
  return text
    .slice(0, MAX_TITLE_LENGTH)
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
}
