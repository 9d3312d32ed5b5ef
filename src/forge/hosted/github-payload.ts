import type { WebhookHint } from '../hosting.ts';
import { instantOf } from './forge-text.ts';
import { aboutPullRequest, accessTo, ofCheck, ofRef, type WebhookRepository } from './webhook-hints.ts';
import { type Payload, shaAt, textAt } from './webhook-payload.ts';

/** Payloads of GitHub. Gitea's have the same shape. */

interface About {
  readonly payload: Payload;
}

/** In a push, older servers send only the owner's `name`. */
export function placeOf(payload: Payload): WebhookRepository | undefined {
  const name = textAt(payload, 'repository', 'name');
  const owner = textAt(payload, 'repository', 'owner', 'login') ?? textAt(payload, 'repository', 'owner', 'name');
  return owner === undefined || name === undefined ? undefined : { owner, name };
}

export function pullRequestIn(place: WebhookRepository, number: number, payload: Payload): WebhookHint {
  const headSha = shaAt(payload, 'pull_request', 'head', 'sha');
  const changedAt = instantOf(textAt(payload, 'pull_request', 'updated_at'));
  return aboutPullRequest(place, number, { headSha, changedAt });
}

/** GitHub reports the deletion of a branch as a push. */
export function ofPush({ payload }: About): readonly WebhookHint[] {
  return ofRef(placeOf(payload), textAt(payload, 'ref'));
}

export function checkIn(payload: Payload, finished: Parameters<typeof ofCheck>[1]): readonly WebhookHint[] {
  return ofCheck(placeOf(payload), finished);
}

export function ofAccess({ payload }: About): readonly WebhookHint[] {
  const place = placeOf(payload);
  return place === undefined ? [] : accessTo(place);
}
