import type { ForgeRepository } from '../forge.ts';
import { instantOf } from '../hosted/forge-text.ts';
import type { LabelChange, LabelFacts, LabelQuestion } from '../hosting.ts';
import type { GiteaClient } from './api/client.ts';
import type { LabelData, PullData, TimelineData } from './api/data.ts';
import { type FactsTools, findPull, pollFacts } from './facts.ts';
import { findPermission, isAccount, personOf, readTimeline, retargetIn } from './people.ts';

const MAX_LABEL_PAGES = 20;
const HOUR_MS = 3_600_000;
/** Only for labels that this server makes; people may change it. */
const COLOR = '#2da44e';

export async function readLabel(tools: FactsTools, question: LabelQuestion): Promise<LabelFacts | undefined> {
  const { client } = tools;
  const { repository, number, label } = question;
  const [own, pull] = await Promise.all([client.readOwn(), findPull(client, repository, number)]);
  if (pull === undefined) return undefined;
  const isIt = ({ type, label: of }: TimelineData) =>
    type === 'label' && of?.name.toLowerCase() === label.toLowerCase();
  const events = await readEvents(tools, question, pull, (some) => some.some(isIt));
  const last = events.findLast(isIt);
  return {
    isPresent: (pull.labels ?? []).some(({ name }) => name.toLowerCase() === label.toLowerCase()),
    last: last && {
      id: String(last.id),
      by: personOf(last.user, own),
      permission: isAccount(last.user) ? await findPermission(client, repository, last.user.login) : 'none',
      at: instantOf(last.created_at) ?? 0,
    },
    pr: await pollFacts(tools, repository, pull),
    changedAt: instantOf(pull.updated_at),
    ...retargetIn(events, own),
  };
}

/** Gitea lists events oldest first. The last change is usually recent, and otherwise the whole list is read. */
async function readEvents(
  { client }: FactsTools,
  { repository, number }: LabelQuestion,
  { updated_at }: PullData,
  isEnough: (events: readonly TimelineData[]) => boolean,
): Promise<readonly TimelineData[]> {
  const changedAt = instantOf(updated_at);
  if (changedAt !== undefined) {
    const recent = await readTimeline(client, repository, number, changedAt - HOUR_MS);
    if (isEnough(recent)) return recent;
  }
  return readTimeline(client, repository, number, undefined);
}

// SPEC G164
export async function changeLabels({ client }: FactsTools, change: LabelChange): Promise<void> {
  const { repository, number, add, remove } = change;
  const path = `/issues/${number}/labels`;
  if (add.length > 0) {
    const known = await listLabels(client, repository);
    const ids: number[] = [];
    for (const name of add) ids.push(findLabel(known, name)?.id ?? (await createLabel(client, repository, name)).id);
    await client.request({ repository, method: 'POST', path, body: { labels: ids } });
  }
  if (remove.length === 0) return;
  const { data } = await client.request<readonly LabelData[] | null>({ repository, path });
  for (const name of remove) {
    const label = findLabel(data ?? [], name);
    if (label === undefined) continue;
    await client.request({ repository, method: 'DELETE', path: `${path}/${label.id}`, accept: [404, 422] });
  }
}

function listLabels(client: GiteaClient, repository: ForgeRepository): Promise<readonly LabelData[]> {
  return client.list<LabelData>({ repository, path: '/labels' }, MAX_LABEL_PAGES);
}

async function createLabel(client: GiteaClient, repository: ForgeRepository, name: string): Promise<LabelData> {
  const body = { name, color: COLOR };
  return (await client.request<LabelData>({ repository, method: 'POST', path: '/labels', body })).data;
}

function findLabel(labels: readonly LabelData[], name: string): LabelData | undefined {
  return labels.find((label) => label.name.toLowerCase() === name.toLowerCase());
}
