import type { Forge } from '../../forge/forge.ts';
import type { HintSubject, Hosting, WebhookHint } from '../../forge/hosting.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';

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
  /** The command ran, and must not run again. */
  | 'remember'
  /** The forge does not show the announced change yet. */
  | 'later';
