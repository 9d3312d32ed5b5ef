import type { ForgeRepository } from '../forge.ts';
import type { Permission } from '../hosting.ts';
import type { GithubClient } from './api/client.ts';

/** What one person may do, for a query that asks for more; `$login` must be a variable of it. */
export const COLLABORATOR = 'collaborators(first: 1, login: $login) { edges { permission node { login } } }';

export interface Collaborators {
  readonly edges: readonly ({ readonly permission: string; readonly node: { readonly login: string } } | null)[] | null;
}

/** Undefined where the answer is about somebody else, or was refused. */
export function permissionIn(collaborators: Collaborators | null | undefined, login: string): Permission | undefined {
  if (collaborators?.edges === null || collaborators?.edges === undefined) return undefined;
  const [edge] = collaborators.edges;
  if (edge === undefined || edge === null) return 'none';
  return edge.node.login.toLowerCase() === login.toLowerCase() ? wordOf(edge.permission) : undefined;
}

/** Apps have no permission of this kind: who may use a queue is settled for them by name. */
export async function findPermission(
  client: GithubClient,
  { owner, name }: ForgeRepository,
  login: string,
): Promise<Permission> {
  if (login.endsWith('[bot]') || login === '') return 'none';
  const { status, data } = await client.request<PermissionData>({
    repository: { owner, name },
    route: 'GET /repos/{owner}/{repo}/collaborators/{username}/permission',
    parameters: { username: login },
    urgency: 'read',
    accept: [404],
  });
  if (status === 404) return 'none';
  // Roles of an organization's own have names of their own; what they are based on is told beside.
  const known = [data.role_name, data.permission].map(wordOf).find((word) => word !== undefined);
  return known ?? 'none';
}

interface PermissionData {
  readonly permission?: string;
  readonly role_name?: string;
}

const WORDS: readonly Permission[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];

function wordOf(text: string | undefined): Permission | undefined {
  return WORDS.find((word) => word === text?.toLowerCase());
}
