import type { Prng } from '../../src/lib/prng.ts';
import type { StormClient } from './client.ts';
import type { Followers } from './followers.ts';
import type { Plan } from './plan.ts';
import type { StormRepository } from './repository.ts';
import type { Post } from './server.ts';
import type { Violations } from './verdict.ts';

export interface StormOptions {
  readonly seed: string;
  readonly kills: number;
  readonly prs: number;
  /** Two servers on this database. Undefined: one server on SQLite. */
  readonly databaseUrl: string | undefined;
  /** Servers of two versions replace each other, by SIGTERM too, and a CI besides Sluice reports. */
  readonly isUpgrade?: boolean;
  onProgress(text: string): void;
}

/** All parts of a storm. */
export interface Scene extends StormOptions {
  readonly random: Prng;
  readonly plan: Plan;
  readonly folder: string;
  readonly repository: StormRepository;
  readonly posts: readonly Post[];
  readonly client: StormClient;
  readonly followers: Followers;
  readonly violations: Violations;
}
