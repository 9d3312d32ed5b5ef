/** A repository as a forge needs to know it. `id` names it uniquely on this server and is safe as a file name. */
export interface ForgeRepository {
  readonly id: string;
  readonly host: string;
  readonly owner: string;
  readonly name: string;
  /** What the forge itself knows it by, where it says: under the name may be another one by now. */
  readonly forgeId?: string;
  /** Plain git only: path or URL of the bare repository. */
  readonly git: string | undefined;
  /** Plain git by a path only: whether its hooks run when the queue changes a branch. */
  readonly runHooks?: boolean;
  /** What the built-in runner checks candidates with; where there is any, passing them is required. */
  readonly checks: readonly { readonly name: string; readonly command: string; readonly network?: boolean }[];
}
