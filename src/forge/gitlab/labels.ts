import { present } from '../../lib/present.ts';
import { instantOf } from '../hosted/forge-text.ts';
import type { LabelChange, LabelFacts, LabelQuestion } from '../hosting.ts';
import type { LabelEventData, NoteData } from './api/data.ts';
import { NEWEST } from './comments.ts';
import { factsOf, findRequest, type GitlabTools } from './facts.ts';
import { permissionOf, personOf, retargetIn } from './people.ts';

export async function readLabel({ client }: GitlabTools, question: LabelQuestion): Promise<LabelFacts | undefined> {
  const { repository, number } = question;
  const label = question.label.toLowerCase();
  const [own, request, { items: notes }, events] = await Promise.all([
    client.readOwn(),
    findRequest(client, repository, number),
    client.readPage<NoteData>({ repository, path: `/merge_requests/${number}/notes`, query: NEWEST }),
    readLastEvents({ client }, question),
  ]);
  if (request === undefined) return undefined;
  const last = events.findLast((event) => event.label?.name.toLowerCase() === label);
  return {
    isPresent: request.labels.some((name) => name.toLowerCase() === label),
    last: last && {
      id: String(last.id),
      by: personOf(last.user, own),
      permission: await permissionOf(client, repository, last.user),
      at: instantOf(last.created_at) ?? 0,
    },
    pr: factsOf(request),
    ...present({ changedAt: instantOf(request.updated_at) }),
    ...retargetIn(notes, own),
  };
}

/** GitLab lists them oldest first. */
async function readLastEvents(
  { client }: Pick<GitlabTools, 'client'>,
  { repository, number }: LabelQuestion,
): Promise<readonly LabelEventData[]> {
  const asked = { repository, path: `/merge_requests/${number}/resource_label_events` };
  const first = await client.readPage<LabelEventData>(asked);
  if (!first.next || first.last === undefined) return first.items;
  const [before, last] = await Promise.all([
    first.last > 2 ? client.readPage<LabelEventData>(asked, first.last - 1) : first,
    client.readPage<LabelEventData>(asked, first.last),
  ]);
  return [...before.items, ...last.items];
}

/** GitLab makes a label that is missing. */
export async function changeLabels({ client }: GitlabTools, change: LabelChange): Promise<void> {
  const { repository, number, add, remove } = change;
  if (add.length + remove.length === 0) return;
  await client.request({
    repository,
    method: 'PUT',
    path: `/merge_requests/${number}`,
    body: {
      ...(add.length > 0 && { add_labels: add.join(',') }),
      ...(remove.length > 0 && { remove_labels: remove.join(',') }),
    },
    accept: [404],
  });
}
