import type { StoredRow } from './columns.ts';
import { QUEUE_TABLES } from './queue-tables.ts';
import { TEST_TABLES } from './test-tables.ts';

/** Each table by its columns: those of the row of a port, if it keeps one, and those that the ports do not see. */
export const TABLES = { ...QUEUE_TABLES, ...TEST_TABLES };

export type Schema = { [Name in keyof typeof TABLES]: StoredRow<(typeof TABLES)[Name]> };
export type TableName = keyof Schema;
