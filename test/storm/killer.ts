import type { Prng } from '../../src/lib/prng.ts';
import { AIMS, type Aim, type Sight, takeAim } from './aim.ts';
import { pause } from './pause.ts';
import type { Post } from './server.ts';

const MAX_GAP_MS = 600;
/** How often both of two servers are dead at once. */
const BOTH = 0.2;
/** How often one is stopped instead, where servers are replaced. */
const GENTLE = 0.4;

export interface Kills {
  /** How often each aim was hit. */
  readonly hits: Readonly<Record<Aim, number>>;
  readonly readyMs: readonly number[];
}

export interface KillerParts {
  readonly random: Prng;
  readonly posts: readonly Post[];
  readonly sight: Sight;
  readonly kills: number;
  /** Some are stopped by SIGTERM. */
  readonly isUpgrade: boolean;
  onKill(count: number, text: string): void;
}

/** Kills the servers in turn and starts them again. At the end all of them run. */
export async function killAgainAndAgain(parts: KillerParts): Promise<Kills> {
  const { random, posts } = parts;
  const hits = Object.fromEntries(AIMS.map((aim) => [aim, 0])) as Record<Aim, number>;
  const readyMs: number[] = [];
  const start = async (post: Post) => {
    const tookMs = await post.start().ready;
    if (tookMs === undefined) throw new Error(`the server ${post.name} did not start:\n${post.log().slice(-2_000)}`);
    readyMs.push(tookMs);
  };
  for (let count = 1; count <= parts.kills; count += 1) {
    const post = posts[count % posts.length] as Post;
    const aim = random.pick(AIMS);
    if (aim === 'while it starts') {
      // It must be dead to be started.
      await post.kill();
      post.start();
    }
    const isHit = await takeAim(random, aim, parts.sight);
    const isGentle = parts.isUpgrade && aim !== 'while it starts' && random.chance(GENTLE);
    const problem = isGentle ? await post.stop() : await post.kill();
    if (problem !== undefined) throw new Error(problem);
    if (isHit) hits[aim] += 1;
    parts.onKill(count, `${isGentle ? 'stopped' : 'killed'} ${post.name} ${isHit ? aim : `at last, not ${aim}`}`);
    const other = posts[(count + 1) % posts.length] as Post;
    if (other !== post && random.chance(BOTH)) await other.kill();
    if (random.chance(0.5)) await pause(random.integer(MAX_GAP_MS));
    for (const each of posts) if (each.life()?.hasEnded() === true) await start(each);
  }
  return { hits, readyMs };
}
