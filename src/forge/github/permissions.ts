import type { ForgeRepository } from '../forge.ts';
import type { Permission } from '../hosting.ts';
import type { GithubClient } from './api/client.ts';

/** Reads one person's permission as part of a larger query, which must declare `$login`. */
export const COLLABORATOR = 'collaborators(first: 1, login: $login) { edges { permission node { login } } }';

export interface Collaborators {
  readonly edges: readonly ({ readonly permission: string; readonly node: { readonly login: string } } | null)[] | null;
}

/** Undefined when GitHub refused the field or answered with another person. */
export function permissionIn(collaborators: Collaborators | null | undefined, login: string): Permission | undefined {
  if (collaborators?.edges === null || collaborators?.edges === undefined) return undefined;
  const [edge] = collaborators.edges;
  if (edge === undefined || edge === null) return 'none';
  return edge.node.login.toLowerCase() === login.toLowerCase() ? wordOf(edge.permission) : undefined;
}

/** Apps have no such permission. The queue's settings name the apps that may use it. */
// SPEC G19
export async function findPermission(
  client: GithubClient,
  { owner, name }: ForgeRepository,
  login: string,
  accountId?: string,
): Promise<Permission> {
  if (login.endsWith('[bot]') || login === '') return 'none';
  const { status, data } = await client.request<PermissionData>({
    repository: { owner, name },
    route: 'GET /repos/{owner}/{repo}/collaborators/{username}/permission',
    parameters: { username: login },
    urgency: 'read',
    accept: [404],
  });
  if (status === 404 || (accountId !== undefined && String(data.user?.id) !== accountId)) return 'none';
  // An organization's custom role has its own name. GitHub names the built-in role beneath it in `permission`.
  const known = [data.role_name, data.permission].map(wordOf).find((word) => word !== undefined);
  return known ?? 'none';
}

interface PermissionData {
  readonly permission?: string;
  readonly role_name?: string;
  readonly user?: { readonly id?: number } | null;
}

const WORDS: readonly Permission[] = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];

function wordOf(text: string | undefined): Permission | undefined {
  return WORDS.find((word) => word === text?.toLowerCase());
}
