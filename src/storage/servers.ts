/** A server that uses this store. */
export interface ServerRow {
  readonly id: string;
  /** The address at which the other servers reach it. */
  readonly address: string;
  /** Of Sluice. */
  readonly version: string;
}

export interface ServerStore {
  /** Records that this server is alive, and lists those that were within `aliveMs`, by the clock of the database. */
  beat(server: ServerRow, aliveMs: number): Promise<readonly ServerRow[]>;
  leave(id: string): Promise<void>;
}
