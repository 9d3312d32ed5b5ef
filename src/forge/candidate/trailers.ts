import { createHmac, timingSafeEqual } from 'node:crypto';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import { findPullRequestNumber, pullRequestRef } from './pull-request-ref.ts';

/** The trailers on the last commit of every entry. Landing finds entries by them. */
export interface Origin {
  readonly candidateId: string;
  readonly prNumber: PrNumber | undefined;
}

const CANDIDATE = 'Sluice-Candidate';
export const PULL_REQUEST = 'Sluice-Pull-Request';
const PROOF = 'Sluice-Proof';
const OURS = new RegExp(`^(?:${CANDIDATE}|${PULL_REQUEST}|${PROOF}):`, 'i');
const TRAILER = /^[A-Za-z0-9][A-Za-z0-9-]*: /;
const CONTINUATION = /^[ \t]+\S/;

/** With a key, the last trailer proves that the server with this key made the commit. */
export function formatOrigin(origin: Origin, signed?: Signed): readonly string[] {
  const { candidateId, prNumber } = origin;
  const ofPullRequest = prNumber === undefined ? [] : [`${PULL_REQUEST}: ${prNumber}`];
  const proof = signed === undefined ? [] : [`${PROOF}: ${proofOf(origin, signed)}`];
  return [...ofPullRequest, `${CANDIDATE}: ${candidateId}`, ...proof];
}

/** The content of a commit that its proof is for. */
export interface Signed {
  readonly key: Uint8Array;
  readonly parent: Sha;
  readonly tree: Sha;
}

// SPEC L36
function proofOf({ candidateId, prNumber }: Origin, { key, parent, tree }: Signed): string {
  const text = ['a landing', candidateId, prNumber ?? '', parent, tree].join('\n');
  return createHmac('sha256', key).update(text).digest('hex').slice(0, 32);
}

/** The candidate that a commit is of, if its proof is right. */
export function findProvenCandidate(message: Buffer, signed: Signed): string | undefined {
  const origin = findOrigin(message);
  const given = split(message)
    .block.find((line) => line.startsWith(`${PROOF}: `))
    ?.slice(PROOF.length + 2);
  if (origin === undefined || given === undefined) return undefined;
  const expected = Buffer.from(proofOf(origin, signed));
  const isRight = given.length === expected.length && timingSafeEqual(Buffer.from(given, 'latin1'), expected);
  return isRight ? origin.candidateId : undefined;
}

/** Adds these trailers. Older trailers of Sluice are removed: a cherry-picked commit may carry some. */
// SPEC C41
export function withTrailers(message: Buffer, trailers: readonly string[]): Buffer {
  const { body, block } = split(message);
  const kept = block.filter((line) => !OURS.test(line));
  if (trailers.length === 0 && kept.length === block.length) return message;
  const added = trailers.map((line) => Buffer.from(line).toString('latin1'));
  const lines = [...kept, ...added].map((line) => `${line}\n`).join('');
  return Buffer.from([body, lines].filter((part) => part !== '').join('\n'), 'latin1');
}

export function listTrailers(message: Buffer): readonly string[] {
  return split(message).block.map((line) => Buffer.from(line, 'latin1').toString());
}

export function findOrigin(message: Buffer): Origin | undefined {
  const { block } = split(message);
  const find = (name: string) => block.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const candidateId = find(CANDIDATE);
  if (candidateId === undefined) return undefined;
  return { candidateId, prNumber: findPullRequestNumber(pullRequestRef(Number(find(PULL_REQUEST)) as PrNumber)) };
}

/** The last paragraph, unless it is the only one. It is read byte by byte: only ASCII counts as white space. */
function split(message: Buffer): { readonly body: string; readonly block: readonly string[] } {
  const lines = message.toString('latin1').split('\n');
  const end = lines.findLastIndex((line) => !isBlank(line)) + 1;
  const start = lines.slice(0, end).findLastIndex(isBlank) + 1;
  const block = lines.slice(start, end);
  const hasTrailers =
    start > 0 && block.every((line, index) => TRAILER.test(line) || (index > 0 && CONTINUATION.test(line)));
  const body = lines.slice(0, hasTrailers ? start - 1 : end).map((line) => `${line}\n`);
  return { body: body.join(''), block: hasTrailers ? block : [] };
}

function isBlank(line: string): boolean {
  return /^[ \t\r]*$/.test(line);
}
