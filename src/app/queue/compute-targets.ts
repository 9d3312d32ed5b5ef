import type { AllCause } from '../../engine/model/targets.ts';
import type { Forge } from '../../forge/forge.ts';
import { CONFIGURATION, type Lanes, MANIFESTS, type Placed, type Problem } from '../../lanes/lanes.ts';
import { Fault } from '../../lib/fault.ts';
import { isSame } from '../../lib/is-same.ts';
import { memo } from '../../lib/memo.ts';
import { Remembered } from '../../lib/remembered.ts';
import type { Sha } from '../../lib/sha.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { getForge, toForgeRepository } from '../core/find-queue.ts';

/** Rules and packages at one commit. Undefined: it has no rules. */
type LanesAt = Lanes | Problem | undefined;

/** Commits do not change, so the oldest answers make room and none becomes stale. */
const KEPT_COMMITS = 64;
const lanesKnownTo = memo((_app: App) => new Remembered<LanesAt>({ capacity: KEPT_COMMITS }));

interface Place {
  readonly repository: Repository;
  readonly base: Sha;
}

/** The targets of a head by the rules of the base. Undefined: the base has no rules. A forge that is away faults. */
// SPEC T10, T13
export async function computeTargets(
  app: App,
  place: Place,
  { head, shown }: { readonly head: Sha; readonly shown: number },
): Promise<Placed | undefined> {
  const lanes = await lanesAt(app, place);
  if (lanes === undefined) return undefined;
  if ('problem' in lanes) return everything({ code: 'PROBLEM', name: lanes.problem });
  const repository = toForgeRepository(place.repository);
  const forge = getForge(app, repository.host);
  const changes = await forge.listChangedFiles?.({ repository, base: place.base, head });
  if (changes?.kind !== 'changed') {
    return everything({ code: 'PROBLEM', name: NO_CHANGES[changes?.kind ?? 'lost'] });
  }
  const placed = await onThread(() => app.lanes.place({ lanes, paths: changes.paths, shown }));
  return 'problem' in placed ? everything({ code: 'PROBLEM', name: placed.problem }) : placed;
}

const NO_CHANGES = {
  lost: 'The repository does not have its commits any more.',
  unrelated: 'It shares no commit with the target branch.',
  too_many: 'It changes more than 100,000 files.',
};

function everything(all: AllCause): Placed {
  return { all, targets: [], fileCount: 0, files: [], dependents: [] };
}

/** Whether the new head has other rules or packages than the old one. A rewritten branch counts as changed. */
// SPEC T15
export async function haveLanesChanged(
  app: App,
  repository: Repository,
  { from, to }: { readonly from: Sha; readonly to: Sha },
): Promise<boolean> {
  const before = await lanesAt(app, { repository, base: from }).catch(() => LOST);
  if (before === LOST) return true;
  const place = toForgeRepository(repository);
  const forge = getForge(app, place.host);
  if (!(await forge.isAncestor({ repository: place, ancestor: from, descendant: to }))) return true;
  const changes = await forge.listChangedFiles?.({ repository: place, base: from, head: to });
  const readsWorkspaces = before !== undefined && needsManifests(before);
  const isTouched =
    changes?.kind !== 'changed' ||
    changes.paths.some((path) => path === CONFIGURATION || (readsWorkspaces && isManifest(path)));
  if (isTouched) return !isSame(before, await lanesAt(app, { repository, base: to }));
  await lanesKnownTo(app).get(keyOf({ repository, base: to }), async () => before);
  return false;
}

const LOST: Problem = { problem: '' };

/** A problem may be one of the manifests. */
function needsManifests(lanes: Lanes | Problem): boolean {
  return 'problem' in lanes || lanes.rules.readsWorkspaces;
}

function isManifest(path: string): boolean {
  return (MANIFESTS as readonly string[]).includes(path.slice(path.lastIndexOf('/') + 1));
}

function keyOf({ repository, base }: Place): string {
  return `${repository.id} ${base}`;
}

function lanesAt(app: App, place: Place): Promise<LanesAt> {
  return lanesKnownTo(app).get(keyOf(place), () => readLanes(app, place));
}

async function readLanes(app: App, { repository, base: sha }: Place): Promise<LanesAt> {
  const forge = getForge(app, repository.host);
  const read = readerOf(forge, repository, sha);
  if (read === undefined) return undefined;
  const files = await read([CONFIGURATION]);
  if (files === undefined) throw new Fault('FORGE_UNAVAILABLE', `The repository does not have commit ${sha} any more.`);
  const file = files.find(({ path }) => path === CONFIGURATION);
  if (file === undefined) return undefined;
  const { bytes } = file;
  if (bytes === undefined) return { problem: `${CONFIGURATION} is too large to be read.` };
  const rules = await onThread(() => app.lanes.parse(bytes));
  if (rules === undefined || 'problem' in rules) return rules;
  const found = rules.readsWorkspaces ? await read(MANIFESTS) : [];
  if (found === undefined) return { problem: 'The repository has more manifests than can be read.' };
  const manifests = found.map((each) =>
    each.bytes === undefined ? { path: each.path } : { path: each.path, text: each.bytes.toString('utf8') },
  );
  return onThread(() => app.lanes.join(rules, manifests));
}

function readerOf(forge: Forge, repository: Repository, sha: Sha) {
  const { readFiles } = forge;
  if (readFiles === undefined) return undefined;
  return (names: readonly string[]) => readFiles({ repository: toForgeRepository(repository), sha, names });
}

/** A thread that hangs or ends leaves a sentence: the queue goes on with ALL. */
// SPEC T12
async function onThread<Value>(act: () => Promise<Value>): Promise<Value | Problem> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Fault) throw error;
    return { problem: `Its targets could not be computed. ${error instanceof Error ? error.message : String(error)}` };
  }
}
