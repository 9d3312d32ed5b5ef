import type { Answer } from '../hosted/answer.ts';
import type { GitPlace } from '../hosted/git-http.ts';
import { runBackend } from '../hosted/git-http.ts';
import type { Asked } from '../hosted/rest-server.ts';
import {
  type DeployKey,
  findProject,
  fullPathOf,
  inTurn,
  LEVEL,
  levelOf,
  type Project,
  type Protection,
  type User,
  type World,
} from './model.ts';
import { catchUp } from './pushes.ts';

export async function serveGit(world: World, asked: Asked, place: GitPlace, user: User | undefined): Promise<Answer> {
  const project = findProject(world, place.fullName);
  if (user === undefined) return refuseGit(401, 'HTTP Basic: Access denied');
  if (project === undefined || levelOf(project, user) < LEVEL.guest)
    return refuseGit(404, 'The project you were looking for could not be found');
  if (fullPathOf(project).toLowerCase() !== place.fullName.toLowerCase()) {
    const location = `${world.url}/${fullPathOf(project)}.git/${place.tail}${new URL(asked.url, world.url).search}`;
    return { status: 301, headers: { location } };
  }
  const ask = { ...place, headers: asked.headers, body: asked.body, who: user.username };
  if (place.service !== 'git-receive-pack') return runBackend(ask, project.gitDir);
  if (levelOf(project, user) < LEVEL.developer)
    return refuseGit(403, 'You are not allowed to push code to this project.');
  if (place.tail === 'info/refs') return runBackend(ask, project.gitDir);
  return inTurn(project, async () => {
    const answer = await runBackend(ask, project.gitDir, rulesFor(world, project, { user }));
    await catchUp(world, project, user);
    return answer;
  });
}

export async function refuseGit(status: number, text: string): Promise<Answer> {
  const challenge = status === 401 ? { 'www-authenticate': 'Basic realm="GitLab"' } : {};
  return { status, headers: { 'content-type': 'text/plain', ...challenge }, body: Buffer.from(`${text}\n`) };
}

interface Actor {
  readonly user: User;
  readonly key?: DeployKey;
}

/** GitLab refuses a whole push when one of its refs may not move. */
export const PRE_RECEIVE = `#!/bin/sh
refuse() { printf 'GitLab: %s\\n' "$1" >&2; exit 1; }
set -f
while read -r old new ref; do
  for pattern in $FAKE_CLOSED; do
    case "$ref" in $pattern) refuse 'You are not allowed to push code to protected branches on this project.' ;; esac
  done
  for pattern in $FAKE_PROTECTED; do
    case "$ref" in $pattern) ;; *) continue ;; esac
    case "$new" in *[!0]*) ;; *) refuse 'You can only delete protected branches using the web interface.' ;; esac
    case "$old" in *[!0]*) ;; *) continue ;; esac
    git merge-base --is-ancestor "$old" "$new" ||
      refuse 'You are not allowed to force push code to a protected branch on this project.'
  done
done
`;

function rulesFor(world: World, project: Project, { user, key }: Actor): Readonly<Record<string, string>> {
  const may = ({ push }: Protection) =>
    push.some((level) =>
      typeof level === 'number'
        ? key === undefined && level > 0 && levelOf(project, user) >= level
        : level.deployKey === key?.id,
    );
  const all = [...project.protections.values()];
  const refsOf = (some: readonly Protection[]) => some.map(({ name }) => `refs/heads/${name}`).join(' ');
  return {
    FAKE_CLOSED: refsOf(all.filter((protection) => !may(protection))),
    FAKE_PROTECTED: refsOf(all),
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'core.hooksPath',
    GIT_CONFIG_VALUE_0: `${world.folder}/hooks`,
    GIT_CONFIG_KEY_1: 'receive.hideRefs',
    GIT_CONFIG_VALUE_1: 'refs/merge-requests',
  };
}

/** Tells the fake ssh the repository and the environment of git, or why not. */
export function openSession(world: World, key: string, command: string): Readonly<Record<string, unknown>> {
  const [, service = '', path = ''] = /^(git-(?:upload|receive)-pack) '\/?(.+?)(?:\.git)?'$/.exec(command) ?? [];
  const project = findProject(world, path);
  const owners = [...world.projects.values()].flatMap(({ deployKeys }) => [...deployKeys.values()]);
  if (!owners.some((other) => other.key === key)) return { denied: 'git@gitlab.test: Permission denied (publickey).' };
  const own = [...(project?.deployKeys.values() ?? [])].find((other) => other.key === key);
  if (project === undefined || own === undefined)
    return { error: 'The project you were looking for could not be found.' };
  if (service === 'git-receive-pack' && !own.canPush)
    return { error: 'This deploy key does not have write access to this project.' };
  const env = rulesFor(world, project, { user: own.owner, key: own });
  return { service, gitDir: project.gitDir, env, project: project.id, user: own.owner.username };
}
