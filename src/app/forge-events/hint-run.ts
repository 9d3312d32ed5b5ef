import type { Forge } from '../../forge/forge.ts';
import type { Hosting, Notice, NoticeAbout } from '../../forge/hosting.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';

/** Where to look, and whom to ask. */
export interface NoticeRun {
  readonly app: App;
  readonly forge: Forge;
  readonly hosting: Hosting;
  readonly repository: Repository;
  readonly receivedAt: Instant;
}

export type NoticeOf<Kind extends NoticeAbout['kind']> = Extract<Notice, { readonly kind: Kind }>;

export type NoticeAnswer =
  | 'done'
  /** Acted upon, and not to be acted upon again. */
  | 'remember'
  /** What is looked for is not there yet. */
  | 'later';
