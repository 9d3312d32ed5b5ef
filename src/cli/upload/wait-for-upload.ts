import { setTimeout as delay } from 'node:timers/promises';
import type { Static } from 'typebox';
import { listUploads } from '../../contract/uploads.ts';
import type { RepoRef } from '../core/arguments.ts';
import type { Context } from '../core/context.ts';
import { createPatience } from '../core/patience.ts';

export type UploadRecord = Static<typeof listUploads.reply>['uploads'][number];

export interface WaitOptions {
  readonly org: string;
  readonly repo: RepoRef;
  readonly say: (text: string) => void;
}

const INTERVAL_MS = 500;
const GIVE_UP_MS = 10 * 60_000;

/** The upload when it has been processed; undefined where that takes too long, or it is not in the list. */
export async function waitForUpload(
  context: Context,
  id: string,
  { org, repo, say }: WaitOptions,
): Promise<UploadRecord | undefined> {
  const patience = createPatience({ failed: say, back: say });
  const deadline = performance.now() + GIVE_UP_MS;
  const body = { repo, org_url_slug: org, page_query: { page_size: 100 } };
  while (performance.now() < deadline) {
    const answer = await patience.ask(() => context.call(listUploads, body));
    const upload = answer?.uploads.find((one) => one.id === id);
    if (upload !== undefined && upload.status !== 'ACCEPTED') return upload;
    // Hundreds came after it, which are processed after it.
    if (answer !== undefined && upload === undefined) return undefined;
    await delay(INTERVAL_MS);
  }
  return undefined;
}
