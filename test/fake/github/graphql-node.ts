import type { Weight } from './graphql-weight.ts';
import type { App, Caller, Repository, User, World } from './model.ts';
import type { Bucket } from './rate-limit.ts';

/** An object of the graph. Its fields are values, or functions that are called when selected. */
export type Node = Readonly<Record<string, unknown>>;

/** The caller and the world of a query. */
export interface Scope {
  readonly world: World;
  readonly caller: Exclude<Caller, { kind: 'nobody' | 'app' }>;
  readonly limit: Bucket;
  readonly weight: Weight;
  /** Objects in a repository link back to it. */
  readonly repositoryNode: (repository: Repository) => Node;
}

export function webUrl(scope: Scope, repository: Repository, ...parts: readonly (string | number)[]): string {
  return [scope.world.url, repository.owner.login, repository.name, ...parts].join('/');
}

/** An error with GitHub's type. */
export class Complaint extends Error {
  readonly type: string;

  constructor(
    type: 'NOT_FOUND' | 'FORBIDDEN' | 'UNPROCESSABLE' | 'MISSING_PAGINATION_BOUNDARIES' | 'EXCESSIVE_PAGINATION',
    message: string,
  ) {
    super(message);
    this.type = type;
  }
}

export function forbidden(): Complaint {
  return new Complaint('FORBIDDEN', 'Resource not accessible by integration');
}

/** Throws when an app lacks the permission on a private repository. */
export function mustRead({ caller }: Scope, repository: Repository, ...permissions: readonly string[]): void {
  if (caller.kind !== 'installation' || !repository.isPrivate) return;
  if (permissions.some((permission) => caller.permissions[permission] === undefined)) throw forbidden();
}

export interface PageArgs {
  readonly first?: number | null;
  readonly last?: number | null;
  readonly after?: string | null;
  readonly before?: string | null;
}

/** One page of a list. Cursors are indexes, so appended items move nothing. */
export function connection<Item>(
  items: readonly Item[],
  args: PageArgs,
  nodeOf: (item: Item) => Node,
  edgeOf: (item: Item) => Node = () => ({}),
): Node {
  checkBounds(args);
  let [start, end] = [readCursor(args.after) ?? 0, (readCursor(args.before) ?? items.length + 1) - 1];
  end = Math.max(start, Math.min(end, items.length));
  if (args.first !== undefined && args.first !== null) end = Math.min(end, start + args.first);
  if (args.last !== undefined && args.last !== null) start = Math.max(start, end - args.last);
  const page = items.slice(start, end);
  const cursors = page.map((_, index) => writeCursor(start + index + 1));
  return {
    totalCount: items.length,
    nodes: () => page.map(nodeOf),
    edges: () => page.map((item, index) => ({ ...edgeOf(item), cursor: cursors[index], node: () => nodeOf(item) })),
    pageInfo: {
      hasNextPage: end < items.length,
      hasPreviousPage: start > 0,
      startCursor: cursors[0] ?? null,
      endCursor: cursors.at(-1) ?? null,
    },
  };
}

function checkBounds({ first, last }: PageArgs): void {
  const size = first ?? last;
  if (size === undefined || size === null) {
    const message = 'You must provide a `first` or `last` value to properly paginate this connection.';
    throw new Complaint('MISSING_PAGINATION_BOUNDARIES', message);
  }
  if (size > 100 || size < 0) {
    const message = `Requesting ${size} records on this connection exceeds the \`first\` limit of 100 records.`;
    throw new Complaint('EXCESSIVE_PAGINATION', message);
  }
}

function writeCursor(place: number): string {
  return Buffer.from(`cursor:${place}`).toString('base64');
}

function readCursor(cursor: string | null | undefined): number | undefined {
  if (cursor === undefined || cursor === null) return undefined;
  const place = Number(Buffer.from(cursor, 'base64').toString().replace('cursor:', ''));
  return Number.isInteger(place) ? place : undefined;
}

/** GraphQL leaves out the `[bot]` of an app's login; REST has it. */
export function actorNode(user: User): Node {
  return {
    __typename: user.type,
    login: user.type === 'Bot' ? user.login.replace(/\[bot\]$/, '') : user.login,
    id: user.nodeId,
    databaseId: user.id,
    name: user.name,
    url: `https://github.com/${user.login}`,
    avatarUrl: () => `https://avatars.githubusercontent.com/u/${user.id}?v=4`,
  };
}

export function appNode(app: App): Node {
  return { __typename: 'App', id: app.nodeId, databaseId: app.id, slug: app.slug, name: app.name };
}

export function at(instant: number | undefined): string | null {
  return instant === undefined ? null : new Date(instant).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** GraphQL's `Int` has 32 bits. Null when the id does not fit. */
export function narrow(id: number): number | null {
  return id < 2 ** 31 ? id : null;
}
