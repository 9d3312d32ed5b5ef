import type { Forge } from '../../forge/forge.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';

/** Where pull requests are that people are told of. */
export interface PageHost {
  readonly app: App;
  readonly forge: Forge;
  readonly repository: Repository;
}
