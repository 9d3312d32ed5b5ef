import type { Forge } from '../../forge/forge.ts';
import type { HintSubject, Hosting, WebhookHint } from '../../forge/hosting.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';

/** Where to look, and whom to ask. */
export interface HintRun {
  readonly app: App;
  readonly forge: Forge;
  readonly hosting: Hosting;
  readonly repository: Repository;
  readonly receivedAt: Instant;
}

export type HintOf<Kind extends HintSubject['kind']> = Extract<WebhookHint, { readonly kind: Kind }>;

export type HintOutcome =
  | 'done'
  /** Acted upon, and not to be acted upon again. */
  | 'remember'
  /** What is looked for is not there yet. */
  | 'later';
