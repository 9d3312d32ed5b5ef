import type { Caller, Repository, User, World } from './model.ts';

/** An object of the graph. Its fields are values, or functions that are called when selected. */
export type Node = Readonly<Record<string, unknown>>;

/** The caller and the world of a query. */
export interface Scope {
  readonly world: World;
  readonly caller: Exclude<Caller, { kind: 'nobody' | 'app' }>;
}

export function webUrl({ world }: Scope, repository: Repository, ...parts: readonly (string | number)[]): string {
  return [world.url, repository.owner.login, repository.name, ...parts].join('/');
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

export function noSuchNode(id: unknown): Complaint {
  return new Complaint('NOT_FOUND', `Could not resolve to a node with the global id of '${String(id)}'`);
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
}

/** One page of a list. Cursors are indexes, so appended items move nothing. */
export function connection<Item>(items: readonly Item[], args: PageArgs, nodeOf: (item: Item) => Node): Node {
  checkBounds(args);
  const from = readCursor(args.after);
  const end = typeof args.first === 'number' ? Math.min(items.length, from + args.first) : items.length;
  const start = typeof args.last === 'number' ? Math.max(from, end - args.last) : from;
  const page = items.slice(start, end);
  return {
    totalCount: items.length,
    nodes: () => page.map(nodeOf),
    pageInfo: {
      hasNextPage: end < items.length,
      hasPreviousPage: start > 0,
      endCursor: page.length === 0 ? null : writeCursor(end),
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

function readCursor(cursor: string | null | undefined): number {
  return Number(
    Buffer.from(cursor ?? '', 'base64')
      .toString()
      .replace('cursor:', ''),
  );
}

/** GraphQL leaves out the `[bot]` of an app's login; REST has it. */
export function actorNode({ type, login }: User): Node {
  return { __typename: type, login: type === 'Bot' ? login.replace(/\[bot\]$/, '') : login };
}

export function at(instant: number | undefined): string | null {
  return instant === undefined ? null : new Date(instant).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** GraphQL's `Int` has 32 bits. Null when the id does not fit. */
export function narrow(id: number): number | null {
  return id < 2 ** 31 ? id : null;
}
