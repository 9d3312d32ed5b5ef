import { instantOf } from '../hosted/forge-text.ts';
import type { LabelChange, LabelFacts, LabelQuestion } from '../hosting.ts';
import { type FactsTools, factsOfDetails } from './facts.ts';
import { ACTOR, type Actor, isAccount, personOf, RETARGETS, type Retargeted, retargetOf } from './people.ts';
import { findPermission } from './permissions.ts';
import { type Changed, detailsText, type PullRequestDetails } from './pull-request-text.ts';

interface LabelEvent {
  readonly id: string;
  readonly createdAt: string;
  readonly actor: Actor | null;
  readonly label: { readonly name: string };
}

interface LabelAnswer {
  readonly repository: { readonly pullRequest: (PullRequestDetails & Labelled) | null };
}

interface Labelled extends Retargeted, Changed {
  readonly labels: { readonly nodes: readonly ({ readonly name: string } | null)[] | null } | null;
  readonly timelineItems: { readonly nodes: readonly (LabelEvent | null)[] | null };
}

const EVENT = `{ id createdAt actor ${ACTOR} label { name } }`;

export async function readLabel(tools: FactsTools, question: LabelQuestion): Promise<LabelFacts | undefined> {
  const { client } = tools;
  const { repository, number, label } = question;
  const { data } = await client.graphql<LabelAnswer>({
    repository,
    query: `query ReadLabel($owner: String!, $name: String!) { repository(owner: $owner, name: $name) {
      pullRequest(number: ${number}) { ${detailsText(number)} updatedAt labels(first: 100) { nodes { name } } ${RETARGETS}
        timelineItems(last: 100, itemTypes: [LABELED_EVENT, UNLABELED_EVENT]) { nodes {
          ... on LabeledEvent ${EVENT} ... on UnlabeledEvent ${EVENT} } } } } }`,
    urgency: 'read',
  });
  const { pullRequest } = data.repository;
  if (pullRequest === null) return undefined;
  // GitHub ignores case in label names.
  const isIt = (other: { readonly name: string } | null | undefined) =>
    other?.name.toLowerCase() === label.toLowerCase();
  const last = (pullRequest.timelineItems.nodes ?? []).findLast((event) => isIt(event?.label));
  return {
    isPresent: (pullRequest.labels?.nodes ?? []).some(isIt),
    last: last === null || last === undefined ? undefined : await lastOf(tools, question, last),
    pr: await factsOfDetails(tools, repository, pullRequest),
    changedAt: instantOf(pullRequest.updatedAt),
    ...retargetOf(pullRequest, await client.installation(repository)),
  };
}

async function lastOf({ client }: FactsTools, { repository }: LabelQuestion, event: LabelEvent) {
  const by = personOf(event.actor, await client.installation(repository));
  const permission = isAccount(event.actor) ? await findPermission(client, repository, by.login) : 'none';
  return { id: event.id, by, permission, at: instantOf(event.createdAt) ?? 0 };
}

export async function changeLabels({ client }: FactsTools, change: LabelChange): Promise<void> {
  const { repository, number, add, remove } = change;
  if (add.length > 0) {
    await client.request({
      repository,
      route: 'POST /repos/{owner}/{repo}/issues/{issue_number}/labels',
      parameters: { issue_number: number, labels: add },
      urgency: 'page',
    });
  }
  for (const name of remove) {
    await client.request({
      repository,
      route: 'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}',
      parameters: { issue_number: number, name },
      urgency: 'page',
      accept: [404],
    });
  }
}
