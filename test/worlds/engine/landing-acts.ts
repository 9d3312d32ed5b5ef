import { type Candidate, compositionOf } from '../../../src/engine/model/candidate.ts';
import type { LandingStop } from '../../../src/engine/model/event.ts';
import type { ReasonCode } from '../../../src/engine/model/reason.ts';
import { partOf } from './branch.ts';
import type { Scenario } from './scenario.ts';
import { numberOf } from './words.ts';

/** Answers to a held landing. */
export const LANDING_ACTS = { refuse, stop };

/**
 * `refuse moved X`, `refuse A PR_UPDATED_AT_MERGE_TIME`, `refuse A reviewRequired`, `refuse composition`: ends the held
 * landing.
 */
function refuse(told: Scenario, [what = '', detail = '']: readonly string[]): void {
  const { number: candidate } = told.forge.takeLanding();
  const tell = (problem: Parameters<typeof told.forge.refuse>[1]) => told.forge.refuse(candidate, problem);
  if (what === 'moved') tell({ kind: 'target_moved', head: told.branch.put(detail).sha, isDescendant: true });
  else if (what === 'composition') tell({ kind: 'not_composable' });
  else if (detail === 'reviewRequired') tell({ kind: 'review_lost', prNumber: numberOf(what), block: detail });
  else tell({ kind: 'entry_refused', prNumber: numberOf(what), reason: detail as never });
}

/**
 * A merge API stops half-way. `stop AB`: after these, without a reason. `stop A refused B WHY`: the forge refused B.
 * `stop A moved X`: X was pushed outside the queue. `stop A strayed B X`: B was merged onto a pushed X. `stop -`:
 * before anything landed.
 */
function stop(told: Scenario, [names = '', ...why]: readonly string[]): void {
  const candidate = told.forge.takeLanding();
  const base = told.branch.head;
  const entries = [...names.replace('-', '')].map((name) => ({
    prNumber: numberOf(name),
    ...told.branch.put(partIn(candidate, name)),
  }));
  const { sha: pushedSha, tree: pushedTree } = entries.at(-1) ?? told.branch.put();
  const stopped = stopOf(told, candidate, why);
  told.tell({
    kind: 'candidate_landed',
    at: told.now,
    candidate: candidate.number,
    how: 'PREFIX',
    ...{ base, pushedSha, pushedTree, entries },
    ...(stopped === undefined ? {} : { stopped }),
  });
}

function partIn(candidate: Candidate, name: string): string {
  const member = compositionOf(candidate).find(({ prNumber }) => prNumber === numberOf(name));
  return member === undefined ? name : partOf(member);
}

function stopOf({ branch }: Scenario, candidate: Candidate, why: readonly string[]): LandingStop | undefined {
  const [kind, name = '', detail = ''] = why;
  const prNumber = numberOf(name);
  switch (kind) {
    case undefined:
      return undefined;
    case 'refused':
      return { kind: 'entry_refused', prNumber, reason: detail as ReasonCode, detail: 'No.' };
    case 'moved':
      return { kind: 'target_moved', head: branch.put(name).sha, isDescendant: true };
    default: {
      branch.put(detail);
      const { sha, tree } = branch.put(partIn(candidate, name));
      return { kind: 'strayed', prNumber, sha, tree, head: sha, isDescendant: true };
    }
  }
}
