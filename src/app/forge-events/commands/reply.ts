import type { PrNumber } from '../../../engine/model/pull-request.ts';
import type { ForgeRepository } from '../../../forge/forge.ts';
import type { Hosting } from '../../../forge/hosting.ts';
import type { App } from '../../core/app.ts';
import { changeNote, type NoteKey } from '../../pr-page/note.ts';

/** A limit against loops and abuse. */
const MAX_REPLIES = 10;
const WITHIN_MS = 60 * 60_000;

export interface Reply {
  readonly hosting: Hosting;
  readonly repository: ForgeRepository;
  readonly key: NoteKey;
  /** The id of the answered comment or label change. */
  readonly to: string;
  readonly text: string;
}

/**
 * Writes a short comment, once. The note records the intent first: after a crash or a lost answer the next try searches
 * for the comment before it writes.
 */
// SPEC G138
export async function reply(app: Pick<App, 'store' | 'clock' | 'log'>, given: Reply): Promise<void> {
  const { hosting, repository, key, to, text } = given;
  const number = key.prNumber as PrNumber;
  const begun = await begin(app, key, to);
  if (begun === 'too_many') {
    app.log.info({ ...key }, 'too many replies on a pull request, command not answered');
    return;
  }
  const marker = `<!-- sluice:reply ${to.replace(/[^\w-]/g, '')} -->`;
  if (begun === 'again' && (await hosting.findOwnComment({ repository, number, marker })) !== undefined) return;
  await hosting.writeComment({ repository, number, id: undefined, text: `${marker}\n${text}` });
}

async function begin(app: Pick<App, 'store' | 'clock'>, key: NoteKey, to: string) {
  const now = app.clock.now();
  let begun: 'first' | 'again' | 'too_many' = 'first';
  await changeNote(app, key, (note) => {
    const recent = note.replies.filter(({ at }) => at > now - WITHIN_MS && at <= now);
    if (recent.some((known) => known.to === to)) begun = 'again';
    else begun = recent.length < MAX_REPLIES ? 'first' : 'too_many';
    return begun === 'first' ? { ...note, replies: [...recent, { to, at: now }] } : undefined;
  });
  return begun as 'first' | 'again' | 'too_many';
}
