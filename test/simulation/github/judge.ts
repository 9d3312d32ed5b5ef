import { COMMENT_MARKER } from '../../../src/app/pr-page/render-comment.ts';
import type { Candidate } from '../../../src/engine/model/candidate.ts';
import { type Entry, isLive } from '../../../src/engine/model/queue.ts';
import type { AlarmRow } from '../../../src/storage/alarms.ts';
import { headlineOf } from '../../../src/words/headlines.ts';
import type { FakeGithub } from '../../fake/github/fake-github.ts';
import type { PullRequest, Repository } from '../../fake/github/model.ts';
import type { Chronicle } from '../chronicle.ts';
import { BRANCH } from '../clients.ts';
import type { GithubCi } from './ci.ts';
import type { GithubConditions } from './conditions.ts';
import { type LineCommit, readLine } from './real-git.ts';

/** The evidence at the end of a run. */
export interface Evidence {
  readonly github: FakeGithub;
  readonly repository: Repository;
  readonly chronicle: Chronicle;
  readonly ci: GithubCi;
  readonly conditions: GithubConditions;
  readonly foreignMoves: number;
  readonly alarms: readonly AlarmRow[];
  /** The first-parent commits of the target branch, oldest first. */
  readonly line: readonly LineCommit[];
}

type Find = (evidence: Evidence) => Promise<string | undefined> | string | undefined;

/** Each returns a sentence about what is broken, or nothing. */
export const IN_THE_END: Readonly<Record<string, Find>> = {
  '1 what lands passed its required checks': findUnproven,
  '1 the target stays green': findRed,
  '2 what is said to have landed is on the target': findNotLanded,
  '4 an entry ends once': findEndedTwice,
  '8 nothing lands twice': findTwice,
  'G20 what GitHub merged for the queue is merged in it': findUnrecorded,
  'what is merged in the queue is over at GitHub': findOpen,
  'refs of ended candidates are gone': findRefs,
  'one comment says how it stands': findWrongComment,
  'no check is left open': findOpenCheck,
  'alarms are about what people did': findFalseAlarm,
  'answers are as GitHub describes them': ({ github }) => github.world.violations[0],
};

/** The last stay of each pull request. */
export function lastStays({ stays }: Chronicle): ReadonlyMap<number, Entry> {
  const last = new Map<number, Entry>();
  for (const { entry } of [...stays.values()].sort((a, b) => a.entry.submission - b.entry.submission))
    last.set(entry.prNumber, entry);
  return last;
}

function landedEntries({ chronicle }: Evidence) {
  return [...chronicle.stays.values()].flatMap(({ entry }) =>
    entry.state === 'MERGED' && entry.landed !== undefined ? [{ entry, landed: entry.landed }] : [],
  );
}

function findUnproven(evidence: Evidence): string | undefined {
  const { chronicle, ci } = evidence;
  for (const { entry, landed } of landedEntries(evidence)) {
    const candidate = chronicle.candidate(landed.candidate);
    const doubt = candidate === undefined ? 'it is gone' : findDoubt(chronicle, ci, candidate);
    if (doubt !== undefined) return `#${entry.prNumber} landed with candidate ${landed.candidate}: ${doubt}`;
  }
  return undefined;
}

function findDoubt(chronicle: Chronicle, ci: GithubCi, candidate: Candidate): string | undefined {
  const { pass, required, commit, members } = candidate;
  if (pass === undefined || required === undefined || commit === undefined) return 'it never passed';
  const lacks = (sha: string | undefined) => {
    const name = required.names.find((each) => sha === undefined || !ci.record.names('passed', sha).includes(each));
    return name && `${name} never passed on ${sha}`;
  };
  switch (pass.by) {
    case 'question':
      return 'only a few tests ran';
    case 'nothing_required':
      return required.names.length === 0 ? undefined : 'checks were required';
    case 'own_run':
      return lacks(commit.sha);
    case 'head_checks':
      return lacks(members[0]?.headSha);
    case 'reused_run': {
      const proof = chronicle.candidate(pass.provenBy);
      if (proof?.commit?.tree !== commit.tree) return 'the run it names was of another tree';
      return lacks(proof.commit.sha);
    }
  }
}

async function findRed(evidence: Evidence): Promise<string | undefined> {
  const { chronicle, ci, conditions } = evidence;
  for (const { entry, landed } of landedEntries(evidence)) {
    const isJudged = landed.kind === 'COMPOSED' ? conditions.isHonest : landed.kind !== 'PREFIX';
    if (!isJudged || landed.kind === 'UNPROVEN') continue;
    for (const name of chronicle.candidate(landed.candidate)?.required?.names ?? []) {
      const wasGreen = await ci.isGreen(landed.base, name);
      if (wasGreen && !(await ci.isGreen(landed.pushedSha, name)))
        return `#${entry.prNumber}: ${name} is red at ${landed.pushedSha}`;
    }
  }
  return undefined;
}

function findNotLanded(evidence: Evidence): string | undefined {
  const { line, foreignMoves } = evidence;
  const onLine = new Map(line.map((commit) => [commit.sha, commit]));
  for (const { entry, landed } of landedEntries(evidence)) {
    const name = `#${entry.prNumber} (${landed.kind})`;
    const commit = onLine.get(landed.pushedSha);
    if (commit === undefined) return `${name} says ${landed.pushedSha}, which is not on ${BRANCH}`;
    if (commit.tree !== landed.pushedTree) return `${name} says another tree than ${commit.sha} has`;
    const isWhole = landed.kind === 'IDENTICAL' || landed.kind === 'SAME_TREE';
    if (isWhole && landed.pushedTree !== landed.testedTree) return `${name} is not what was tested`;
    if (landed.kind === 'IDENTICAL' && landed.pushedSha !== landed.testedSha) return `${name} is another commit`;
    if (landed.kind === 'UNPROVEN' && foreignMoves === 0) return `${name}, and nobody else was there`;
  }
  return undefined;
}

function findEndedTwice({ chronicle }: Evidence): string | undefined {
  const stay = [...chronicle.stays.values()].find(({ endings }) => endings > 1);
  return stay && `#${stay.entry.prNumber} ended ${stay.endings} times`;
}

/** Every commit of the queue on the target branch belongs to one entry. */
function findTwice(evidence: Evidence): string | undefined {
  const byPr = new Map<number, string>();
  for (const { entry, landed } of landedEntries(evidence)) {
    const before = byPr.get(entry.prNumber);
    if (before !== undefined) return `#${entry.prNumber} landed as ${before} and as ${landed.sha}`;
    byPr.set(entry.prNumber, landed.sha);
  }
  const { repository, line } = evidence;
  for (const pr of repository.pulls.values()) {
    const own = line.filter(({ message }) => isOf(message, pr.number));
    if (own.length > 1) return `#${pr.number} is on ${BRANCH} as ${own.map(({ sha }) => sha).join(' and ')}`;
  }
  return undefined;
}

/** The commit titles of GitHub and Sluice. */
function isOf(message: string, number: number): boolean {
  const [title = ''] = message.split('\n');
  return title.endsWith(`(#${number})`) || title.startsWith(`Merge pull request #${number} `);
}

function findUnrecorded({ github, repository, chronicle }: Evidence): string | undefined {
  const last = lastStays(chronicle);
  for (const pr of repository.pulls.values()) {
    const entry = last.get(pr.number);
    if (pr.merged === undefined || pr.baseRef !== BRANCH || entry?.state === 'MERGED') continue;
    // Merging the commits of a test branch merges its draft pull request too.
    if (pr.headRef.startsWith('sluice/')) continue;
    if (pr.merged.by === github.app.bot) return `#${pr.number} was merged by us and is ${entry?.state}`;
    // Before the queue learned about the merge, the entry may have left for another reason.
    const isAboutIt = entry !== undefined && /^(PR_CLOSED$|GITHUB_API_)/.test(entry.because.reason);
    const isLate = entry !== undefined && (isLive(entry.state) || (isAboutIt && entry.stateChangedAt > pr.merged.at));
    if (isLate) return `#${pr.number} was merged by ${pr.merged.by.login}, and is ${entry.state}`;
  }
  return undefined;
}

function findOpen({ repository, chronicle }: Evidence): string | undefined {
  for (const [number, entry] of lastStays(chronicle)) {
    const pr = repository.pulls.get(number);
    if (entry.state === 'MERGED' && pr?.state !== 'closed') return `#${number} is MERGED, and open at GitHub`;
    if (entry.because.reason === 'MANUAL_MERGE' && pr?.merged === undefined) return `#${number} was merged by nobody`;
  }
  return undefined;
}

function findRefs({ github, repository }: Evidence): string | undefined {
  const left = [...github.refs(repository).keys()].filter((ref) => /^refs\/(heads\/)?sluice\//.test(ref));
  return left.length === 0 ? undefined : `${left.join(' ')} left`;
}

function findWrongComment({ github, repository, chronicle }: Evidence): string | undefined {
  for (const [number, entry] of lastStays(chronicle)) {
    const pr = repository.pulls.get(number) as PullRequest;
    const own = pr.comments.filter(({ author, body }) => author === github.app.bot && body.includes(COMMENT_MARKER));
    if (own.length !== 1) return `#${number} has ${own.length} of our comments`;
    const { text } = headlineOf(chronicle.queue, entry);
    if (!own[0]?.body.includes(text)) return `#${number} is ${entry.state}, its comment says: ${own[0]?.body}`;
  }
  return undefined;
}

function findOpenCheck({ github, repository, chronicle }: Evidence): string | undefined {
  const last = lastStays(chronicle);
  const ours = repository.checks.filter(({ suite }) => suite.app === github.app);
  const seen = new Set<string>();
  for (const { externalId, status, suite } of ours) {
    if (seen.has(externalId)) return `${externalId} has two checks`;
    seen.add(externalId);
    const entry = last.get(Number(externalId.split('/')[1]));
    if (status !== 'completed' && (entry === undefined || !isLive(entry.state)))
      return `#${entry?.prNumber} is ${entry?.state}, and its check ${externalId} on ${suite.sha} is ${status}`;
  }
  return undefined;
}

function findFalseAlarm({ alarms, foreignMoves, conditions }: Evidence): string | undefined {
  const reasons = [
    'RED_TARGET',
    ...(foreignMoves > 0 ? ['FOREIGN_PUSH', 'UNPROVEN_LANDING'] : []),
    ...(conditions.isProtected ? [] : ['BROKEN_CONFIGURATION']),
  ];
  const alarm = alarms.find(({ code }) => !reasons.includes(code));
  return alarm && `${alarm.code}: ${alarm.text}`;
}

export function readTarget(repository: Repository): Promise<readonly LineCommit[]> {
  return readLine(repository.gitDir, BRANCH);
}
