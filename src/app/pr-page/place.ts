import type { Forge } from '../../forge/forge.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';

/** The forge and repository that have the pull request's page. */
export interface PageHost {
  readonly app: App;
  readonly forge: Forge;
  readonly repository: Repository;
}
