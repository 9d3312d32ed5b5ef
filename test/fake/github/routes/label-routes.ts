import type { Ask, Route } from '../exchange.ts';
import { addLabel, ensureLabel, removeLabel } from '../labels.ts';
import type { Label, PullRequest, Repository } from '../model.ts';
import { getPullRequest } from '../pulls.ts';
import { invalid, notFound } from '../refused.ts';
import { labelView } from '../views/pull-request-view.ts';
import {
  actorOf,
  bodyOf,
  created,
  listed,
  nothing,
  numberOf,
  ok,
  type Params,
  repositoryOf,
  requiredText,
} from './tools.ts';

const permission = ['issues', 'pull_requests'];
const READ = { permission, access: 'read', role: 'read' } as const;
const LABEL = { permission, access: 'write', role: 'triage' } as const;
const OF_ONE = '/repos/{owner}/{repo}/issues/{issue_number}/labels';
const OF_ALL = '/repos/{owner}/{repo}/labels';

export const labelRoutes: readonly Route[] = [
  { method: 'GET', path: OF_ONE, handle: listLabels },
  { method: 'POST', path: OF_ONE, handle: addLabels },
  { method: 'PUT', path: OF_ONE, handle: setLabels },
  { method: 'DELETE', path: OF_ONE, handle: dropAllLabels },
  { method: 'DELETE', path: `${OF_ONE}/{name}`, handle: dropLabel },
  { method: 'GET', path: OF_ALL, handle: listAllLabels },
  { method: 'POST', path: OF_ALL, handle: createLabel },
  { method: 'GET', path: `${OF_ALL}/{name}`, handle: getLabel },
  { method: 'DELETE', path: `${OF_ALL}/{name}`, handle: deleteLabel },
];

function pullOf(ask: Ask, params: Params, wanted: typeof READ | typeof LABEL): PullRequest {
  return getPullRequest(repositoryOf(ask, params, wanted), numberOf(params, 'issue_number'));
}

function listLabels(ask: Ask, params: Params) {
  const pr = pullOf(ask, params, READ);
  return listed(ask, pr.labels, (label) => labelView(ask.world, pr.repository, label));
}

function presentLabels({ world }: Ask, { labels, repository }: PullRequest) {
  return ok(labels.map((label) => labelView(world, repository, label)));
}

/** GitHub accepts names, objects with a name, or either as a bare array. */
function namesIn(ask: Ask): readonly string[] {
  const body = bodyOf(ask);
  const { labels = Object.values(body) } = body;
  if (!Array.isArray(labels)) throw invalid({ resource: 'Issue', field: 'labels', code: 'missing_field' });
  return labels.map((label: string | { readonly name?: string }) =>
    typeof label === 'string' ? label : (label.name ?? ''),
  );
}

function addLabels(ask: Ask, params: Params) {
  const pr = pullOf(ask, params, LABEL);
  for (const name of namesIn(ask)) addLabel(ask.world, pr, actorOf(ask), name);
  return presentLabels(ask, pr);
}

function setLabels(ask: Ask, params: Params) {
  const pr = pullOf(ask, params, LABEL);
  const names = namesIn(ask);
  const wanted = names.map((name) => name.toLowerCase());
  for (const { name } of pr.labels)
    if (!wanted.includes(name.toLowerCase())) removeLabel(ask.world, pr, actorOf(ask), name);
  for (const name of names) addLabel(ask.world, pr, actorOf(ask), name);
  return presentLabels(ask, pr);
}

function dropAllLabels(ask: Ask, params: Params) {
  const pr = pullOf(ask, params, LABEL);
  for (const { name } of pr.labels) removeLabel(ask.world, pr, actorOf(ask), name);
  return nothing();
}

function dropLabel(ask: Ask, params: Params) {
  const pr = pullOf(ask, params, LABEL);
  removeLabel(ask.world, pr, actorOf(ask), params['name'] ?? '');
  return presentLabels(ask, pr);
}

function listAllLabels(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  return listed(ask, [...repository.labels.values()], (label) => labelView(ask.world, repository, label));
}

function createLabel(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, { ...LABEL, role: 'write' });
  const name = requiredText(bodyOf(ask), 'name');
  if (repository.labels.has(name.toLowerCase()))
    throw invalid({ resource: 'Label', code: 'already_exists', field: 'name' });
  return created(labelView(ask.world, repository, ensureLabel(ask.world, repository, name)));
}

function labelOf(repository: Repository, params: Params): Label {
  const label = repository.labels.get((params['name'] ?? '').toLowerCase());
  if (label === undefined) throw notFound();
  return label;
}

function getLabel(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, READ);
  return ok(labelView(ask.world, repository, labelOf(repository, params)));
}

/** Deleting a label also removes it from all pull requests. */
function deleteLabel(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, { ...LABEL, role: 'write' });
  const label = labelOf(repository, params);
  for (const pr of repository.pulls.values())
    if (pr.labels.includes(label)) removeLabel(ask.world, pr, actorOf(ask), label.name);
  repository.labels.delete(label.name.toLowerCase());
  return nothing();
}
