import type { Label, PullRequest, Repository, User, World } from './model.ts';
import { notFound, Refused } from './refused.ts';
import { nodeId } from './world.ts';

/** Adding an unknown label creates it in the repository. */
function ensureLabel({ labels }: Repository, name: string): Label {
  const found = labels.get(name.toLowerCase());
  if (found !== undefined) return found;
  const label: Label = { name };
  labels.set(name.toLowerCase(), label);
  return label;
}

export function addLabel(world: World, pr: PullRequest, actor: User, name: string): void {
  if (name.trim() === '' || name.length > 50) throw new Refused(422, 'Validation Failed');
  const label = ensureLabel(pr.repository, name);
  if (pr.labels.includes(label)) return;
  pr.labels.push(label);
  record(world, pr, actor, { kind: 'labeled', label });
}

export function removeLabel(world: World, pr: PullRequest, actor: User, name: string): void {
  const label = pr.labels.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
  if (label === undefined) throw notFoundLabel();
  pr.labels = pr.labels.filter((candidate) => candidate !== label);
  record(world, pr, actor, { kind: 'unlabeled', label });
}

function notFoundLabel(): Refused {
  return new Refused(notFound().status, 'Label does not exist');
}

function record(
  world: World,
  pr: PullRequest,
  actor: User,
  { kind, label }: { readonly kind: 'labeled' | 'unlabeled'; readonly label: Label },
): void {
  const id = world.nextId();
  const prefix = kind === 'labeled' ? 'LE' : 'UNLE';
  pr.timeline.push({ id, nodeId: nodeId(prefix, id), kind, label, actor, at: world.now() });
  pr.updatedAt = world.now();
  world.announce({ event: 'pull_request', action: kind, repository: pr.repository, sender: actor, pr, label });
}
